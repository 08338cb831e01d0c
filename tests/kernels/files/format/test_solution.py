"""Solution files: same content whatever the way, and one clear sentence for whatever goes wrong."""

import itertools
import os
import struct
import time
import tracemalloc
import zlib
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.files import filesystem, ways
from supercomputers_rerun.kernels.files.format.layout import (
    HEADER_BYTES,
    Layout,
    Solution,
    SolutionError,
    checksum,
    dump_bytes,
)
from supercomputers_rerun.kernels.files.format.verification import verify_file
from supercomputers_rerun.kernels.files.processes import write_points
from supercomputers_rerun.kernels.files.ways import solution_writer


def dumps_of(N, count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, N, N, N, 5))


def write(path, dumps, IW=5, **options):
    N = dumps.shape[1]
    with solution_writer(path, N, IW * len(dumps), IW, **options) as writer:
        for u in dumps:
            writer.write(partial(np.copyto, src=u))
    return writer


def read(path):
    solution = Solution(path)
    assert solution.checksums() == solution.crc32
    return np.array([solution.dump(index) for index in range(solution.layout.dumps)]), solution.crc32


@pytest.mark.parametrize(("asynchronous", "fsync"), list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize("way", list(ways.WAYS))
def test_content_is_the_same_whatever_the_way(tmp_path, way, asynchronous, fsync):
    dumps = dumps_of(7, 3)
    path = tmp_path / "solution"
    writer = write(path, dumps, way=way, asynchronous=asynchronous, fsync=fsync)
    found, sums = read(path)
    assert np.array_equal(found.view(np.uint64), dumps.view(np.uint64))
    assert sums == [zlib.crc32(u.astype("<f8").tobytes()) for u in dumps]
    assert len(writer.stalls) == len(writer.transfer_seconds) == 3
    assert os.listdir(tmp_path) == ["solution"], "no temporary or lock may be left"
    if way in ("elements", "positioned"):
        write(tmp_path / "plain", dumps)
        assert path.read_bytes() == (tmp_path / "plain").read_bytes()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    N=st.integers(1, 9),
    count=st.integers(1, 4),
    IW=st.integers(1, 7),
    seed=st.integers(0, 2**32),
    way=st.sampled_from(sorted(ways.WAYS)),
    asynchronous=st.booleans(),
    data=st.data(),
)
def test_round_trip(tmp_path, N, count, IW, seed, way, asynchronous, data):
    dumps = dumps_of(N, count, seed)
    place = tuple(data.draw(st.integers(0, size - 1)) for size in dumps.shape)
    dumps[place] = data.draw(st.floats(allow_nan=False, width=64))
    write(tmp_path / "s", dumps, IW, way=way, asynchronous=asynchronous)
    found, _ = read(tmp_path / "s")
    assert np.array_equal(found.view(np.uint64), dumps.view(np.uint64))
    assert Solution(tmp_path / "s").layout.IW == IW


def test_file_can_be_read_without_this_program(tmp_path):
    """Serial and interchangeable: 4096 bytes, then plain little-endian words, as NumPy loads them in each order."""
    dumps = dumps_of(6, 2)
    write(tmp_path / "s", dumps)
    raw = (tmp_path / "s").read_bytes()
    words = struct.unpack_from(f"<{2 * 5 * 6**3}d", raw, HEADER_BYTES)
    assert np.array_equal(np.reshape(words, dumps.shape), dumps)
    assert np.array_equal(np.load(tmp_path / "s", mmap_mode="r"), dumps)
    write(tmp_path / "s", dumps, way="arrays")
    assert np.array_equal(np.moveaxis(np.load(tmp_path / "s"), 1, -1), dumps)
    write(tmp_path / "s", dumps, way="records")
    assert np.array_equal(np.load(tmp_path / "s")["u"], dumps)


def test_records_are_fortran_sequential_records(tmp_path):
    dumps = dumps_of(6, 1)
    write(tmp_path / "s", dumps, way="records")
    raw = (tmp_path / "s").read_bytes()[HEADER_BYTES:]
    for k in range(6):
        record = raw[k * (5 * 36 * 8 + 8) : (k + 1) * (5 * 36 * 8 + 8)]
        assert struct.unpack("<I", record[:4]) == struct.unpack("<I", record[-4:]) == (5 * 36 * 8,)
        assert record[4:-4] == dumps[0, k].tobytes()


def test_asynchronous_writer_keeps_its_own_copy(tmp_path, monkeypatch):
    """The solver may change U as soon as write returns, also where the file is slow."""
    monkeypatch.setitem(ways.WAYS, "positioned", lambda *given: (time.sleep(0.01), ways.positioned(*given)))
    u = np.zeros((5, 5, 5, 5))
    with solution_writer(tmp_path / "s", 5, 6, 1, asynchronous=True) as writer:
        for step in range(1, 7):
            u[:] = step
            writer.write(partial(np.copyto, src=u))
            u[:] = -1
    assert np.array_equal(read(tmp_path / "s")[0][:, 0, 0, 0, 0], range(1, 7))


@pytest.mark.parametrize(
    ("place", "word"),
    [
        (0, "does not begin as one"),
        (20, "no solution of NHT-1"),
        (-2, "no solution of NHT-1"),
        (HEADER_BYTES, "record mark"),
    ],
)
def test_other_damage(tmp_path, place, word):
    write(tmp_path / "s", dumps_of(5, 2), way="records")
    raw = bytearray((tmp_path / "s").read_bytes())
    raw[place] ^= 4
    (tmp_path / "s").write_bytes(raw)
    with pytest.raises(SolutionError, match=word):
        verify_file(tmp_path / "s")


@pytest.mark.parametrize("place", [(3, 3, 3, 0), (3, 2, 1, 4), (0, 4, 0, 2), (4, 0, 0, 1)])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_not_finite_is_refused_by_the_verification_wherever_it_stands(tmp_path, place, wrong):
    """Of a schedule that BT-IO does not have, too, whose error norms nobody compares."""
    dumps = dumps_of(5, 2)
    dumps[1][place] = wrong
    write(tmp_path / "s", dumps)
    with pytest.raises(SolutionError, match="not finite in the dump of step 10: the run diverged"):
        verify_file(tmp_path / "s")


def test_a_number_that_damage_made_infinite_is_not_called_divergence(tmp_path):
    write(tmp_path / "s", dumps_of(5, 2))
    raw = bytearray((tmp_path / "s").read_bytes())
    raw[HEADER_BYTES + 8 : HEADER_BYTES + 16] = struct.pack("<d", np.inf)
    (tmp_path / "s").write_bytes(raw)
    with pytest.raises(SolutionError, match="not finite in the dump of step 5: it is damaged, by its checksum"):
        verify_file(tmp_path / "s")


@pytest.mark.parametrize(
    ("NS", "IW", "words"),
    [
        (60, 0, ["IW = 0", "1", "60"]),
        (200, 7, ["IW = 7", "NS = 200"]),
        (10, 11, ["IW = 11"]),
        (0, 1, ["NS = 0"]),
    ],
)
def test_schedule_that_makes_no_sense(tmp_path, NS, IW, words):
    with pytest.raises(ValueError) as caught:
        solution_writer(tmp_path / "s", 12, NS, IW).__enter__()
    assert all(word in str(caught.value) for word in words)
    assert not os.listdir(tmp_path)


def test_a_file_that_lacks_dumps_gets_no_name(tmp_path):
    with pytest.raises(ValueError), solution_writer(tmp_path / "s", 5, 10, 5) as writer:
        writer.write(lambda u: u.fill(1.0))
    assert not os.listdir(tmp_path)


def test_points_one_by_one_are_the_same_file(tmp_path):
    dumps, layout = dumps_of(5, 2), Layout(5, 10, 5)
    with ways.new_file(tmp_path / "s", layout) as handle:
        for index, u in enumerate(dumps):
            write_points(handle, layout, index, u, range(5))
        ways.end_file(handle, layout, [checksum([u]) for u in dumps])
    write(tmp_path / "elements", dumps, way="elements")
    assert (tmp_path / "s").read_bytes() == (tmp_path / "elements").read_bytes()


# What may go wrong


def test_too_little_space_is_known_before_anything_is_written(tmp_path):
    with pytest.raises(OSError, match="choose a smaller problem or another folder"):
        solution_writer(tmp_path / "s", 2000, 10**5, 1).__enter__()
    assert not os.listdir(tmp_path)


def test_what_is_read_back_must_be_what_was_written(tmp_path, monkeypatch):
    real = os.pwrite

    def flip(handle, data, offset):
        data = bytearray(data)
        if offset > HEADER_BYTES and len(data) == 40 * 125:
            data[17] ^= 1
        return real(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", flip)
    with pytest.raises(OSError, match="read back"):
        write(tmp_path / "s", dumps_of(5, 2))
    assert not os.listdir(tmp_path)


def test_memory_of_the_verification_is_bounded(tmp_path):
    """A pass over 2.6 MB takes less than a fifth of it: one k-plane and the diagonal."""
    dumps = dumps_of(32, 2)
    write(tmp_path / "s", dumps)
    verify_file(tmp_path / "s")
    tracemalloc.start()
    try:
        found = verify_file(tmp_path / "s", lambda k: np.zeros((32, 32, 5)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < dumps.nbytes / 5
    i = np.arange(32)
    assert np.array_equal(found.diagonal, dumps[:, i, i, i])
    assert np.allclose(found.error_norms, np.sqrt((dumps**2).sum(axis=(1, 2, 3)) / 30**3), rtol=1e-12)


def test_formulas_of_the_report():
    assert dump_bytes(12) == 69120 and dump_bytes(102) == 42448320
    assert Layout(102, 200, 5, records=True).solution_bytes == 5 * 8 * 102**3 * 40


def test_a_folder_in_memory_has_nothing_to_bypass():
    if os.path.isdir("/dev/shm") and filesystem.filesystem_type("/dev/shm") == "tmpfs":
        assert "memory" in filesystem.direct_refusal("/dev/shm")
