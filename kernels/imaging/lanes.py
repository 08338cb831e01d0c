"""``Single``: sixteen float32 in one value, as ``kernels.runtime.vector`` has eight float64.

Visibilities and images of the Dirty Dozen Test are 32-bit numbers.  Eight taps of the gridding function
times a complex number are sixteen of them, and so is a row of sixteen pixels.  ``+ - *`` work lane by lane
and with a float32, which then stands in all lanes.  Offsets count float32 from the first element of a
C-contiguous array; nothing is checked.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16
#: The real and the imaginary parts of as many complex numbers.
PAIR = 2 * LANES

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR, _WHOLE = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_PATTERN = ir.VectorType(_INT, LANES)


class _SingleType(types.Type):
    def __init__(self):
        super().__init__(name=f"Single{LANES}")


Single = _SingleType()


@register_model(_SingleType)
class _SingleModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _VECTOR)


def _repeated(builder, value):
    undefined = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_PATTERN, [0] * LANES))


def _shuffled(builder, first, second, pattern):
    return builder.shuffle_vector(first, second, ir.Constant(_PATTERN, list(pattern)))


def _widened(builder, kinds, values):
    return [value if kind == Single else _repeated(builder, value) for kind, value in zip(kinds, values, strict=True)]


def _call(builder, name, *values):
    kind = values[0].type
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(values)), f"llvm.{name}.v{LANES}f32"
    )
    return builder.call(function, values)


def _binary(function, build):
    pairs = [(Single, Single), (Single, types.float32), (types.float32, Single)]

    @infer_global(function)
    class _Typing(ConcreteTemplate):
        cases = [signature(Single, *pair) for pair in pairs]

    def lower(context, builder, sig, args):
        return getattr(builder, build)(*_widened(builder, sig.args, args))

    for pair in pairs:
        lower_builtin(function, *pair)(lower)


_binary(operator.add, "fadd")
_binary(operator.sub, "fsub")
_binary(operator.mul, "fmul")
_binary(operator.truediv, "fdiv")


def _of_singles(build, count):
    """An intrinsic of ``count`` arguments, vectors or float32; ``build(builder, *vectors)`` gives a vector."""

    def typed(*kinds):
        if Single not in kinds or not all(kind in (Single, types.float32) for kind in kinds):
            return None

        def code(context, builder, sig, args):
            return build(builder, *_widened(builder, sig.args, args))

        return Single(*kinds), code

    if count == 1:
        return intrinsic(lambda typingctx, a: typed(a))
    if count == 2:
        return intrinsic(lambda typingctx, a, b: typed(a, b))
    return intrinsic(lambda typingctx, a, b, c: typed(a, b, c))


#: a·b + c and c − a·b with one rounding; the larger lane; the magnitude.
fma = _of_singles(lambda builder, a, b, c: _call(builder, "fma", a, b, c), 3)
fnma = _of_singles(lambda builder, a, b, c: _call(builder, "fma", builder.fneg(a), b, c), 3)
larger = _of_singles(lambda builder, a, b: _call(builder, "maxnum", a, b), 2)
magnitude = _of_singles(lambda builder, a: _call(builder, "fabs", a), 1)


@intrinsic
def above(typingctx, a, b):
    """1 in the lanes where a > b or either is not a number, else 0."""

    def code(context, builder, sig, args):
        hits = builder.fcmp_unordered(">", *_widened(builder, sig.args, args))
        return builder.uitofp(hits, _VECTOR)

    good = a == Single and b in (Single, types.float32)
    return (Single(a, b), code) if good else None


@intrinsic
def spread(typingctx, number):
    """The float32 ``number`` in all lanes."""

    def code(context, builder, sig, args):
        return _repeated(builder, args[0])

    return Single(types.float32), code


def _reduction(name, *start):
    @intrinsic
    def reduce(typingctx, vector):
        def code(context, builder, sig, args):
            kinds = [_FLOAT] * len(start) + [_VECTOR]
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(_FLOAT, kinds), f"llvm.vector.reduce.{name}.v{LANES}f32"
            )
            first = [ir.Constant(_FLOAT, value) for value in start]
            return builder.call(function, [*first, args[0]], fastmath=("reassoc",))

        return (types.float32(vector), code) if vector == Single else None

    return reduce


#: Sum of the lanes, by halves; largest lane.
total = _reduction("fadd", -0.0)
largest = _reduction("fmax")


def _singles(place):
    return isinstance(place, types.Array) and place.dtype == types.float32 and place.layout == "C"


def _pointer(context, builder, place, base, offset, kind=_VECTOR):
    data = cgutils.create_struct_proxy(place)(context, builder, base).data
    return builder.bitcast(builder.gep(data, [offset]), kind.as_pointer())


@intrinsic
def load(typingctx, place, offset):
    """``load(a, o)``: the lanes a[o:o+16]."""

    def code(context, builder, sig, args):
        return builder.load(_pointer(context, builder, place, *args), align=4)

    return (Single(place, types.intp), code) if _singles(place) else None


@intrinsic
def store(typingctx, place, offset, vector):
    """``store(a, o, v)``: a[o:o+16] = v."""

    def code(context, builder, sig, args):
        builder.store(args[2], _pointer(context, builder, place, *args[:2]), align=4)
        return context.get_dummy_value()

    return (types.void(place, types.intp, Single), code) if _singles(place) else None


@intrinsic
def gather(typingctx, place, offset, index, count):
    """``gather(a, o, i, k)``: lanes a[o + i[k]], a[o + i[k+1]] …; ``i`` is a C-contiguous int32 array."""

    def code(context, builder, sig, args):
        data = cgutils.create_struct_proxy(place)(context, builder, args[0]).data
        base = builder.gep(data, [args[1]])
        where = builder.load(_pointer(context, builder, index, args[2], args[3], _WHOLE), align=4)
        undefined = ir.Constant(ir.VectorType(base.type, LANES), ir.Undefined)
        many = builder.insert_element(undefined, base, ir.Constant(_INT, 0))
        many = builder.shuffle_vector(many, undefined, ir.Constant(_PATTERN, [0] * LANES))
        wide = builder.sext(where, ir.VectorType(_LONG, LANES))
        pointers = builder.gep(many, [wide], source_etype=_FLOAT)
        bits = ir.VectorType(ir.IntType(1), LANES)
        kind = ir.FunctionType(_VECTOR, [pointers.type, _INT, bits, _VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.gather.v{LANES}f32.v{LANES}p0")
        every = ir.Constant(bits, [1] * LANES)
        return builder.call(function, [pointers, ir.Constant(_INT, 4), every, ir.Constant(_VECTOR, ir.Undefined)])

    good = _singles(place) and isinstance(index, types.Array) and index.dtype == types.int32
    return (Single(place, types.intp, index, types.intp), code) if good else None


# Shuffles


@intrinsic
def lower_pairs(typingctx, vector):
    """Lanes 0 … 7, each twice: what eight taps multiply real and imaginary parts with."""

    def code(context, builder, sig, args):
        return _shuffled(builder, args[0], args[0], [lane // 2 for lane in range(LANES)])

    return (Single(vector), code) if vector == Single else None


@intrinsic
def pair(typingctx, even, odd):
    """float32 ``even`` in the even lanes, ``odd`` in the others."""

    def code(context, builder, sig, args):
        wide = [_repeated(builder, value) for value in args]
        return _shuffled(builder, *wide, [lane + LANES * (lane % 2) for lane in range(LANES)])

    return Single(types.float32, types.float32), code


@intrinsic
def halves(typingctx, low, high):
    """float32 ``low`` in lanes 0 … 7, ``high`` in lanes 8 … 15."""

    def code(context, builder, sig, args):
        wide = [_repeated(builder, value) for value in args]
        return _shuffled(builder, *wide, [lane + LANES * (lane // 8) for lane in range(LANES)])

    return Single(types.float32, types.float32), code


@intrinsic
def spread_lane(typingctx, vector, number):
    """One lane of a vector in all lanes; ``number`` is a literal."""
    if not isinstance(number, types.IntegerLiteral):
        return None
    lane = number.literal_value

    def code(context, builder, sig, args):
        return _shuffled(builder, args[0], args[0], [lane] * LANES)

    return Single(vector, number), code


@intrinsic
def even_odd_totals(typingctx, vector):
    """Sums of the even and of the odd lanes, ``(float32, float32)``."""

    def code(context, builder, sig, args):
        value = args[0]
        for width in (8, 4, 2):
            value = builder.fadd(
                value, _shuffled(builder, value, value, [(lane + width) % LANES for lane in range(LANES)])
            )
        parts = [builder.extract_element(value, ir.Constant(_INT, lane)) for lane in (0, 1)]
        return context.make_tuple(builder, sig.return_type, parts)

    return types.UniTuple(types.float32, 2)(vector), code


@intrinsic
def transpose(typingctx, source, first, step, target, begin, stride):
    """Write the 16×16 block whose rows begin at s[first + r·step] to t[begin + c·stride], transposed."""

    def code(context, builder, sig, args):
        rows = []
        for row in range(LANES):
            offset = builder.add(args[1], builder.mul(args[2], ir.Constant(_LONG, row)))
            rows.append(builder.load(_pointer(context, builder, source, args[0], offset), align=4))
        for width in (8, 4, 2, 1):
            swapped = list(rows)
            for row in range(LANES):
                if row & width:
                    continue
                a, b = rows[row], rows[row + width]
                low = [(lane if not lane & width else lane - width + LANES) for lane in range(LANES)]
                high = [(lane + width if not lane & width else lane + LANES) for lane in range(LANES)]
                swapped[row] = _shuffled(builder, a, b, low)
                swapped[row + width] = _shuffled(builder, a, b, high)
            rows = swapped
        for row, value in enumerate(rows):
            offset = builder.add(args[4], builder.mul(args[5], ir.Constant(_LONG, row)))
            builder.store(value, _pointer(context, builder, target, args[3], offset), align=4)
        return context.get_dummy_value()

    whole = types.intp
    good = _singles(source) and _singles(target)
    return (types.void(source, whole, whole, target, whole, whole), code) if good else None


# Phases as whole numbers: 2³² is one turn, so that a product of whole numbers reduces itself


def _polynomial(builder, variable, coefficients):
    value = ir.Constant(_VECTOR, [coefficients[-1]] * LANES)
    for coefficient in coefficients[-2::-1]:
        value = _call(builder, "fma", value, variable, ir.Constant(_VECTOR, [coefficient] * LANES))
    return value


def _f32(values):
    import numpy as np

    return [float(np.float32(value)) for value in values]


#: sin(2πt)/t and cos(2πt) in t² for |t| ≤ 1/4, Chebyshev fits within 2e-8.
def _wave_coefficients():
    import numpy as np

    t = np.cos(np.pi * (np.arange(400) + 0.5) / 400) / 4
    t = t[t > 0]
    sine = np.polynomial.Polynomial.fit(t**2, np.sin(2 * np.pi * t) / t, 5, domain=[0, 1 / 16]).convert().coef
    cosine = np.polynomial.Polynomial.fit(t**2, np.cos(2 * np.pi * t), 5, domain=[0, 1 / 16]).convert().coef
    return _f32(sine), _f32(cosine)


_SINE, _COSINE = _wave_coefficients()


@intrinsic
def wave(typingctx, across, up, offset, i, j, amplitude):
    """``amplitude`` times cosine and sine of the phases across[o:o+16]·i + up[o:o+16]·j.

    Phases are int32 in units of 2⁻³² turns; ``i`` and ``j`` are int32, so that the products and their
    sum drop whole turns without rounding.  Returns two vectors.
    """

    def code(context, builder, sig, args):
        kinds = sig.args
        phases = [builder.load(_pointer(context, builder, kinds[n], args[n], args[2], _WHOLE), align=4) for n in (0, 1)]
        turns = builder.add(
            builder.mul(phases[0], _repeated(builder, args[3])), builder.mul(phases[1], _repeated(builder, args[4]))
        )
        quarter = ir.Constant(_WHOLE, [1 << 30] * LANES)
        sign = ir.Constant(_WHOLE, [-(1 << 31)] * LANES)
        odd = builder.and_(builder.add(turns, quarter), sign)  # half a turn changes both signs
        small = builder.sitofp(builder.sub(turns, odd), _VECTOR)
        small = builder.fmul(small, ir.Constant(_VECTOR, [2.0**-32] * LANES))
        square = builder.fmul(small, small)
        scaled = builder.bitcast(builder.xor(builder.bitcast(_repeated(builder, args[5]), _WHOLE), odd), _VECTOR)
        cosine = builder.fmul(_polynomial(builder, square, _COSINE), scaled)
        sine = builder.fmul(builder.fmul(_polynomial(builder, square, _SINE), small), scaled)
        return context.make_tuple(builder, sig.return_type, [cosine, sine])

    whole = types.int32
    result = types.UniTuple(Single, 2)
    return result(across, up, types.intp, whole, whole, types.float32), code
