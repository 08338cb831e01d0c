/* Messages between ranks in C: the loops of kernels.mpi.exchange and kernels.mpi.moves.

   Communicators come by address, because a handle is an integer in one library and a pointer in another.
   Counts and offsets of collectives are ints, in doubles, as MPI takes them. */

#include <mpi.h>
#include <stdint.h>
#include <string.h>

void exchange(const MPI_Comm *comm, int partner, const int64_t *out, int64_t *into, int words, int64_t repeats)
{
    for (int64_t n = 0; n < repeats; n++)
        MPI_Sendrecv(out, words, MPI_INT64_T, partner, 0, into, words, MPI_INT64_T, partner, 0, *comm,
                     MPI_STATUS_IGNORE);
}

struct collective {
    const MPI_Comm *comm;
    const int *send_counts, *send_starts, *receive_counts, *receive_starts;
};

/* One rank's share of the mesh; the fields are those of kernels.mpi.moves.Moves. */
struct moves {
    struct collective to_lines, to_grid, to_columns, to_waves;
    int64_t across, fields, points, band, others, blocks;
    const int64_t *pieces;             /* bounds of the pieces of the band, across + 1 */
    const int64_t *from, *to, *sizes;  /* blocks of columns, first those of other ranks: place in each order, doubles */
    double *lines, *columns;                     /* what is sent or received */
};

static void all_to_all(const struct collective *c, const double *send, double *receive)
{
    MPI_Alltoallv(send, c->send_counts, c->send_starts, MPI_DOUBLE, receive, c->receive_counts, c->receive_starts,
                  MPI_DOUBLE, *c->comm);
}

static void trgtol(const struct moves *m, const double *grid, double *lines)
{
    if (m->across == 1) {
        memcpy(lines, grid, sizeof(double) * m->fields * m->band);
        return;
    }
    all_to_all(&m->to_lines, grid, m->lines);
    for (int64_t v = 0; v < m->across; v++) {
        const int64_t first = m->pieces[v], count = m->pieces[v + 1] - first;
        for (int64_t f = 0; f < m->fields; f++)
            memcpy(lines + f * m->band + first, m->lines + m->to_lines.receive_starts[v] + f * count,
                   sizeof(double) * count);
    }
}

static void trltog(const struct moves *m, const double *lines, double *grid)
{
    if (m->across == 1) {
        memcpy(grid, lines, sizeof(double) * m->fields * m->band);
        return;
    }
    for (int64_t v = 0; v < m->across; v++) {
        const int64_t first = m->pieces[v], count = m->pieces[v + 1] - first;
        for (int64_t f = 0; f < m->fields; f++)
            memcpy(m->lines + m->to_grid.send_starts[v] + f * count, lines + f * m->band + first,
                   sizeof(double) * count);
    }
    all_to_all(&m->to_grid, m->lines, grid);
}

/* Blocks that stay on the rank lie in waves where they would have arrived, and are copied once. */
static void trltom(const struct moves *m, const double *waves, double *columns)
{
    all_to_all(&m->to_columns, waves, m->columns);
    for (int64_t b = 0; b < m->others; b++)
        memcpy(columns + m->to[b], m->columns + m->from[b], sizeof(double) * m->sizes[b]);
    for (int64_t b = m->others; b < m->blocks; b++)
        memcpy(columns + m->to[b], waves + m->from[b], sizeof(double) * m->sizes[b]);
}

static void trmtol(const struct moves *m, const double *columns, double *waves)
{
    for (int64_t b = 0; b < m->others; b++)
        memcpy(m->columns + m->from[b], columns + m->to[b], sizeof(double) * m->sizes[b]);
    for (int64_t b = m->others; b < m->blocks; b++)
        memcpy(waves + m->from[b], columns + m->to[b], sizeof(double) * m->sizes[b]);
    all_to_all(&m->to_waves, m->columns, waves);
}

void transposition(const struct moves *m, const double *grid, double *lines, const double *waves, double *columns,
                   double *waves_back, double *grid_back, int64_t repeats)
{
    for (int64_t n = 0; n < repeats; n++) {
        trgtol(m, grid, lines);
        trltom(m, waves, columns);
        trmtol(m, columns, waves_back);
        trltog(m, lines, grid_back);
    }
}
