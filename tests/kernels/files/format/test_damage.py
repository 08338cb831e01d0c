"""No damaged solution file is accepted, none ends the process, and each is refused in a sentence that names it."""

import json
import os
import random
import shutil
import struct
import zlib

import numpy as np
import pytest
from cases import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.files.format.layout import _TAIL, END, HEADER_BYTES, MOST_DUMPS, Layout, SolutionError, require_checksums
from kernels.files.format.opening import open_solution
from kernels.files.format.solution import SolutionWriter
from kernels.files.format.verification import verify_file

N, NS, IW = 4, 10, 5
WAYS = ("positioned", "records", "arrays", "netcdf", "zarr")


@pytest.fixture(scope="module", params=WAYS)
def finished(request, tmp_path_factory):
    """``(path, way)`` of a finished solution of every form."""
    path = tmp_path_factory.mktemp("damage") / request.param
    generator = np.random.default_rng(3)
    with SolutionWriter(path, N, NS, IW, way=request.param) as writer:
        for step in range(IW, NS + 1, IW):
            writer.write(step, generator.standard_normal((N, N, N, 5)))
    return path, request.param


def files(path):
    return sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else [path]


def refused(path):
    """The sentence with which a damaged solution is refused; fails if it is accepted."""
    try:
        with open_solution(path) as solution:
            require_checksums(solution)
        found = verify_file(path)
    except SolutionError as error:
        return str(error)
    assert found.crc_errors, "the damage was accepted"
    return f"{path}: damaged dumps {found.crc_errors}"


def damaged(finished, tmp_path, change):
    """A copy of the solution in which ``change(bytearray)`` gave one file (chosen by it) other bytes."""
    path, _ = finished
    copy = tmp_path / path.name
    shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)
    change(copy)
    return copy


def test_a_finished_solution_is_accepted(finished):
    with open_solution(finished[0]) as solution:
        require_checksums(solution)
    assert verify_file(finished[0]).crc_errors == ()


def test_no_flipped_bit_is_accepted(finished, tmp_path):
    """100 bits anywhere in the file, or in any file of the folder."""
    generator = random.Random(11)
    path, _ = finished
    for number in range(100):
        names = [entry.relative_to(path) for entry in files(path)] if path.is_dir() else [None]
        name = names[number % len(names)]

        def flip(copy, name=name):
            target = copy / name if name else copy
            raw = bytearray(target.read_bytes())
            raw[generator.randrange(len(raw))] ^= 1 << generator.randrange(8)
            target.write_bytes(raw)

        copy = damaged(finished, tmp_path, flip)
        assert str(copy) in refused(copy)
        tried()
        shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


def test_no_prefix_and_no_longer_file_is_accepted(finished, tmp_path):
    path, _ = finished
    generator = random.Random(5)
    for target in files(path):
        size = target.stat().st_size
        name = target.relative_to(path) if path.is_dir() else None
        for length in {0, 1, size - 1, *(generator.randrange(size) for _ in range(4))} - {size}:

            def cut(copy, length=length, name=name):
                os.truncate(copy / name if name else copy, length)

            copy = damaged(finished, tmp_path, cut)
            assert str(copy) in refused(copy)
            tried()
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()

        def longer(copy, name=name):
            with open(copy / name if name else copy, "ab") as file:
                file.write(b"\0\0\0\0")

        copy = damaged(finished, tmp_path, longer)
        assert str(copy) in refused(copy)
        tried()
        shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


def test_missing_added_and_linked_files_of_a_folder_are_named(finished, tmp_path):
    path, way = finished
    if way != "zarr":
        pytest.skip("one file, no folder")
    for target in files(path):
        name = target.relative_to(path)
        copy = damaged(finished, tmp_path, lambda copy, name=name: (copy / name).unlink())
        assert name.as_posix().split("/")[0] in refused(copy)
        tried()
        shutil.rmtree(copy)
    copy = damaged(finished, tmp_path, lambda copy: (copy / "U" / "extra").write_text("x"))
    assert "extra does not belong" in refused(copy)
    shutil.rmtree(copy)
    copy = damaged(finished, tmp_path, lambda copy: (copy / "U" / "link").symlink_to("/etc/hostname"))
    assert "link is neither a file nor a folder" in refused(copy)


def with_trailer(path, layout, text):
    """A file of zeros with the right header and this trailer, its own checksum right."""
    with open(path, "wb") as file:
        file.write(layout.header())
        file.truncate(layout.trailer_offset)
        file.seek(layout.trailer_offset)
        file.write(text + _TAIL.pack(len(text), zlib.crc32(text), 0, END))
    return path


TRAILERS = {
    "none listed": {"steps": [], "crc32": []},
    "unequal lengths": {"steps": [5, 10], "crc32": [1]},
    "a list": [1, 2],
    "text": "steps",
    "null": None,
    "other steps": {"steps": [5, 15], "crc32": [1, 2]},
    "no numbers": {"steps": [5, 10], "crc32": ["1", "2"]},
    "fractions": {"steps": [5, 10], "crc32": [1.5, 2.5]},
    "lists inside": {"steps": [[5], [10]], "crc32": [[1], [2]]},
    "no header checksum": {"steps": [5, 10], "crc32": [1, 2]},
}


@pytest.mark.parametrize("name", TRAILERS)
def test_only_the_trailer_of_this_layout_is_accepted(tmp_path, name):
    path = with_trailer(tmp_path / "s", Layout(N, NS, IW), json.dumps(TRAILERS[name]).encode())
    with pytest.raises(SolutionError, match="damaged trailer"):
        verify_file(path)


def test_a_trailer_nested_without_end_is_refused(tmp_path):
    path = with_trailer(tmp_path / "s", Layout(1, 10**6, 10), b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(SolutionError, match="damaged trailer"):
        verify_file(path)


def test_a_header_that_announces_more_dumps_than_are_listed_is_refused_before_they_are_read(tmp_path):
    """A sparse file of 10 GB, whose trailer lists none of its dumps; one of 10⁹ dumps is refused by its header."""
    layout = Layout(10, MOST_DUMPS, 1)
    path = with_trailer(tmp_path / "s", layout, b'{"steps": [], "crc32": []}')
    assert path.stat().st_size > 10e9 and path.stat().st_blocks * 512 < 1e6
    with pytest.raises(SolutionError, match=f"{MOST_DUMPS} dumps"):
        verify_file(path)
    more = layout.header().replace(b'"NS": %d' % MOST_DUMPS, b'"NS": 1000000000')
    (tmp_path / "t").write_bytes(more)
    with pytest.raises(SolutionError, match="1000000000 dumps"):
        verify_file(tmp_path / "t")


@settings(max_examples=150)
@given(text=st.binary(max_size=300))
def test_any_header_is_refused_in_a_sentence(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any-header"
    mark = struct.pack("<Q", 0x0102030405060708)
    path.write_bytes((b"NHT-1 U\n" + mark + text).ljust(HEADER_BYTES) + bytes(100))
    with pytest.raises(SolutionError, match="any-header"):
        open_solution(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50)
@given(
    changes=st.dictionaries(st.sampled_from(["N", "NS", "IW", "records", "version", "dumps"]), json_values, min_size=1)
)
def test_any_entry_of_the_header_is_refused_or_means_the_same(tmp_path_factory, changes):
    path = tmp_path_factory.getbasetemp() / "any-entry"
    layout = Layout(N, NS, IW)
    head = layout.header()
    facts = json.loads(head[16:])
    changed = {**facts, **changes}
    path.write_bytes((head[:16] + json.dumps(changed).encode()).ljust(HEADER_BYTES - 1) + b"\n" + bytes(100))
    with pytest.raises(SolutionError, match="any-entry"):
        open_solution(path)
