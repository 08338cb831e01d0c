"""Quotas and limits from made-up control-group trees of both versions."""

import os
from types import SimpleNamespace

import pytest

from kernels.runtime import resources
from kernels.runtime.resources import (
    available_files,
    available_memory,
    available_processes,
    cpu_quota,
    require_disk,
    require_files,
    require_memory,
    require_processes,
    require_threads,
    usable_cpus,
)

GIB = 2**30


@pytest.fixture
def system(tmp_path):
    """``system(cgroup line, {file: text}, free KiB)`` builds a control-group root and a proc root."""

    def build(line, files, available_kib=None):
        root, proc = tmp_path / "cgroup", tmp_path / "proc"
        (proc / "self").mkdir(parents=True)
        (proc / "self" / "cgroup").write_text(line + "\n")
        if available_kib is not None:
            (proc / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {available_kib} kB\n")
        root.mkdir()
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
        ("0::/a/b", {"a/b/cpu.max": "400000 100000", "cpu.max": "50000 100000"}, 0.5),
        ("0::/a", {"a/cpu.max": "max"}, None),
        ("0::/", {"cpu.max": "300000 100000"}, 3.0),  # inside a container
        ("0::/host/path", {"cpu.max": "300000 100000"}, 3.0),  # path not mounted here
        ("0::/a", {"a/cpu.max": "rubbish"}, None),
        (
            "4:cpu,cpuacct:/j\n0::/",
            {"cpu,cpuacct/j/cpu.cfs_quota_us": "250000", "cpu,cpuacct/j/cpu.cfs_period_us": "100000"},
            2.5,
        ),
        ("4:cpu:/j", {"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "50000"}, 2.0),
        ("4:cpu:/j", {"cpu/j/cpu.cfs_quota_us": "-1", "cpu/j/cpu.cfs_period_us": "100000"}, None),
        ("1:name=systemd:/\n0::/a", {"unified/a/cpu.max": "100000 100000"}, 1.0),
        ("nonsense", {}, None),
    ],
)
def test_cpu_quota(system, line, files, quota):
    assert cpu_quota(*system(line, files)) == quota


def test_no_control_groups_at_all(tmp_path):
    assert cpu_quota(tmp_path / "none", tmp_path / "none") is None
    assert available_memory(tmp_path / "none", tmp_path / "none") is None


@pytest.mark.parametrize(
    ("line", "files", "expected"),
    [
        ("0::/a", {}, 8 * GIB),
        ("0::/a", {"a/memory.max": str(3 * GIB), "a/memory.current": str(GIB)}, 2 * GIB),
        ("0::/a", {"a/memory.max": "max", "a/memory.current": str(GIB)}, 8 * GIB),
        # A limit counts with the use of its own group, whatever groups above or below say.
        (
            "0::/a/b",
            {
                "a/b/memory.max": "max",
                "a/b/memory.current": "1",
                "a/memory.max": str(4 * GIB),
                "a/memory.current": str(GIB),
            },
            3 * GIB,
        ),
        # Clean file cache is given back under pressure.
        (
            "0::/a",
            {
                "a/memory.max": str(3 * GIB),
                "a/memory.current": str(2 * GIB),
                "a/memory.stat": f"anon 5\ninactive_file {GIB}",
            },
            2 * GIB,
        ),
        ("0::/a", {"a/memory.max": str(GIB), "a/memory.current": str(2 * GIB)}, 0),
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
    assert available_memory(*system(line, files, available_kib=8 * GIB // 1024)) == expected


@pytest.mark.parametrize(
    ("line", "files", "expected"),
    [
        ("0::/a", {}, 900),
        ("0::/a/b", {"a/b/pids.max": "max", "a/b/pids.current": "3", "a/pids.max": "50", "a/pids.current": "20"}, 30),
        ("0::/a", {"a/pids.max": "20", "a/pids.current": "30"}, 0),
        ("7:pids:/j", {"pids/j/pids.max": "40", "pids/j/pids.current": "1"}, 39),
    ],
)
def test_available_processes(system, monkeypatch, line, files, expected):
    monkeypatch.setattr(resources, "process_limit", lambda name: None)
    root, proc = system(line, files)
    (proc / "sys" / "kernel").mkdir(parents=True)
    (proc / "sys" / "kernel" / "threads-max").write_text("1000\n")
    (proc / "loadavg").write_text("0.1 0.2 0.3 2/100 4711\n")
    assert available_processes(root, proc) == expected


def test_ulimit_counts_with_what_is_used(system, monkeypatch):
    root, proc = system("0::/", {}, 8 * GIB // 1024)
    for number, tasks in ((11, 3), (12, 2)):
        for task in range(tasks):
            (proc / str(number) / "task" / str(task)).mkdir(parents=True)
    for handle in range(5):
        (proc / "self" / "fd" / str(handle)).mkdir(parents=True)
    (proc / "self" / "statm").write_text("1000 500 100 10 0 400 0\n")
    page = os.sysconf("SC_PAGE_SIZE")
    limits = {"RLIMIT_NPROC": 9, "RLIMIT_NOFILE": 20, "RLIMIT_AS": 3000 * page, "RLIMIT_DATA": 2000 * page}
    monkeypatch.setattr(resources, "process_limit", limits.get)
    assert available_processes(root, proc) == 4
    assert available_files(proc) == 15
    assert available_memory(root, proc) == 1600 * page
    assert available_memory(root, proc, others=True) == 8 * GIB
    del limits["RLIMIT_DATA"]
    assert available_memory(root, proc) == 2000 * page


def test_processes_and_files_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(resources, "available_processes", lambda: 9)
    monkeypatch.setattr(resources, "available_files", lambda: 9)
    require_processes(9, "it"), require_files(9, "it")
    with pytest.raises(OSError, match="^it needs 10 processes and threads, 9 more may be started"):
        require_processes(10, "it")
    with pytest.raises(OSError, match="^it needs 10 open files, 9 may be opened"):
        require_files(10, "it")


@pytest.fixture
def no_memory(monkeypatch):
    """Nothing is remembered of a quota read earlier, and nothing of this test's later."""
    monkeypatch.setattr(resources, "_last_quota", (None, float("-inf")))


@pytest.mark.parametrize(
    ("affinity", "quota", "expected"), [(4, None, 4), (4, 2.9, 2), (4, 0.5, 1), (2, 8.0, 2), (1, None, 1)]
)
def test_usable_cpus(monkeypatch, no_memory, affinity, quota, expected):
    monkeypatch.setattr(resources, "affinity_cpus", lambda: list(range(affinity)))
    monkeypatch.setattr(resources, "cpu_quota", lambda: quota)
    assert usable_cpus() == expected
    assert require_threads(expected) == expected
    with pytest.raises(ValueError, match=f"threads = {expected + 1} is outside 1 … {expected}"):
        require_threads(expected + 1)


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, "2", None])
def test_what_is_no_number_of_threads_is_refused(threads):
    with pytest.raises(ValueError, match=f"threads = {threads!r} is outside 1 … "):
        require_threads(threads)


def test_a_quota_is_read_once_a_second_and_anew_before_a_refusal(monkeypatch, no_memory):
    now, reads, quota = [100.0], [], [2.0]

    def read():
        reads.append(now[0])
        return quota[0]

    monkeypatch.setattr(resources.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(resources, "affinity_cpus", lambda: list(range(8)))
    monkeypatch.setattr(resources, "cpu_quota", read)
    assert require_threads(1) == 1 and reads == []  # one thread is always allowed
    assert [require_threads(2) for _ in range(5)] == [2] * 5
    assert reads == [100.0]
    quota[0] = 4.0  # raised: no refusal on old knowledge
    assert require_threads(4) == 4
    with pytest.raises(ValueError, match="threads = 5 is outside 1 … 4"):
        require_threads(5)
    quota[0], now[0] = 1.0, 101.5  # lowered: noticed within the second
    with pytest.raises(ValueError, match="threads = 2 is outside 1 … 1"):
        require_threads(2)


def test_affinity_counts_at_once(monkeypatch, no_memory):
    cpus = [0, 1, 2, 3]
    monkeypatch.setattr(resources, "cpu_quota", lambda: None)
    monkeypatch.setattr(resources, "affinity_cpus", lambda: cpus)
    assert require_threads(4) == 4
    cpus.pop()
    with pytest.raises(ValueError, match="threads = 4 is outside 1 … 3"):
        require_threads(4)


def test_affinity_is_what_the_system_says():
    assert resources.affinity_cpus() == sorted(os.sched_getaffinity(0))


def test_memory_is_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: GIB)
    require_memory(GIB // 2, "a grid")
    with pytest.raises(MemoryError, match="a grid needs 2.00 GiB.*1.00 GiB are available; choose a smaller"):
        require_memory(2 * GIB, "a grid")
    monkeypatch.setattr(resources, "available_memory", lambda: None)
    require_memory(10**18, "nobody knows")


def test_disk_is_refused_with_a_remedy(monkeypatch, tmp_path):
    usage = SimpleNamespace(total=100 * GIB, free=3 * GIB)
    monkeypatch.setattr(resources.shutil, "disk_usage", lambda folder: usage)
    require_disk(tmp_path, 2 * GIB, "a work file")  # 1 GiB stays free
    with pytest.raises(OSError, match="a work file needs 2.00 GiB.*can be used; choose a smaller"):
        require_disk(tmp_path, 2 * GIB + 1, "a work file")
    with pytest.raises(FileNotFoundError):
        monkeypatch.undo()
        require_disk(tmp_path / "absent", 1, "a work file")
