"""Kernels as addresses and numbers: natively, and as WebAssembly under Node, against the kernels' own answers."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from built import PAGES, absent

from kernels import bt
from kernels.bt.state import Layout
from kernels.portable import build, everything, latency, loops, stride
from kernels.portable.case import Native

ROOT = Path(__file__).resolve().parents[3]
ENGINE, RUNNER = ROOT / "book" / "_static" / "device" / "engine.js", ROOT / "tests" / "device.cjs"
#: One small case a module, for this processor; what takes long to compile runs under Node as well, beside the book.
SMALL = [
    (latency, lambda: latency.case(2**14)),
    (loops, lambda: loops.case("skipping", 1000)),
    (loops, lambda: loops.case("s10", 1000)),
    (stride, lambda: stride.case(2**12, 16)),
    (stride, lambda: stride.case(2**12, 3)),
]


@pytest.fixture(scope="module")
def folder():
    """Modules and cases.  They take long to compile, so these tests follow a built book, as those of its pages do."""
    if not PAGES:
        absent("the book is not built, so its modules are not run; run make book")
    return build.build(ROOT / ".cache")


@pytest.fixture(scope="module")
def described(folder):
    return {case["name"]: case for case in json.loads((folder / "cases.json").read_text(encoding="utf-8"))}


def under_node(folder, **asked):
    """What the page's own engine tells of cases, run by Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here to run a module in")
    command = [node, RUNNER, ENGINE, folder]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def unpacked(text, kind=np.float64):
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.mark.parametrize(("module", "make"), SMALL)
def test_a_case_is_right_on_this_processor_and_a_changed_array_is_noticed(module, make):
    """What ``verify`` reads is what the run wrote: an answer of before it does not pass."""
    case = make()
    running = Native(case, module.EXPORTS)
    for repeats in (1, 3):
        running.run(repeats)
        checks = running.verify()
        assert len(checks) == len(case.answers) and all(check.ok for check in checks), checks
    name = {"latency": "at", "bt": "u"}.get(case.kernel, "out")
    if case.kernel == "forecast":  # whose fields lie behind the tables, and the start beside the end
        running.arrays["block"][len(case.arrays["block"].data) :].view(np.float64)[:] *= 1.001
    else:
        running.arrays[name][: 4 * 64] += 1
    if case.kernel == "bt":
        running.arrays[name][:] *= 1.001
    assert not all(check.ok for check in running.verify())


@pytest.mark.built
def test_every_case_is_right_under_node(folder, described):
    """Each is verified before and after it was sampled; a wrong one is refused, and would be told."""
    told = under_node(folder, names=list(described), options={"budget": 0.2, "least": 1})
    results = {each["result"]["name"]: each["result"] for each in told if "result" in each}
    assert not [each for each in told if "refused" in each]
    left = [name for name in described if name not in results]
    assert len(left) == sum("left" in each for each in told)
    for name, result in results.items():
        assert len(result["before"]) == len(result["after"]) == len(described[name]["answers"])
        assert all(check["ok"] for check in (*result["before"], *result["after"]))
        assert min(result["samples"]) > 0 and result["repeats"] >= 1
    assert {each["kernel"] for each in described.values()} == set(everything.MODULES)


def _field(found, letter):
    shape = unpacked(found["shape"], np.int64)
    layout = Layout(*map(int, shape[:5]))
    assert layout.N == bt.Problem.preset(letter).N
    return layout.view(unpacked(found["u"]))


def _native(letter):
    problem = bt.Problem.preset(letter)
    state = bt.setup(problem)
    forcing = state.layout.view(state.forcing).copy()
    bt.march(problem, state, problem.NS)
    return state.layout.view(state.u), forcing


@pytest.mark.built
def test_bt_under_node_is_the_native_solution(folder):
    """From the native forcing class S differs by 3.6e-15 of numbers up to 16: rounding where nothing is fused."""
    solution, forcing = _native("S")
    layout = Layout(12, 14, 842, 2, 2 + 12 * 842 + 2)
    given = np.zeros(layout.size)
    layout.view(given)[:] = forcing
    asked = {"names": ["bt-S"], "arrays": ["u", "shape"]}
    given = {"forcing": base64.b64encode(given.tobytes()).decode()}
    (found,) = under_node(folder, **asked, given=given)
    assert np.abs(_field(found, "S") - solution).max() <= 3.6e-15
    (found,) = under_node(folder, **asked)  # its own forcing is rounded otherwise, too
    assert np.abs(_field(found, "S") - solution).max() <= 8e-15


@pytest.mark.built
def test_bt_of_class_w_is_the_native_solution(folder):
    solution, _ = _native("W")
    (found,) = under_node(folder, names=["bt-W"], arrays=["u", "shape"])
    assert np.abs(_field(found, "W") - solution).max() <= 2e-14


@pytest.mark.parametrize("place", [3, 1000, -1])
@pytest.mark.built
def test_a_damaged_module_is_refused_before_it_runs(folder, place):
    size = (folder / "latency.wasm").stat().st_size
    told = under_node(folder, names=["latency-4096"], options={"budget": 1}, damage=place % size)
    assert told == [{"refused": told[0]["refused"]}]
    assert "A module is damaged" in told[0]["refused"]


@pytest.mark.built
def test_a_wrong_answer_is_refused_by_name(folder, described, tmp_path):
    case = described["loop-s1"] | {"answers": [["s1", 2.0, 0.0]]}
    (tmp_path / "cases.json").write_text(json.dumps([case]), encoding="utf-8")
    shutil.copy(folder / "loops.wasm", tmp_path)
    (told,) = under_node(tmp_path, names=["loop-s1"], options={"budget": 1})
    assert "“loop s1” is wrong on this device: s1 is 32768" in told["refused"]


def test_the_median_and_its_interval_are_those_of_the_companion():
    from companion.bench.statistics import median_interval

    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here to run the engine in")
    samples = [np.random.default_rng(n).uniform(1, 2, n).tolist() for n in (1, 2, 3, 5, 6, 7, 8, 9, 17, 25, 60)]
    script = (
        "const e = require(process.argv[1]); console.log(JSON.stringify(JSON.parse(process.argv[2]).map(e.summary)))"
    )
    done = subprocess.run([node, "-e", script, ENGINE, json.dumps(samples)], capture_output=True, check=True, text=True)
    for each, found in zip(samples, json.loads(done.stdout), strict=True):
        interval = median_interval(each)
        assert found["least"] == min(each) and found["median"] == pytest.approx(np.median(each))
        assert found["interval"] == (None if interval is None else list(interval))
