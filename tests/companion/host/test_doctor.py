"""Findings, present and absent; the remedy stands beside what is missing."""

import importlib.util

import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.host import Finding


def test_the_lock_is_compared_by_version(tmp_path):
    lock = tmp_path / "requirements.lock"
    assert host.packages(lock).ok  # nothing to compare with
    lock.write_text("numpy==0.0.1 \\\n    --hash=sha256:00\nscipy==0.1 ; python_version < '3'\n")
    found = host.packages(lock)
    assert not found.ok and found.required and "(lock: 0.0.1); scipy" in found.detail
    assert host.packages().ok


def test_mpi_is_optional(monkeypatch):
    monkeypatch.setattr(host.shutil, "which", lambda name, path=None: None)
    found = host.mpi()
    assert not found.ok and not found.required and found.remedy
    monkeypatch.setattr(host.shutil, "which", lambda name, path=None: f"/usr/bin/{name}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert host.mpi().ok


@pytest.mark.parametrize(
    ("siblings", "usable", "ok"),
    [(None, [0], False), ([[0], [1]], [0, 1], False), ([[0, 2], [1, 3]], [0, 1], False), ([[0, 2]], [0, 2], True)],
)
def test_smt_is_two_usable_threads_of_one_core(monkeypatch, siblings, usable, ok):
    monkeypatch.setattr(host, "smt_siblings", lambda: siblings)
    monkeypatch.setattr(host, "affinity_cpus", lambda: usable)
    assert host.smt().ok is ok


def test_the_report_puts_the_remedy_under_what_is_missing():
    text = host.report([Finding("A", True, "fine", "unused"), Finding("B", False, "gone", "fetch it", True)])
    assert text.splitlines() == ["ok      A: fine", "MISSING B: gone", "          → fetch it"]


def test_a_temporary_folder_that_python_passes_over_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "read-only"))
    found = host.scratch()
    assert not found.ok and f"TMPDIR = {str(tmp_path / 'read-only')!r} takes no files" in found.detail


def test_what_suffices(monkeypatch):
    for free, enough in ((2**31, True), (2**31 - 1, False)):
        monkeypatch.setattr(host, "available_memory", lambda free=free: free)
        assert host.memory().ok is enough


def test_a_link_to_the_temporary_folder_is_that_folder_and_memory_is_said(monkeypatch, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "link"))
    monkeypatch.setattr(host.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("supercomputers_rerun.kernels.files.filesystem.filesystem_type", lambda folder: "tmpfs")
    assert host.temporary() == ("TMPDIR", str(tmp_path)) and "memory and no disk" in host.scratch().detail
