"""Each finding, present and absent; the remedy stands beside what is missing."""

import errno
import importlib.util
import os
from types import SimpleNamespace

import pytest

from companion.host import doctor
from companion.host.doctor import Finding


def test_the_lock_is_compared_by_version(tmp_path):
    lock = tmp_path / "requirements.lock"
    assert doctor.packages(lock).ok  # nothing to compare with
    lock.write_text("numpy==0.0.1 \\\n    --hash=sha256:00\n")
    found = doctor.packages(lock)
    assert not found.ok and found.required
    assert "numpy" in found.detail and "instead of 0.0.1" in found.detail
    assert found.remedy


def test_a_project_that_is_not_installed(tmp_path, monkeypatch):
    def absent(name):
        raise doctor.importlib.metadata.PackageNotFoundError(name)

    (tmp_path / "requirements.lock").write_text("numpy==0.0.1\n")
    monkeypatch.setattr(doctor.importlib.metadata, "requires", absent)
    found = doctor.packages(tmp_path / "requirements.lock")
    assert not found.ok and found.required and "not installed" in found.detail and found.remedy


def test_several_pins_of_one_package_are_alternatives(tmp_path):
    import numpy

    lock = tmp_path / "requirements.lock"
    lock.write_text(f"numpy==0.0.1 ; python_version < '3'\nnumpy=={numpy.__version__}\n")
    assert "numpy" not in doctor.packages(lock).detail


@pytest.mark.parametrize(("free", "ok"), [(2**20, False), (2**40, True), (None, True)])
def test_memory(monkeypatch, free, ok):
    monkeypatch.setattr(doctor.machine, "available_memory", lambda: free)
    assert doctor.memory().ok is ok


def test_a_scratch_folder_that_cannot_be_written(monkeypatch):
    def refuse(**options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    found = doctor.scratch()
    assert not found.ok and found.required and "Read-only" in found.detail and "TMPDIR" in found.remedy


def test_a_small_scratch_folder(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    monkeypatch.setattr(doctor.machine, "filesystem", lambda folder: "tmpfs")
    found = doctor.scratch()
    assert not found.ok and "memory and no disk" in found.detail


def test_compiler_mpi_and_browser_are_optional(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name, path=None: None)
    for check in (doctor.compiler, doctor.mpi, doctor.browser):
        found = check()
        assert not found.ok and not found.required and found.remedy
    monkeypatch.setattr(doctor.shutil, "which", lambda name, path=None: f"/usr/bin/{name}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    for check in (doctor.compiler, doctor.mpi, doctor.browser):
        assert check().ok and not check().remedy


@pytest.mark.parametrize(
    ("siblings", "usable", "ok", "word"),
    [
        (None, [0], False, "does not say"),
        ([[0], [1]], [0, 1], False, "one thread"),
        ([[0, 2], [1, 3]], [0, 1], False, "outside"),
        ([[0, 2], [1, 3]], [0, 2], True, "1 core"),
    ],
)
def test_smt(monkeypatch, siblings, usable, ok, word):
    monkeypatch.setattr(doctor.machine, "smt_siblings", lambda: siblings)
    monkeypatch.setattr(doctor.machine, "affinity_cpus", lambda: usable)
    found = doctor.smt()
    assert found.ok is ok and word in found.detail


def test_o_direct_leaves_no_file(tmp_path, monkeypatch):
    doctor.o_direct(tmp_path)
    assert list(tmp_path.iterdir()) == []
    real = os.open

    def refuse(name, flags, *rest, **more):
        if flags & getattr(os, "O_DIRECT", 0):
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(name, flags, *rest, **more)

    monkeypatch.setattr(doctor.os, "open", refuse)
    found = doctor.o_direct(tmp_path)
    assert not found.ok and "refused" in found.detail and "TMPDIR" in found.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("busy", "ok"), [(0.0, True), (1e6, False)])
def test_load(monkeypatch, busy, ok):
    monkeypatch.setattr(doctor.psutil, "getloadavg", lambda: (busy, 0, 0))
    assert doctor.load().ok is ok and not doctor.load().required


def test_the_report_puts_the_remedy_under_what_is_missing():
    text = doctor.report(
        [
            Finding("A", True, "fine", "unused"),
            Finding("B", False, "gone", "fetch it", True),
            Finding("C", False, "gone", "maybe"),
        ]
    )
    assert text.splitlines() == [
        "ok      A: fine",
        "MISSING B: gone",
        "          → fetch it",
        "absent  C: gone",
        "          → maybe",
    ]


def test_every_need_has_a_check_that_answers():
    for check in doctor.NEEDS.values():
        assert isinstance(check(), Finding)


def test_a_temporary_folder_that_python_passes_over_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert "TMPDIR" not in doctor.scratch().detail
    monkeypatch.setenv("TMPDIR", str(tmp_path / "read-only"))
    found = doctor.scratch()
    assert not found.ok and f"TMPDIR = {str(tmp_path / 'read-only')!r} takes no files" in found.detail


def test_windows_is_sent_to_the_system_that_is_tried(monkeypatch):
    monkeypatch.setattr(doctor.sys, "platform", "win32")
    found = doctor.system()
    assert not found.ok and not found.required and "WSL" in found.remedy
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    assert doctor.system().ok
