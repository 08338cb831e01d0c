"""Quotas and limits from made-up control-group trees of both versions, and what they refuse."""

import os
from types import SimpleNamespace

import pytest

from supercomputers_rerun.kernels.runtime import resources
from supercomputers_rerun.kernels.runtime.resources import (
    Refused,
    available_memory,
    cpu_quota,
    require_disk,
    require_memory,
    require_threads,
)

GIB = 2**30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """``system(line of /proc/self/cgroup, {file: text})``: roots of control groups and of proc, with 8 GiB free."""
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=8 * GIB))

    def build(line, files):
        root, proc = tmp_path / "cgroup", tmp_path / "proc"
        (proc / "self").mkdir(parents=True)
        (proc / "self" / "cgroup").write_text(line + "\n")
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        return root, proc

    return build


@pytest.mark.parametrize(
    ("line", "files", "quota"),
    [
        ("0::/a/b", {"a/b/cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, 2.0),  # the parent's limit
        ("0::/a", {"a/cpu.max": "max 100000"}, None),
        ("0::/", {"cpu.max": "300000 100000"}, 3.0),  # inside a container
        ("0::/host/path", {"cpu.max": "300000 100000"}, 3.0),  # path not mounted here
        ("4:cpu,cpuacct:/j\n0::/", {"cpu/j/cpu.cfs_quota_us": "250000", "cpu/j/cpu.cfs_period_us": "100000"}, 2.5),
        ("4:cpu:/j", {"cpu/j/cpu.cfs_quota_us": "-1", "cpu/j/cpu.cfs_period_us": "100000"}, None),
    ],
)
def test_cpu_quota(system, line, files, quota):
    assert cpu_quota(*system(line, files)) == quota


@pytest.mark.parametrize(
    ("line", "files", "expected"),
    [
        ("0::/a", {}, 8 * GIB),
        ("0::/a/b", {"a/memory.max": str(3 * GIB), "a/memory.current": str(GIB)}, 2 * GIB),
        ("0::/a", {"a/memory.max": "max", "a/memory.current": str(GIB)}, 8 * GIB),
        (
            "0::/a",
            {
                "a/memory.max": str(3 * GIB),
                "a/memory.current": str(2 * GIB),
                "a/memory.stat": f"anon 5\nactive_file {GIB // 2}\ninactive_file {GIB // 2}",
            },
            2 * GIB,
        ),
        (
            "5:memory:/j",
            {"memory/j/memory.limit_in_bytes": str(2 * GIB), "memory/j/memory.usage_in_bytes": str(GIB)},
            GIB,
        ),
        (
            "5:memory:/j",
            {"memory/j/memory.limit_in_bytes": "9223372036854771712", "memory/j/memory.usage_in_bytes": str(GIB)},
            8 * GIB,
        ),
    ],
)
def test_available_memory(system, line, files, expected):
    assert available_memory(*system(line, files)) == expected


def test_no_control_groups_at_all(tmp_path):
    assert cpu_quota(tmp_path, tmp_path) is None
    assert available_memory(tmp_path, tmp_path) > 0


@pytest.mark.parametrize(
    ("affinity", "quota", "expected"), [(4, None, 4), (4, 2.9, 2), (4, 0.5, 1), (2, 8.0, 2), (1, None, 1)]
)
def test_threads_are_at_most_the_usable_cpus(monkeypatch, affinity, quota, expected):
    monkeypatch.setattr(resources, "affinity_cpus", lambda: list(range(affinity)))
    monkeypatch.setattr(resources, "cpu_quota", lambda: quota)
    assert require_threads(expected) == resources.usable_cpus() == expected
    for threads in (expected + 1, 4096, 0, -1, True, 1.0, "2", None):
        with pytest.raises(Refused, match=f"threads = {threads!r} is outside 1 … {expected}"):
            require_threads(threads)


def test_affinity_is_what_the_system_says():
    assert resources.affinity_cpus() == sorted(os.sched_getaffinity(0))


def test_memory_and_disk_are_refused_with_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "available_memory", lambda: GIB)
    require_memory(GIB // 2, "a grid")
    with pytest.raises(MemoryError, match="a grid needs 2.00 GiB.*1.00 GiB are available; choose a smaller"):
        require_memory(2 * GIB, "a grid")
    usage = SimpleNamespace(total=100 * GIB, free=3 * GIB)
    monkeypatch.setattr(resources.shutil, "disk_usage", lambda folder: usage)
    require_disk(tmp_path, 2 * GIB, "a work file")  # 1 GiB stays free
    with pytest.raises(OSError, match="a work file needs 2.00 GiB.*can be used; choose a smaller"):
        require_disk(tmp_path, 2 * GIB + 1, "a work file")
