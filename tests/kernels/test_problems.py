"""Nonsense in any field of any kernel's problem: a ``ValueError`` in one sentence, or a value that fits the field."""

import math
import re
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_found import KERNELS, every_kernel

from kernels import analysis
from kernels.files.devices import Job as Transfers
from kernels.files.paced import Device
from kernels.files.replay import Job as Forecast
from kernels.files.replay import Program
from kernels.jobs import Job
from kernels.memory.banks import Job as Vectors
from kernels.memory.banks import Loop

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


def no(kernel, *words, **changes):
    """What the preset ``quick`` of a kernel is refused with: ``words``, or the name and value of each changed field."""
    return kernel, changes, words or [re.escape(f"{name} = {value!r}") for name, value in changes.items()]


REFUSED = [
    no("analysis", "ni = 44 must be a multiple of 8", ni=44),
    no("analysis", work="ssd"),
    no("analysis", "most = 0 data is outside", most=0),
    no("analysis", gross=0.9),
    no("bt", N=4),
    no("bt", "N = 5: the fourth differences of both boundaries .* choose N from 6 on", N=5),
    no("bt", "whole number", N=12.0),
    no("bt", "outside", N=10**6),
    no("bt", NS=0),
    no("bt", dt=0.0),
    no("bt", dt=math.nan),
    no("files.application", "N = 5", "6", N=5),
    no("files.application", "IW = 0", "60", IW=0),
    no("files.application", "IW = 7", "NS = 200", NS=200, IW=7),
    no("files.application", "way = 'tape'", "'positioned'", way="tape"),
    no("files.application", "direct = True", "'netcdf'", way="netcdf", direct=True),
    no("files.application", dt=-1.0),
    no("files.application", code="slow"),
    no("files.conversion", N=4),
    no("files.conversion", format="vax"),
    no("files.conversion", direction="up"),
    no("files.devices", "place = 'ssd' is unknown", jobs=(Transfers("ssd"),)),
    no("files.devices", "multiple of 512", jobs=(Transfers(record=1000),)),
    no("files.devices", "transfers = 1 is outside", jobs=(Transfers(transfers=1),)),
    no("files.groups", P=0),
    no("files.groups", "P = 251 processes cannot each hold a part of N = 24", P=251),
    no("files.groups", "g = 5", P=4, groups=(5,)),
    no("files.messages", "way = 'pigeon' is unknown", way="pigeon"),
    no("files.messages", "messages = 0 is outside", messages=0),
    no("files.nodes", unit="plane"),
    no("files.nodes", "P = 14 ", N=12, P=14, unit="element"),
    no("files.nodes", "IW = 3 does not divide NS = 10", IW=3),
    no("files.replay", "jobs holds 'disk'; give a tuple of Job", jobs=("disk",)),
    no("files.replay", "device = 'drum' is unknown", jobs=(Forecast("drum"),)),
    no("files.replay", "files = 3 is unknown", jobs=(Forecast(files=3),)),
    no("files.replay", "overlap = 'half' is unknown", jobs=(Forecast(overlap="half"),)),
    no("files.replay", "rate = 0.0 words a second is outside", devices=(Device("disk", 0.0),)),
    no("files.replay", "is no Program", program=(1, 2)),
    no("files.replay", "rows = 33 must be a multiple of bands = 8", program=Program(rows=33)),
    no("files.replay", "scale = 0.5 is outside", scale=0.5),
    no("files.storm", files=0),
    no("files.storm", record_bytes=8),
    no("files.storm", load=65),
    no("files.stripes", "way = 'two' is unknown", way="two"),
    no("files.stripes", files=0),
    no("gridpoint", ni=50),
    no("gridpoint", nj=4),
    no("gridpoint", files=3),
    no("gridpoint", lines=22),
    no("gridpoint", "files = 1, 2 or 4", place="cache"),
    no("gridpoint", "place = 'memory' keeps the state there", files=2, allowed=1e9),
    no("gridpoint", overlap="two"),
    no("gridpoint", dt=math.nan),
    *(
        no("imaging.ddt", f"{name} = 'none' is unknown", **{name: "none"})
        for name in ("task", "size", "method", "reader")
    ),
    no("jobs", "give one of forecast's own", jobs=(Job("forecast", analysis.Problem()),)),
    no("jobs", "program = 'payroll' is unknown", jobs=(Job("payroll", None),)),
    no("jobs", "give a tuple of Job", jobs=("forecast",)),
    no("jobs", "binding = 'tight' is unknown", binding="tight"),
    no("memory.banks", "banks = 12 is unknown", banks=12),
    no("memory.banks", "sections = 8 is outside 1 … 4", banks=4, sections=8),
    no("memory.banks", "busy = 0 cycles is outside 1 … 15", busy=0),
    no("memory.banks", "jobs = 0 is outside 1 … 4", jobs=()),
    no("memory.banks", "priority = 'random' is unknown", priority="random"),
    no("memory.latency", pattern="zigzag"),
    no("memory.latency", "spacing = 8192", nbytes=4096, spacing=8192),
    no("memory.latency", "multiple", spacing=10),
    no("memory.latency", loads=0),
    no("memory.stream", "n = 100 is no multiple of 8.*take 104", n=100),
    no("memory.stream", operation="dot"),
    no("memory.stream", n=0),
    no("memory.stride", r"stride = 2000 .*1 … 1024", nbytes=4096, stride=2000),
    no("memory.stride", nbytes=100),
    no("memory.stride", loads="half"),
    no("memory.stride", pages="giant"),
    no("mpi.exchange", "ranks = 3 cannot be paired; legal are the even numbers", ranks=3),
    no("mpi.exchange", "bytes = 100 is no multiple of the 8 bytes", bytes=100),
    no("mpi.exchange", "ranks = 0 is outside 1", ranks=0),
    no("mpi.transposition", "101 ranks cannot share .* legal are 1 … 64", ranks=101, across=1),
    no("mpi.transposition", "16 ranks cannot share 8 field", ranks=16, across=16),
    no("mpi.transposition", "across = 3 does not divide ranks = 4; choose one of 1, 2, 4", ranks=4, across=3),
    no("processor.disturbance", pattern="odd"),
    no("processor.disturbance", "steps", steps=10, period=4),
    no("processor.disturbance", n=0),
    no("processor.peak", n=0),
    no("processor.peak", n=2.0),
    no("processor.peak", a=1.5),
    no("processor.peak", b=math.nan),
    no("processor.smt", loop="s3"),
    no("processor.smt", n=19),
    no("processor.smt", streams=3),
    no("processor.smt", threads_per_core=4),
    no("processor.smt", "order", order="smt"),
    no("processor.smt", "order", order="no_smt", binding=False),
    no("processor.smt", "order", doubled=True, binding=True),
    no("routines.cloud", "timestep = 0.0 s is outside", timestep=0.0),
    no("routines.interpolation", "levels = 3 is outside 4", levels=3),
    no("routines.interpolation", "nx = 3 is outside 4", nx=3),
    no("routines.interpolation", "scheme = 'quintic' is unknown", scheme="quintic"),
    no("routines.interpolation", "courant = -1.0 grid intervals is outside", courant=-1.0),
    no("routines.interpolation", courant=math.nan),
    no("routines.matmul", "truncation = 0 is outside", truncation=0),
    no("routines.saturation", "nproma = 0 columns is outside", nproma=0),
    no("routines.saturation", "columns = 0 is outside", columns=0),
    no("routines.saturation", "iterations = 0 is outside", iterations=0),
    no("routines.saturation", "build = 'simd' is unknown", build="simd"),
    no("routines.vertical", "levels = 3 is outside 4", levels=3),
    no("shallow_water", "grid name 'X5' is unknown", grid="X5"),
    no("shallow_water", "case = 'galewski' is unknown; choose one of 'williamson2'", case="galewski"),
    no("shallow_water", "build = 'O3' is unknown", build="O3"),
    no("shallow_water", "dt = 0.0 s is outside", dt=0.0),
    no("shallow_water", dt=math.nan),
    no("shallow_water", order=3),
    no("shallow_water", hours=-1.0),
    no(
        "shallow_water",
        "truncation 32 is too large for grid F16; choose truncation 31 or lower, or a grid of at least 17 rows",
        truncation=32,
        grid="F16",
    ),
    no("spectral", "grid name", truncation=21, grid="G16"),
]


@pytest.mark.parametrize(("kernel", "changes", "words"), REFUSED)
def test_a_refusal_names_the_field_and_the_remedy(kernel, changes, words):
    quick = KERNELS[f"kernels.{kernel}"].Problem.preset("quick")
    for each in words:
        with pytest.raises(ValueError, match=each):
            replace(quick, **changes)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Loop(vector=0), "vector = 0 elements is outside"),
        (lambda: Loop(strides=(1, 1)), "must be three"),
        (lambda: Loop(strides=(-1, 1, 1)), "stride of port A = -1 words is outside"),
        (lambda: Vectors(passes=0), "passes = 0 is outside"),
    ],
)
def test_a_part_of_a_problem_is_refused_as_well(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
