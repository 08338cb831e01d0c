"""The description of the host, from made-up sysfs and procfs trees and from this one."""

import getpass
import json
import shutil
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from supercomputers_rerun.companion import host


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@pytest.fixture
def smt_host(tmp_path):
    """Two sockets, two cores each, two threads a core; 64 GiB; huge pages by madvise."""
    files = {}
    for cpu in range(8):
        core = cpu % 4
        base = f"devices/system/cpu/cpu{cpu}/"
        files |= {
            base + "topology/thread_siblings_list": f"{core},{core + 4}",
            base + "topology/physical_package_id": str(core // 2),
        }
    levels = [(1, "Data", "32K", "0,4"), (1, "Instruction", "64K", "0,4"), (2, "Unified", "1M", "0,4")]
    for index, (level, kind, size, shared) in enumerate([*levels, (3, "Unified", "36864K", "0-1,4-5")]):
        base = f"devices/system/cpu/cpu0/cache/index{index}/"
        files |= {
            base + "level": str(level),
            base + "type": kind,
            base + "size": size,
            base + "coherency_line_size": "128",
            base + "ways_of_associativity": "8",
            base + "shared_cpu_list": shared,
        }
    files |= {
        "devices/system/cpu/cpufreq/x": "",
        "devices/system/cpu/online": "0-7",
        "devices/system/cpu/cpu8/online": "0",  # switched off
        "devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
        "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "4200000",
        "devices/system/cpu/cpu0/cpufreq/base_frequency": "3000000",
        "devices/system/node/node0/x": "",
        "devices/system/node/node1/x": "",
        "kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    }
    proc = {
        "meminfo": "MemTotal:       67108864 kB\nMemFree: 1 kB",
        "cpuinfo": "processor : 0\nflags : fpu sse hypervisor",
    }
    return tree(tmp_path / "sys", files), tree(tmp_path / "proc", proc)


def test_a_known_host(smt_host):
    found = host.describe(sys=smt_host[0], proc=smt_host[1])
    cpu = found["cpu"]
    assert (cpu["sockets"], cpu["cores"], cpu["logical_cpus"], cpu["threads_per_core"]) == (2, 4, 8, 2)
    assert cpu["smt_siblings"] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert (cpu["governor"], cpu["nominal_hz"], cpu["maximum_hz"]) == ("performance", 3.0e9, 4.2e9)
    assert cpu["numa_nodes"] == 2
    assert list(found["caches"][0].values()) == [1, "data", 2**15, 128, 8, 2]
    assert [cache["bytes"] for cache in found["caches"]] == [2**15, 2**16, 2**20, 36 * 2**20]
    assert found["caches"][3]["shared_by"] == 4
    assert found["memory"]["total_bytes"] == 2**36
    assert found["memory"]["transparent_huge_pages"] == "madvise"
    assert found["system"]["virtual_machine"] is True


def test_what_proc_says_of_the_processor_is_what_py_cpuinfo_finds_in_all_ways(monkeypatch):
    """The short way where there is one, the long one where ``/proc`` lacks something; both describe one machine."""
    from cpuinfo import cpuinfo

    host._cpuinfo.cache_clear()
    short = host.describe()["cpu"]
    monkeypatch.setattr(cpuinfo, "_get_cpu_info_from_proc_cpuinfo", lambda: {"brand_raw": "of no use alone"})
    host._cpuinfo.cache_clear()
    long = host.describe()["cpu"]
    host._cpuinfo.cache_clear()
    assert long["model"] not in (None, "of no use alone")
    if not short["maximum_hz"]:  # then the clock may be that of the moment
        short["nominal_hz"] = long["nominal_hz"] = None
    assert short == long


def test_what_the_system_does_not_say_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "_cpuinfo", lambda: {})
    monkeypatch.setattr(host, "_ROOT", tmp_path)
    found = host.describe(sys=tmp_path / "no-sys", proc=tmp_path / "no-proc")
    cpu = found["cpu"]
    for name in ("model", "vendor", "isa", "sockets", "cores", "threads_per_core", "numa_nodes", "maximum_hz"):
        assert cpu[name] is None, name
    assert found["caches"] == []
    assert found["memory"]["total_bytes"] is found["memory"]["transparent_huge_pages"] is None
    assert found["system"]["virtual_machine"] is None
    assert found["provenance"] == {"commit": None, "dirty": None, "lock_sha256": None}
    assert set(found["filesystem"].values()) == {None}
    assert host.line(found).startswith(cpu["architecture"])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of one commit inside another repository; git as its user has set it up: ``git(*arguments)``."""
    home, root = tmp_path / "home", tmp_path / "outer" / "source"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setattr(host, "_ROOT", root)
    (root / "kernels").mkdir(parents=True)
    (root / "kernels" / "stride.py").write_text("step = 1\n")
    (root / ".gitignore").write_text("*.pyc\n")

    def git(*arguments, cwd=root):
        who = ["-c", "user.name=N", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True)

    for place in (root.parent, root):
        git("init", "-q", cwd=place)
        git("add", ".", cwd=place) if place == root else (place / "other").touch()
        git("commit", "-q", "--allow-empty", "-m", "first", cwd=place)
    return git


@pytest.mark.parametrize(
    "settings",
    [
        {"status.showUntrackedFiles": "no"},
        {"core.excludesFile": "~/ignored"},
        {"status.short": "true", "status.branch": "true"},
        {"core.fsmonitor": "/bin/false"},
    ],
)
@pytest.mark.parametrize("scope", ["--global", "--local"])
def test_what_a_user_has_set_in_git_hides_no_change(checkout, tmp_path, settings, scope):
    (tmp_path / "home" / "ignored").write_text("*.py\n")
    for name, value in settings.items():
        checkout("config", scope, name, value)
    kernel = host._ROOT / "kernels" / "new.py"
    assert host._provenance()["dirty"] is False
    kernel.with_suffix(".pyc").touch()
    (host._ROOT / "notes.txt").touch()
    assert host._provenance()["dirty"] is False  # neither decides a result
    kernel.touch()
    (host._ROOT / ".git" / "info" / "exclude").write_text("*.py\n")
    assert host._provenance()["dirty"] is True
    kernel.unlink()
    (host._ROOT / "kernels" / "stride.py").write_text("step = 2\n")
    assert host._provenance()["dirty"] is True


def test_a_source_unpacked_inside_another_repository_has_no_commit(checkout, call):
    assert len(host._provenance()["commit"]) == 40 and ", commit " in call("--version")[1]
    shutil.rmtree(host._ROOT / ".git")
    assert host._provenance() == {"commit": None, "dirty": None, "lock_sha256": None}
    assert "commit" not in call("--version")[1]


def test_this_host_is_json_and_names_nobody(monkeypatch, tmp_path):
    monkeypatch.setattr(host, "temporary", lambda: ("TMPDIR", str(tmp_path)))
    text = json.dumps(host.describe(measured=True), allow_nan=False)
    for private in (socket.gethostname(), str(Path.home()), str(tmp_path), str(host._ROOT)):
        if len(private) > 3:
            assert private not in text
    # A user called like a word of the record ("numba") would be no leak.
    assert json.dumps(getpass.getuser()) not in text


def test_the_filesystem_is_the_innermost_mount(monkeypatch):
    def part(mountpoint, fstype):
        return SimpleNamespace(mountpoint=mountpoint, fstype=fstype)

    mounts = [part("/", "ext4"), part("/a", "xfs"), part("/a/b", "tmpfs"), part("/a/b", "nfs"), part("/ab", "zfs")]
    monkeypatch.setattr("psutil.disk_partitions", lambda all: mounts)
    for folder, kind in (("/a/x", "xfs"), ("/a/b/c", "nfs"), ("/abc", "ext4")):  # nfs is mounted over tmpfs
        monkeypatch.setattr(host, "temporary", lambda folder=folder: ("TMP", folder))
        assert host.describe(measured=True)["filesystem"] == {"type": kind, "source": "TMP"}
    monkeypatch.setattr("psutil.disk_partitions", lambda all: [])
    assert host.describe(measured=True)["filesystem"]["type"] is None


@pytest.mark.parametrize(("architecture", "known"), [("x86_64", True), ("AMD64", True), ("aarch64", False)])
def test_the_ceiling_is_known_where_vectors_have_a_width(monkeypatch, architecture, known):
    monkeypatch.setattr(host.platform, "machine", lambda: architecture)
    assert all((value is not None) == known for value in host.ceiling().values())
