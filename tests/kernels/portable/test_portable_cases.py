"""Kernels as addresses and numbers: natively, and as WebAssembly under Node, against the kernels' own answers."""

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from built import PAGES, absent

from supercomputers_rerun.kernels import bt, shallow_water
from supercomputers_rerun.kernels.portable import build, everything, forecast
from supercomputers_rerun.kernels.runtime import wasm

ROOT = Path(__file__).resolve().parents[3]
ENGINE, RUNNER = ROOT / "book" / "_static" / "device" / "engine.js", ROOT / "tests" / "device.cjs"


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


def test_small_modules_are_right_under_node(tmp_path):
    """Those that take seconds to compile, before there is a book."""
    names = ("stride", "loops")
    command = [sys.executable, "-m", "supercomputers_rerun.kernels.portable.everything", tmp_path, *names]
    subprocess.run(command, env=wasm.environment(), cwd=ROOT, check=True)
    everything.gather(tmp_path)
    few = ["stride-4096-1", "stride-4096-16", "loop-s2", "loop-s10", "loop-streaming", "loop-skipping"]
    told = under_node(tmp_path, names=few, options={"budget": 0.1, "least": 1})
    found = {each["result"]["name"]: each["result"] for each in told if "result" in each}
    assert {name.partition("-")[0] for name in found} == {"stride", "loop"}  # where time is short, not all
    assert all(check["ok"] for each in found.values() for check in (*each["before"], *each["after"]))


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
    assert {f"{each['kernel']}.wasm" for each in described.values()} == {path.name for path in folder.glob("*.wasm")}


def _view(shape, array):
    """[k, j, m, i] of a flat field where vectors have two lanes: points, row, plane and base, in doubles."""
    points, row, plane, base = map(int, shape[:4])
    planes = array[base : base + points * plane].reshape(points, plane)
    return planes[:, : points * 5 * row].reshape(points, points, 5, row)[..., :points]


def _field(found, letter):
    assert unpacked(found["shape"], np.int64)[0] == bt.Problem.preset(letter).N
    return _view(unpacked(found["shape"], np.int64), unpacked(found["u"]))


def _native(letter):
    problem = bt.Problem.preset(letter)
    state = bt.setup(problem)
    forcing = state.box.view(state.forcing).copy()
    bt.march(problem, state, problem.NS)
    return state.box.view(state.u), forcing


@pytest.mark.built
def test_bt_under_node_is_the_native_solution(folder):
    """From the native forcing class S differs by 3.6e-15 of numbers up to 16: rounding where nothing is fused."""
    solution, forcing = _native("S")
    given = np.zeros(2 + 12 * 842 + 2)
    _view((12, 14, 842, 2), given)[:] = forcing
    asked = {"names": ["bt-S"], "arrays": ["u", "shape"]}
    given = {"forcing": base64.b64encode(given.tobytes()).decode()}
    (found,) = under_node(folder, **asked, given=given)
    assert np.abs(_field(found, "S") - solution).max() <= 3.6e-15
    (found,) = under_node(folder, **asked)  # its own forcing is rounded otherwise, too
    assert np.abs(_field(found, "S") - solution).max() <= 8e-15


def test_the_forecast_is_compared_with_the_native_one():
    spectra = shallow_water.run(forecast.PROBLEM, shallow_water.setup(forecast.PROBLEM)).spectra
    weights = np.array([forecast.mixed(i) for i in range(2 * spectra.shape[1])])
    for field, (total, norm) in zip(spectra.view(np.float64), forecast.END.values(), strict=True):
        assert max(abs(field @ weights - total), abs(np.linalg.norm(field) - norm)) < 1e-11 * norm


@pytest.mark.parametrize("place", [3, 1000, -1])
@pytest.mark.built
def test_a_damaged_module_is_refused_before_it_runs(folder, place):
    size = (folder / "stride.wasm").stat().st_size
    told = under_node(folder, names=["stride-4096-1"], options={"budget": 1}, damage=place % size)
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
    from supercomputers_rerun.companion.bench import median_interval

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
