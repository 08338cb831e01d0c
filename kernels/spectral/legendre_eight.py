"""Legendre transforms of eight fields at once: SIMD lanes are fields.

One wavenumber is a product of matrices, functions p_l(μ_j) by coefficients or by Fourier components of eight fields::

    inverse   S[j, f] = Σ_l p[l, j] c[l, f]        direct   c[l, f] = Σ_j p[l, j] S[j, f]

Each field has four such sums, one for each part of a quad (``functions``); in the direct transform S has the weight of
the quadrature (``plan.Plan._scales``).  A panel of p is computed when it is needed, small enough for the first-level
cache, and serves all fields.  Six sums, each as wide as a strip, stand in registers at once.

Inverse: 24 latitudes, 96 l::                     Direct: 12 l, 72 latitudes::

               latitude of a block                            latitude of three blocks
              0 … 5 │ 6 … 11 │ 12 … │ 18 … 23                 0 │ 1 │ 2 │ …            │ 71
            ┌───────┬────────┬──────┬───────┐               ┌─────────────────────────────┐
    l       │   │   │        │      │       │       l     0 │                             │
    start   │   ▼   │        │      │       │       … … … … │ ─▶  six sums along the row  │
    start+1 │ six   │        │      │       │             5 │                             │
    …       │ sums  │        │      │       │               ├─────────────────────────────┤
            │ down  │        │      │       │             6 │                             │
            │ the   │        │      │       │       … … … … │ ─▶  six sums along the row  │
            │ rows  │        │      │       │            11 │                             │
            └───────┴────────┴──────┴───────┘               └─────────────────────────────┘
    a term: p[l, j], in all lanes, times              a term: p[l, j], in all lanes, times
    a strip of c[l], 8 fields in lanes                a strip of S[j], 8 fields in lanes

The inverse keeps its sums in registers over a whole panel, and coefficients stream from the second-level cache.  The
direct transform finds its data in the first-level cache for the second six l.

Layouts (float64)::

    coefficients     c[l, 4, 8]           quads: even real, even imaginary, odd real, odd imaginary; 8 fields
    Fourier buffers  [latitude, m, 4, 8]  of the inverse transform, [m, latitude, 4, 8] of the direct one, so that each
                                          stage writes scattered quads and reads contiguous ones

Six latitudes, or l, begin at the first l, or latitude, that matters to them: where all of a block began together, the
Legendre part took 1.05 (T159) to 1.03 times (T639) as long.  The sums of the inverse transforms of T159 and T399 take
1.08 times as long as their operations need at the measured peak.  Panels take a tenth of the Legendre part, and twice
as long as their operations need, because each is stored as well (Zen 4, 58 Gflop/s).  What prefetches, SLICE and STEP
buy has no number here; ``plan`` and ``book/peers.md`` have whole transforms.

Functions share ``functions``, the ``column`` and other data of a wavenumber (``functions.Wave``), the ``space`` of a
thread, and the number of a ``block`` of 24 latitudes.
"""

from typing import Any, NamedTuple

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, at, fence, load_as, prefetch, spread
from supercomputers_rerun.kernels.spectral.functions import (
    BLOCK,
    ONE_STRIP,
    SPAN,
    STRIP,
    Ahead,
    Panel,
    State,
    add_scaled,
    any_wave,
    begin,
    build,
    build_or_zero,
    first_at,
    first_of,
    from_functions,
    load6,
    store6,
    to_functions,
    wave_at,
    write,
    zero6,
)

#: Most l of a panel of the inverse transform: 18 KiB.  40 of them take 2 % longer, 64 as long (T159 to T639, Zen 3).
CHUNK = 96
#: Blocks of latitudes in a panel of the direct transform: 7 KiB, 25 with the data of these latitudes.
SLICE = 3
#: Latitudes, or l, whose sums of a strip are in registers at once: 24 of 32 registers of 512 bits, 12 of 16 of 256.
SIX = 6
#: Values of l in a panel of the direct transform: two products.
STEP = 2 * SIX
_WIDTH = SLICE * BLOCK
_EDGE = LANES * LANES  # doubles


class Space(NamedTuple):
    """One thread's private work space; addresses of float64."""

    coefficients: Any  # of p_l, (ell, 4, 8)
    edge: Any  # (8, 8), for the numbers that fill no square of eight
    sums: Any  # (BLOCK, 4, 8): of latitudes whose l come in several panels
    states: Any  # (blocks, 2, BLOCK): where the recurrences are
    panel: Any  # p_l of some l and latitudes


class Factors(NamedTuple):
    """``p_l`` of some l and latitudes, factors of a product: sum r, term i at ``place + r · across + i · along``."""

    values: Any  # address of float64
    place: int  # of the first factor, doubles
    across: int  # from one of the six sums to the next, doubles
    along: int  # from one term of a sum to the next, doubles


class Terms(NamedTuple):
    """What the factors are multiplied by: strips of neighbouring quads."""

    values: Any  # address of float64
    place: int  # of the first strip, doubles
    count: int


class Target(NamedTuple):
    """Where the inverse transform writes one wavenumber of all latitudes."""

    values: Any  # address of the Fourier buffer
    places: Any  # address, int64: where each latitude starts in it, doubles
    offset: int  # of the wavenumber within a latitude, doubles
    first: int  # first latitude that carries it
    end: int  # latitudes
    streaming: bool  # write past the caches


class Chunk(NamedTuple):
    """The l of a panel of the inverse transform."""

    start: int
    count: int
    resumed: bool  # whether sums of others came before
    finished: bool  # whether none comes after
    #: offset within each field, doubles, of the coefficients of the thread's next wavenumber that are fetched meanwhile
    wanted: int


class Source(NamedTuple):
    """What the direct transform reads of one wavenumber."""

    values: Any  # address of the Fourier buffer
    place: int  # where latitude 0 would stand, doubles
    first: int  # first latitude that carries it
    end: int  # latitudes
    following: int  # place of the first latitude that carries the thread's next wavenumber


class Piece(NamedTuple):
    """Latitudes and l of a product of the direct transform."""

    row: int  # first latitude
    rows: int
    ell: int  # first of six l
    panel: int  # place of their factors in the panel, doubles
    resumed: bool  # whether sums of other latitudes came before


@kernel(inline=True)
def _six(factors, terms, ahead, sums):
    """``sums_r += Σ_i factors[r, i] terms[i]`` for six r; terms and sums are strips."""
    s0, s1, s2, s3, s4, s5 = sums
    p = factors.values
    across = factors.across
    for i in range(terms.count):
        strip = load_as(terms.values, terms.place + i * SPAN, ONE_STRIP)
        place = factors.place + i * factors.along
        prefetch(ahead.values, ahead.place + i * ahead.pace)
        s0 = add_scaled(spread(at(p, place)), strip, s0)
        s1 = add_scaled(spread(at(p, place + across)), strip, s1)
        s2 = add_scaled(spread(at(p, place + 2 * across)), strip, s2)
        s3 = add_scaled(spread(at(p, place + 3 * across)), strip, s3)
        s4 = add_scaled(spread(at(p, place + 4 * across)), strip, s4)
        s5 = add_scaled(spread(at(p, place + 5 * across)), strip, s5)
    return s0, s1, s2, s3, s4, s5


# Inverse


@kernel(inline=True)
def _write_row(target, row, part, strip):
    """Write the ``strip`` that begins ``part`` doubles into the quad of latitude ``row`` if that has the wavenumber."""
    if target.first <= row < target.end:
        write(target.values, at(target.places, row) + target.offset + part, strip, target.streaming)


@kernel
def _sum_ell(block, chunk, space, wave, target):
    """Sums over the l of a ``chunk`` for 24 latitudes, six at a time.

    They begin with zero or with ``space.sums``, and go to these or to the buffer.

    Streamed stores drain while the next six latitudes are computed.  Meanwhile coefficients of the thread's next
    wavenumber are fetched, a double a term: six latitudes ask for those of one field, from ``chunk.wanted`` on, the
    next six for those of the next field.  Where a quad takes four strips, each goes on where the last one ended;
    panels overlap.
    """
    column = wave.column
    for j in range(0, BLOCK, SIX):
        row = block * BLOCK + j
        if row + SIX <= target.first or row >= target.end:
            continue
        # the six begin with the first l that matters to them
        skipped = min(max(first_at(wave.functions, row + SIX - 1) - chunk.start, 0), chunk.count)
        factors = Factors(space.panel, j + skipped * BLOCK, 1, BLOCK)
        field = at(column.lanes, row // SIX % LANES)
        for part in range(0, SPAN, STRIP):
            sums = zero6()
            if chunk.resumed:
                sums = load6(space.sums, j * SPAN + part)
            terms = Terms(space.coefficients, (chunk.start + skipped) * SPAN + part, chunk.count - skipped)
            ahead = Ahead(column.values, field + chunk.wanted + part // STRIP * terms.count, 1)
            sums = _six(factors, terms, ahead, sums)
            if chunk.finished:
                _write_row(target, row, part, sums[0])
                _write_row(target, row + 1, part, sums[1])
                _write_row(target, row + 2, part, sums[2])
                _write_row(target, row + 3, part, sums[3])
                _write_row(target, row + 4, part, sums[4])
                _write_row(target, row + 5, part, sums[5])
            else:
                store6(space.sums, j * SPAN + part, sums)


@kernel
def _inverse_block(block, wave, space, wanted, target):
    """Sums over l for 24 latitudes into the Fourier buffer.

    Meanwhile a part of the next wavenumber's coefficients is fetched, in each field from ``wanted`` on.  The l are cut
    into panels of one size, so that the last is not a small one.
    """
    functions = wave.functions
    low = first_of(functions, block)
    panels = max((functions.count - low + CHUNK - 1) // CHUNK, 1)  # one where no l matters: empty, it writes zeros
    size = (functions.count - low + panels - 1) // panels
    state = State(space.states, 0)
    begin(functions, block, state)
    for number in range(panels):
        start = low + number * size
        count = min(size, functions.count - start)
        build(functions, block, (start, start + count), Panel(space.panel, 0, BLOCK), state)
        chunk = Chunk(start, count, number > 0, number == panels - 1, wanted + number * size)
        _sum_ell(block, chunk, space, wave, target)


@kernel
def inverse(share, tables, spectra, work, buffer):
    """Legendre part of the inverse transform of up to eight fields: a ``share`` of the wavenumbers (``Share``).

    ``work`` is the thread's scratch, float64 (scratch_size(T, blocks),); ``buffer`` (``rows.Buffer``), latitude-major,
    is written.
    """
    top = tables.offset.size - 1
    blocks = tables.seeds.shape[1]
    any_m = any_wave(tables, spectra, share.threads)
    space = _cut(work, top, blocks)
    fourier = address(buffer.values)
    places = address(buffer.places)
    for m in range(share.thread, top + 1, share.threads):
        wave = wave_at(any_m, m, tables, spectra)
        to_functions(wave.column, wave.weights, space.edge, space.coefficients)
        target = Target(fourier, places, m * SPAN, tables.first_row[m], tables.rows, buffer.streaming)
        polar = tables.first_row[m] // BLOCK
        later = 2 * spectra.columns[min(m + share.threads, top)]
        # A field has 4 · count doubles of a wavenumber: of each l a complex number that is even and one that is odd.
        # Two blocks, eight times six latitudes, ask for one stretch of each of the eight fields, so there are half as
        # many stretches as blocks.
        stretch = 4 * wave.functions.count // max((blocks - polar) // 2, 1)
        for block in range(polar, blocks):
            _inverse_block(block, wave, space, later + (block - polar) // 2 * stretch, target)
    fence()


# Direct


@kernel
def _sum_latitudes(space, piece, source, ahead):
    """Projections of the latitudes of a ``piece`` (``Piece``) on six ``p_l``, from zero or added to those so far.

    The width of a panel is a constant here: as an argument, it makes the compiler find the places of the six factors
    one from the other, by a chain of additions.
    """
    factors = Factors(space.panel, piece.panel, _WIDTH, 1)
    c = space.coefficients
    for part in range(0, SPAN, STRIP):
        place = piece.ell * SPAN + part
        sums = zero6()
        if piece.resumed:
            sums = load6(c, place)
        terms = Terms(source.values, source.place + piece.row * SPAN + part, piece.rows)
        store6(c, place, _six(factors, terms, ahead, sums))


@kernel(inline=True)
def _north_of(functions, polar, active, end):
    """First block that any l below ``end`` matters to, of those from ``polar`` to ``active``."""
    for block in range(active - 1, polar - 1, -1):
        if first_of(functions, block) < end:
            active = block
    return active


@kernel(inline=True)
def _first_row(functions, row, bottom, end):
    """The first of the latitudes ``row`` to ``bottom`` that any l below ``end`` matters to, or ``bottom``."""
    while row < bottom and first_at(functions, row) >= end:
        row += 1
    return row


@kernel
def _direct_wavenumber(wave, space, source):
    """Projections on ``p_l`` of one wavenumber, summed over latitudes, into ``space.coefficients``.

    Two things are fetched meanwhile: while the first six l of a panel are summed, the thread's next wavenumber from the
    buffer; while the second six are, the part of the spectrum that will be written, field by field.  A pace is
    what is to be fetched divided by the number of terms, in doubles a term, at most a cache line; where a quad takes
    four strips, each of them asks for the same again::

        buffer      height · SPAN doubles      over  count/STEP panels of at most ``height`` terms
        spectrum    4 · count, of a field      over  as many panels, shared by eight fields
    """
    functions = wave.functions
    column = wave.column
    count = functions.count
    polar = source.first // BLOCK
    active = functions.blocks  # first block that is summed; those north of it are zero so far
    wanted = source.following
    panels_of_a_field = max(count // (LANES * STEP), 1)
    height = source.end - source.first
    data_pace = min(1 + SPAN * STEP // count, LANES)
    spectrum_pace = min(1 + 4 * count // (panels_of_a_field * height), LANES)
    for start in range(0, count, STEP):
        end = min(start + STEP, count)
        active = _north_of(functions, polar, active, end)
        number = start // STEP
        field = at(column.lanes, number % LANES)
        written = field + column.place + number // LANES * spectrum_pace * height
        # six l are summed though fewer may be left: what comes of panel rows not built lies behind the last l, unread
        for north in range(active, functions.blocks, SLICE):
            south = min(north + SLICE, functions.blocks)
            for block in range(north, south):
                place = (block - north) * BLOCK
                build_or_zero(functions, block, (start, end), Panel(space.panel, place, _WIDTH), space.states)
            bottom = min(south * BLOCK, source.end)
            resumed = north > active
            row = _first_row(functions, max(source.first, north * BLOCK), bottom, start + SIX)
            ahead = Ahead(source.values, wanted, data_pace)
            _sum_latitudes(space, Piece(row, bottom - row, start, row - north * BLOCK, resumed), source, ahead)
            wanted += data_pace * (bottom - row)
            if start + SIX < end:
                row = _first_row(functions, max(source.first, north * BLOCK), row, end)
                panel = row - north * BLOCK + SIX * _WIDTH
                ahead = Ahead(column.values, written, spectrum_pace)
                _sum_latitudes(space, Piece(row, bottom - row, start + SIX, panel, resumed), source, ahead)
                written += spectrum_pace * (bottom - row)


@kernel
def direct(share, tables, spectra, work, buffer):
    """Legendre part of the direct transform of up to eight fields, as the inverse; ``buffer`` is wavenumber-major."""
    top = tables.offset.size - 1
    first_row = tables.first_row
    places = buffer.places
    any_m = any_wave(tables, spectra, share.threads)
    space = _cut(work, top, tables.seeds.shape[1])
    data = address(buffer.values)
    for m in range(share.thread, top + 1, share.threads):
        wave = wave_at(any_m, m, tables, spectra)
        later = min(m + share.threads, top)
        following = places[later] + first_row[later] * SPAN
        _direct_wavenumber(wave, space, Source(data, places[m], first_row[m], tables.rows, following))
        from_functions(space.coefficients, wave.weights, space.edge, wave.column)


# Work space


@kernel
def _line(truncation):
    """Doubles of the coefficients of one wavenumber of a ``truncation`` T: up to T // 2 + 2 l (degrees go up to T + 1)
    and room for more: up to ``STEP`` − 1 in the last panel of the direct transform, 2 in ``to_functions``."""
    return (truncation // 2 + STEP + 4) * SPAN


@kernel
def _cut(work, truncation, blocks):
    """``Space`` from one thread's scratch ``work`` for a ``truncation`` and so many ``blocks`` of latitudes."""
    edge = _line(truncation)
    sums = edge + _EDGE
    states = sums + BLOCK * SPAN
    panel = states + 2 * BLOCK * blocks
    return Space(
        coefficients=address(work),
        edge=address(work[edge:]),
        sums=address(work[sums:]),
        states=address(work[states:]),
        panel=address(work[panel:]),
    )


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    panel = max(CHUNK, STEP * SLICE) * BLOCK
    states = 2 * BLOCK * blocks
    sums = BLOCK * SPAN
    return _line(truncation) + _EDGE + sums + states + panel
