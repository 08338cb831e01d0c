"""What a foreign file could make each reader execute, allocate or wait for, and what stops it.

``tests/faults/foreign.csv`` is the table of the page *What can go wrong*; each of its cells names a test, most of them
here.  A refusal has 200 MB and one second of processor time (``bounds``).
"""

import ast
import io
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bounds
import forked
import numpy as np
import pytest
from cases import tried
from test_readers import READERS
from tools import FAULTS, ROOT, read_rows

from companion import notebooks
from kernels.files.format import read_netcdf
from kernels.files.format.layout import SolutionError
from kernels.files.format.opening import open_solution
from kernels.files.format.seal import MANIFEST, seal_file, seal_folder
from kernels.files.format.solution import SolutionWriter

N, NS, IW = 4, 10, 5
#: What is no file that a command reads, and is read all the same.
OTHER_READERS = ("measurement set", "cache of compiled code", "cache of executed notebooks")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc of Linux")


def test_each_cell_of_the_table_names_a_test_that_exists():
    rows = read_rows(FAULTS / "foreign.csv")
    named = {one.partition(" (")[0] for row in rows for one in row["reader"].split(", ")}
    assert named - {"every reader"} == {*READERS, *OTHER_READERS}
    for row in rows:
        assert all(row.values()), row
        file, _, name = row["held by"].partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), row["held by"]


def solution(path: Path, way: str) -> Path:
    generator = np.random.default_rng(3)
    with SolutionWriter(path, N, NS, IW, way=way) as writer:
        for step in range(IW, NS + 1, IW):
            writer.write(step, generator.standard_normal((N, N, N, 5)))
    return path


def sealed(path: Path) -> Path:
    """``path`` with a seal that is right, as whoever means harm would put it there."""
    if path.is_dir():
        (path / MANIFEST).unlink(missing_ok=True)
        (path / "U").mkdir(exist_ok=True)
        seal_folder(path)
    else:
        seal_file(path)
    return path


def changed(path: Path, name: str, entries: dict) -> None:
    """Entries of a ``zarr.json`` replaced; None takes one out."""
    facts = json.loads((path / name).read_text())
    facts = {key: value for key, value in (facts | entries).items() if value is not None}
    (path / name).write_text(json.dumps(facts))


# Zarr

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CODECS = {
    "none": [],
    "big-endian": [{"name": "bytes", "configuration": {"endian": "big"}}],
    "pickle": [{"name": "numcodecs.pickle", "configuration": {}}],
    "pickle after ours": [BYTES, {"name": "numcodecs.pickle", "configuration": {}}],
    "gzip": [BYTES, {"name": "gzip", "configuration": {"level": 5}}],
    "blosc": [BYTES, {"name": "blosc", "configuration": {"cname": "lz4"}}],
    "zstd": [BYTES, {"name": "zstd", "configuration": {"level": 0, "checksum": False}}],
    "checksum": [BYTES, {"name": "crc32c"}],
    "transposed": [{"name": "transpose", "configuration": {"order": [4, 3, 2, 1, 0]}}, BYTES],
    "texts": [{"name": "vlen-utf8"}],
    "shards": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1, 1, 1, 1], "codecs": [BYTES]}}],
    "a word": "bytes",
    "nothing": None,
    "unnamed": [{}],
}
ENTRIES = {
    "a transformer": {"storage_transformers": [{"name": "x"}]},
    "an entry of another version": {"filters": [{"id": "pickle"}]},
    "another key encoding": {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}}},
    "texts as type": {"data_type": "string"},
    "objects as type": {"data_type": "object"},
    "huge": {"shape": [2, 10**9, 10**9, 10**9, 5]},
    "huge chunks": {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 10**9, 10**9, 10**9, 5]}}},
    "many dumps": {"shape": [10**12, N, N, N, 5]},
    "a negative shape": {"shape": [2, -4, -4, -4, 5]},
    "no shape": {"shape": []},
    "a group": {"node_type": "group"},
    "the format before": {"zarr_format": 2},
}
GROUPS = {
    "a list": "[1, 2]",
    "a number": "7",
    "null": "null",
    "nested": "[" * 20_000 + "]" * 20_000,
    "long": " " * 2**17 + "{}",
    "without attributes": '{"zarr_format": 3, "node_type": "group"}',
    "attributes as list": '{"zarr_format": 3, "node_type": "group", "attributes": []}',
    "an array": '{"zarr_format": 3, "node_type": "array", "attributes": {}}',
    **{
        f"{name} = {value}": json.dumps(
            {"zarr_format": 3, "node_type": "group", "attributes": {"N": N, "NS": NS, "IW": IW} | {name: value}}
        )
        for name in ("N", "NS", "IW")
        for value in (None, -1, 0, 2.0, True, "4", [], 10**9, 1e308)
    },
}


def _without_zarr(path) -> str:
    """What opening raises, and which libraries of Zarr it loaded."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("zarr", "numcodecs", "xarray")]:
        del sys.modules[name]
    try:
        open_solution(path)
    finally:
        assert not {"zarr", "numcodecs", "xarray"} & set(sys.modules), "a library saw the folder"


def refused(call, folder: Path) -> None:
    """Everything in ``folder`` is, in a sentence that names it."""
    paths = list(folder.iterdir())
    for path, said in zip(paths, bounds.refusals(call, paths), strict=True):
        assert said.startswith("SolutionError") and str(path) in said and "\n" not in said, said
    tried(len(paths))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return solution(tmp_path_factory.mktemp("zarr") / "s", "zarr")


def test_no_codec_of_a_zarr_folder_but_ours_is_read(folder, tmp_path):
    arrays = ("U/zarr.json", "step/zarr.json", "crc32/zarr.json")
    damages = [(name, {"codecs": codecs}) for codecs in CODECS.values() for name in arrays]
    damages += [("U/zarr.json", entries) for entries in ENTRIES.values()]
    for number, (name, entries) in enumerate(damages):
        copy = shutil.copytree(folder, tmp_path / str(number))
        changed(copy, name, entries)
        sealed(copy)
    refused(_without_zarr, tmp_path)


def test_no_root_of_a_zarr_folder_but_ours_is_read(folder, tmp_path):
    for number, text in enumerate(GROUPS.values()):
        copy = shutil.copytree(folder, tmp_path / str(number))
        (copy / "zarr.json").write_text(text)
        sealed(copy)
    refused(_without_zarr, tmp_path)


def test_metadata_of_another_version_of_zarr_that_mean_the_same_are_read(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "s")
    changed(copy, "U/zarr.json", {"storage_transformers": None, "attributes": {}, "fill_value": 0.0})
    with open_solution(sealed(copy)) as found:
        assert found.steps == [5, 10]


def test_a_zarr_folder_of_version_2_that_unpickles_runs_nothing(tmp_path):
    """As numcodecs before 0.16.6 would have run it: filters ``vlen-utf8`` and ``pickle`` on an array of objects."""
    marker, path = tmp_path / "ran", tmp_path / "s"

    class Trap:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    array = {
        "zarr_format": 2,
        "shape": [1],
        "chunks": [1],
        "dtype": "|O",
        "fill_value": None,
        "order": "C",
        "compressor": None,
        "filters": [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 5}],
    }
    for name in ("U", "step", "crc32"):
        (path / name).mkdir(parents=True)
        (path / name / ".zarray").write_text(json.dumps(array))
        (path / name / "0").write_bytes(pickle.dumps(Trap()))
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / ".zattrs").write_text(json.dumps({"N": N, "NS": NS, "IW": IW}))
    for _ in range(2):  # without a seal, and with one
        assert bounds.refusal(_without_zarr, path).startswith("SolutionError")
        sealed(path)
    pickle.loads((path / "U" / "0").read_bytes())
    assert marker.exists(), "the trap works where it is sprung"
    marker.unlink()
    assert bounds.refusal(_without_zarr, path).startswith("SolutionError") and not marker.exists()


def test_a_zarr_folder_is_left_at_the_first_thing_that_does_not_belong(folder, tmp_path):
    """20 000 files more, a FIFO among the chunks, a chunk that is a folder, folders within folders."""
    copy = shutil.copytree(folder, tmp_path / "many")
    for number in range(20_000):
        os.mknod(copy / "U" / f"{number}")
    assert "does not belong" in bounds.refusal(open_solution, copy)
    copy = shutil.copytree(folder, tmp_path / "fifo")
    (copy / "U/c/0/0/0/0/0").unlink()
    os.mkfifo(copy / "U/c/0/0/0/0/0")
    assert "neither a file nor a folder" in bounds.refusal(open_solution, copy)
    copy = shutil.copytree(folder, tmp_path / "deep")
    (copy / ("a/" * 300)).mkdir(parents=True)
    assert "does not belong" in bounds.refusal(open_solution, copy)
    copy = shutil.copytree(folder, tmp_path / "metadata")
    (copy / "zarr.json").unlink()
    os.mkfifo(copy / "zarr.json")
    assert "FIFO" in bounds.refusal(open_solution, copy)


# NetCDF

TRAP = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void run(void) { FILE *f = fopen(getenv("MARKER"), "w"); if (f) fclose(f); }
"""


def netcdf(path: Path, fill) -> Path:
    """A NetCDF file with the attributes of a solution, in which ``fill(data)`` puts the rest."""
    import netCDF4

    with netCDF4.Dataset(path, "w") as data:
        data.set_fill_off()
        data.setncatts({"N": N, "NS": IW, "IW": IW})
        fill(data)
    return sealed(path)


def dump(data, shape=(N, N, N, 5), name="U_000005", kind="<f8", **options):
    """A variable such as a solution has."""
    for letter, size in zip("kjim", shape, strict=True):
        if letter not in data.dimensions:
            data.createDimension(letter, size)
    variable = data.createVariable(name, kind, tuple("kjim"), fill_value=False, **options)
    variable.setncatts({"step": 5, "crc32": 1})
    return variable


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_a_netcdf_file_with_an_unknown_filter_loads_no_plugin(tmp_path, monkeypatch):
    netCDF4 = pytest.importorskip("netCDF4")
    if not netCDF4.__has_zstandard_support__:
        pytest.skip("this build of NetCDF cannot write a file with a filter that is a plugin")

    def fill(data):
        dump(data, compression="zstd")[:] = 1.0

    path = netcdf(tmp_path / "s", fill)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "trap.c").write_text(TRAP)
    library = tmp_path / "plugins" / "libtrap.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "trap.c"], check=True)
    marker = tmp_path / "ran"
    monkeypatch.setenv("MARKER", str(marker))
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(library.parent))
    assert "what is read is one piece" in bounds.refusal(open_solution, path)
    assert not marker.exists()
    look = "import netCDF4, sys; netCDF4.Dataset(sys.argv[1])['U_000005'].chunking()"
    subprocess.run([sys.executable, "-c", look, path], check=True)
    assert marker.exists(), "the trap works where it is sprung"


def _deep(data) -> None:
    group = data
    for _ in range(5000):
        group = group.createGroup("a")


FILLS = {
    "no dump": lambda data: None,
    "another name": lambda data: dump(data, name="U_000010"),
    "one more": lambda data: (dump(data), dump(data, name="U_000010")),
    "in chunks": lambda data: dump(data, chunksizes=(1, N, N, 5)),
    "compressed": lambda data: dump(data, compression="zlib"),
    "big-endian": lambda data: dump(data, kind=">f8", endian="big"),
    "floats of 4 bytes": lambda data: dump(data, kind="<f4"),
    "texts": lambda data: dump(data, kind=str),
    "another shape": lambda data: dump(data, (N, N, N, 4)),
    "N = 2000, nothing behind it": lambda data: (dump(data, (2000, 2000, 2000, 5)), data.setncattr("N", 2000)),
    "N = 3000": lambda data: (dump(data, (3000, 3000, 3000, 5)), data.setncattr("N", 3000)),
    "10⁹ dumps": lambda data: (dump(data), data.setncatts({"NS": 10**9, "IW": 1})),
    "a coordinate of 80 GB": lambda data: (
        dump(data),
        data.createDimension("x", 10**10),
        data.createVariable("x", "f8", ("x",), chunksizes=(1000,), fill_value=False),
    ),
    "groups in groups": _deep,
    "N is a text": lambda data: (dump(data), data.setncattr("N", "4")),
    "N is a list": lambda data: (dump(data), data.setncattr("N", [4, 4])),
    "N is a fraction": lambda data: (dump(data), data.setncattr("N", 4.0)),
    "another step": lambda data: dump(data).setncattr("step", 6),
    "no checksum": lambda data: dump(data).delncattr("crc32"),
    "a scale": lambda data: dump(data, compression="zlib").setncatts({"scale_factor": 2.0, "units": "days since 1"}),
}


def served(path) -> dict:
    """What the process says that reads a NetCDF file, and is asked for no dump."""
    sys.stdout, sys.stdin = SimpleNamespace(buffer=io.BytesIO(), flush=lambda: None), []
    read_netcdf.serve(str(path))
    return json.loads(sys.stdout.buffer.getvalue())


#: What is opened each day as whoever asks for one opens it: in a process of its own, with the limits of that.
OPENED = ("groups in groups", "a coordinate of 80 GB", "no dump")


@pytest.mark.parametrize("opened", [OPENED, pytest.param(tuple(FILLS), marks=pytest.mark.weekly)], ids=["some", "all"])
def test_no_netcdf_file_but_ours_is_read(tmp_path, opened):
    pytest.importorskip("netCDF4")
    for name in opened:
        netcdf(tmp_path / name, FILLS[name])
    refused(open_solution, tmp_path)
    others = [netcdf(tmp_path / str(n), fill) for n, (name, fill) in enumerate(FILLS.items()) if name not in opened]
    for path, found in zip(others, forked.answers(served, others), strict=True):
        assert list(found) == ["error"] and "\n" not in found["error"], path
    tried(len(others))


def test_netcdf_dumps_are_read_in_any_order_and_left_in_the_middle(tmp_path):
    pytest.importorskip("netCDF4")
    path = solution(tmp_path / "s", "netcdf")
    generator = np.random.default_rng(3)
    first, second = (generator.standard_normal((N, N, N, 5)) for _ in range(2))
    with open_solution(path) as found:
        next(iter(found.planes(0)))
        assert np.array_equal([plane.copy() for plane in found.planes(1)], second)
        assert np.array_equal([plane.copy() for plane in found.planes(0)], first)


def test_a_library_that_ends_its_process_is_a_damaged_file(tmp_path, monkeypatch):
    """HDF5 may end the process on a file that it does not understand: here by a signal."""
    path = solution(tmp_path / "s", "netcdf")
    (tmp_path / "sitecustomize.py").write_text("import os, sys\nif sys.argv[-1] != '':\n    os.kill(os.getpid(), 11)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(SolutionError, match="gave up on it"):
        open_solution(path)


def test_no_program_of_this_house_reads_a_measurement_set():
    """``table`` of casacore opens; the one call is for tables that the same function has just made."""
    calls = []
    texts = {
        path: path.read_text(encoding="utf-8")
        for room in ("kernels", "companion", "peers")
        for path in sorted((ROOT / room).rglob("*.py"))
    }
    for path, text in ((path, text) for path, text in texts.items() if "casacore" in text):
        for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
            opened = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            names = [ast.unparse(node.func) for node in opened]
            calls += [(path.name, function.name) for name in names if name.endswith(".table")]
    assert calls == [("measurement_set.py", "write")]


def test_checking_a_notebook_runs_nothing_of_it(tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')"
    cell = {"cell_type": "code", "source": code, "metadata": {}, "execution_count": 1, "id": "a"}
    shown = {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}, "metadata": {}}
    found = {"cells": [cell | {"outputs": [shown]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "foreign.ipynb"
    path.write_text(json.dumps(found))
    assert any("not in normal form" in problem for problem in notebooks.problems(path))
    notebooks.normalise(path, execute=False)
    assert "script" not in path.read_text() and not (tmp_path / "ran").exists()
