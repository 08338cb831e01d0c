"""Cholesky factors of small matrices, strip by strip, with what is solved for as further rows.

``a`` holds a symmetric positive definite matrix A by columns: a[j, i] is A_ij for i ≥ j, float64 (n, ld), n a multiple
of eight.  ``factor`` puts L with A = L Lᵀ in its place.  Columns from n on belong to right-hand sides:
a[j, n + c] = C_jc becomes (L⁻¹ C)_jc, because [A C; Cᵀ ·] is factored like any other matrix.  So

    Cᵀ A⁻¹ d = (L⁻¹ C)ᵀ (L⁻¹ d),      (A⁻¹)_ii = Σ_k (L⁻¹)_ki²

come without a substitution backwards.  A strip is as many rows i as one to three vectors have.  It is finished from
its first column to its last, ``STEP`` columns at a time: a tile of so many rows and columns stays in registers while
all earlier columns are taken from it, and the strip in the cache next to them.  From every number the columns are
taken in their order, so that the factor depends neither on ``STEP`` nor on the strips.

On one core of a Xeon with AVX-512 a system of 48 data takes 4.2 µs, of 192 data 74 µs: 2.0 and 1.8 times as fast as
LAPACK's ``dposv`` on the same room.

In the compiled functions ``shape`` is a tuple as long as a tile has vectors, ``a`` the address of the matrix, ``ld``
the distance of its columns in doubles, ``j`` the first column of a tile, ``r`` its first row, and ``first`` the first
column that is taken from it.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.target import HERE, Registers
from kernels.runtime.vector import LANES, address, call, fma, load, repeated, spread, total


def shape(registers: Registers = HERE) -> tuple[int, int]:
    """Rows of a vector, which are the columns of a tile, and vectors of a tile that stays in the ``registers``."""
    step = max(4, registers.lanes)
    return step, registers.chains * registers.lanes // step**2


#: Rows of a vector and columns of a tile; most vectors of a tile, three or one.
STEP, _MOST = shape()
_ONE, _TWO, _THREE = ((0.0,) * length for length in range(1, 4))
_LONG = ir.IntType(64)


def _place(builder, row, column, further=0):
    """Pointer to a number of a row of ``a``."""
    return builder.gep(row, [builder.add(column, ir.Constant(_LONG, further))])


def _vectors(builder, row, column, count):
    """Pointers to ``count`` vectors of a row of ``a``."""
    kind = ir.VectorType(ir.DoubleType(), STEP).as_pointer()
    return [builder.bitcast(_place(builder, row, column, v * STEP), kind) for v in range(count)]


def _less(builder, value, number, vector):
    """value − number · vector with one rounding; all may be numbers."""
    number = repeated(builder, number, STEP) if isinstance(vector.type, ir.VectorType) else number
    return call(builder, "fma", builder.fneg(number), vector, value)


def _reduced(builder, a, rows, span, count):
    """A tile [column][vector] of ``rows`` of ``a``, less what all columns of ``span`` take from it."""
    ld, j, r, first = span
    slots = [
        [cgutils.alloca_once_value(builder, builder.load(place, align=8)) for place in _vectors(builder, row, r, count)]
        for row in rows
    ]
    with cgutils.for_range(builder, j, start=first, intp=_LONG) as loop:
        row = builder.gep(a, [builder.mul(loop.index, ld)])
        given = [builder.load(place, align=8) for place in _vectors(builder, row, r, count)]
        for c, line in enumerate(slots):
            number = builder.load(_place(builder, row, j, c), align=8)
            for value, slot in zip(given, line, strict=True):
                builder.store(_less(builder, builder.load(slot), number, value), slot)
    return [[builder.load(slot) for slot in line] for line in slots]


def _block_in_memory(builder, rows, j):
    """The factor L_ec [c][e] of a diagonal block that is finished, reciprocals on its diagonal."""
    return [
        [builder.load(_place(builder, row, j, e), align=8) if e >= c else None for e in range(STEP)]
        for c, row in enumerate(rows)
    ]


def _block(builder, lines):
    """The same of the block whose columns are the vectors ``lines``, and whether it is definite."""
    one, zero = ir.Constant(ir.DoubleType(), 1.0), ir.Constant(ir.DoubleType(), 0.0)
    good = ir.Constant(ir.IntType(1), 1)
    x = [[builder.extract_element(line, ir.Constant(ir.IntType(32), e)) for e in range(STEP)] for line in lines]
    for c, line in enumerate(x):
        good = builder.and_(good, builder.fcmp_ordered(">", line[c], zero))
        line[c] = builder.fdiv(one, call(builder, "sqrt", line[c]))
        line[c + 1 :] = [builder.fmul(each, line[c]) for each in line[c + 1 :]]
        for d in range(c + 1, STEP):
            x[d][d:] = [_less(builder, x[d][e], line[d], line[e]) for e in range(d, STEP)]
    return x, good


def _tile(lead):
    """The intrinsic that finishes a tile; with ``lead`` its first vector is the diagonal block (r = j), else that is
    finished.  False where the block is not definite."""

    @intrinsic
    def function(typingctx, shape, a, ld, j, r, first):
        def code(context, builder, sig, args):
            a, ld, j, r = args[1:5]
            rows = [builder.gep(a, [builder.mul(builder.add(j, ir.Constant(_LONG, c)), ld)]) for c in range(STEP)]
            tile = _reduced(builder, a, rows, args[2:], shape.count)
            good = ir.Constant(ir.IntType(1), 1)
            if lead:
                block, good = _block(builder, [line[0] for line in tile])
            else:
                block = _block_in_memory(builder, rows, j)
            for c, line in enumerate(tile):
                line[:] = [builder.fmul(repeated(builder, block[c][c], STEP), value) for value in line]
                for e in range(c + 1, STEP):
                    tile[e] = [_less(builder, x, block[c][e], value) for x, value in zip(tile[e], line, strict=True)]
                for value, place in zip(line, _vectors(builder, rows[c], r, shape.count), strict=True):
                    builder.store(value, place, align=8)
                if lead:
                    builder.store(block[c][c], _place(builder, rows[c], j, c), align=8)
            return good

        return types.boolean(shape, a, types.intp, types.intp, types.intp, types.intp), code

    return function


_lead, _further = _tile(True), _tile(False)


@kernel(fastmath=CONTRACT)
def factor(a, width, identity):
    """Factor ``a``, float64 (n, ld), in place; its diagonal becomes 1/L_jj.  False, and an unfinished ``a``, where A is
    not positive definite.

    What lies above the diagonal of A is not read.  ``width``: columns in use, those of right-hand sides included, at
    most ld.  ``identity``: first column of a right-hand side that is the identity, whose zeros are then skipped; n or
    more, ``width`` or more for none.  Both are multiples of ``STEP``.
    """
    n, ld = a.shape
    p, r = address(a), 0
    while r < width:
        left = (width - r) // STEP
        count = left if left <= _MOST else max(1, _MOST - 1) if left == _MOST + 1 else _MOST
        first = max(0, r - identity)
        for j in range(first, min(r, n), STEP):
            if count == 3:
                _further(_THREE, p, ld, j, r, first)
            elif count == 2:
                _further(_TWO, p, ld, j, r, first)
            else:
                _further(_ONE, p, ld, j, r, first)
        end = r + count * STEP
        for j in range(r, min(end, n), STEP):
            if end - j == 3 * STEP:
                good = _lead(_THREE, p, ld, j, j, 0)
            elif end - j == 2 * STEP:
                good = _lead(_TWO, p, ld, j, j, 0)
            else:
                good = _lead(_ONE, p, ld, j, j, 0)
            if not good:
                return False
        r = end
    return True


@kernel(fastmath=CONTRACT)
def backwards(a, n, column, x):
    """x = L⁻ᵀ z with z = L⁻¹ d in column ``column`` of what ``factor`` made of ``a``: A x = d for the first ``n``.

    ``x`` is float64 (at least n,), contiguous, and overwritten.
    """
    p, y = address(a), address(x)
    x[:n] = 0.0  # what is not yet known has no part in whole vectors
    for j in range(n - 1, -1, -1):
        row, known = j * a.shape[1], spread(0.0)
        for i in range(j - j % LANES, n, LANES):
            known = fma(load(p, row + i), load(y, i), known)
        x[j] = (a[j, column] - total(known)) * a[j, j]
