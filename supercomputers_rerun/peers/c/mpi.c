/* Messages between ranks in C: the loop of kernels.mpi.exchange.

   The communicator comes by address, because a handle is an integer in one library and a pointer in another. */

#include <mpi.h>
#include <stdint.h>

void exchange(const MPI_Comm *comm, int partner, const int64_t *out, int64_t *into, int words, int64_t repeats)
{
    for (int64_t n = 0; n < repeats; n++)
        MPI_Sendrecv(out, words, MPI_INT64_T, partner, 0, into, words, MPI_INT64_T, partner, 0, *comm,
                     MPI_STATUS_IGNORE);
}
