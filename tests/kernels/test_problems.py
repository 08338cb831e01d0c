"""Nonsense in any field of any kernel's problem: a ``ValueError`` in one sentence, or a value that fits the field."""

import math
from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_found import KERNELS, every_kernel

NONSENSE = st.one_of(
    st.sampled_from([-1, 0, 10**30, -(10**18), 0.5, -0.0, 1e308, "", "x", "0", "٣", b"", None, True, False]),
    st.sampled_from([math.nan, math.inf, -math.inf, 1j, object(), (), [], {}, ("x",), (math.nan,), (-1,), ((),)]),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
)
#: Kinds of value that a field of a kind may hold.
FIT = {int: (int,), float: (int, float), str: (str,), bool: (bool,), tuple: (tuple,)}
NONE = (str, int, float, type(None))


@every_kernel
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nonsense_in_a_field_is_refused(name, data):
    problem_type = KERNELS[name].Problem
    quick = problem_type.PRESETS["quick"]
    field = data.draw(st.sampled_from([field for field in fields(problem_type) if field.init]))
    value = data.draw(NONSENSE)
    usual = getattr(problem_type(**quick), field.name)
    try:
        made = problem_type(**{**quick, field.name: value})
    except ValueError as refusal:
        text = str(refusal)
        assert text
        assert "\n" not in text
        return
    kept = getattr(made, field.name)
    assert isinstance(kept, FIT.get(type(usual), NONE)), f"{field.name} = {value!r} was taken"
    assert not (isinstance(kept, float) and math.isnan(kept)), f"{field.name} = nan was taken"
    footprint = KERNELS[name].footprint(made)
    assert footprint.memory >= 0
    assert footprint.disk >= 0
