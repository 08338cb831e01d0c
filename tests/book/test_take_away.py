"""The source that the book offers is a zip without what was made."""

import zipfile

import take_away


def test_the_source_leaves_out_what_was_made(tmp_path):
    kept = {"Makefile", ".gitignore", ".ci/run", "kernels/a.py"}
    made = {".venv/bin/python", "kernels/__pycache__/a.pyc", "book/_build/html/index.html", ".cache/x"}
    for name in kept | made | {"x.egg-info/PKG", "book/.hidden/y", ".coverage.1"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert {path.relative_to(tmp_path).as_posix() for path in take_away.sources(tmp_path)} == kept
    take_away.write_source(tmp_path, tmp_path.parent / "a.zip")
    with zipfile.ZipFile(tmp_path.parent / "a.zip") as archive:
        assert archive.read("supercomputers-rerun/kernels/a.py") == b"kernels/a.py"
