"""Light pages: rules that cannot apply leave, data becomes files, the source becomes a zip."""

import base64
import re
import zipfile

import data_files
import lean
import pytest


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".a{x:1}", ".a{x:1}"),
        (".b{x:1}", ""),
        (".a,.b:hover{x:1}", ".a{x:1}"),
        (".a :is(.b, .c){x:1}", ".a :is(.b, .c){x:1}"),
        (".a:not(.b) p{x:1}", ".a:not(.b) p{x:1}"),
        ("#d .a{x:1}", ""),
        ("#top .a{x:1}", "#top .a{x:1}"),
        ('p > a[href$=".b"]{x:1}', 'p > a[href$=".b"]{x:1}'),
        ("@media print{.a{x:1}.b{x:1}}", "@media print{.a{x:1}}"),
        ("@media print{.b{x:1}}", ""),
        ("@font-face{font-family:Font Awesome}", ""),
        ("@font-face{font-family:Other}", "@font-face{font-family:Other}"),
        ("@keyframes k{from{x:1}}", "@keyframes k{from{x:1}}"),
        (":root{--x:1}", ":root{--x:1}"),
    ],
)
def test_rules_stay_where_they_can_apply(css, kept):
    assert lean.pruned(css, {"a", "top"}) == kept


def test_data_of_a_page_becomes_a_file_of_the_same_bytes(tmp_path):
    text = "a,b\n1,ü\n"
    packed = base64.b64encode(text.encode()).decode()
    body = f'<p><a download="my data.csv" href="data:text/csv;charset=utf-8;base64,{packed}">data</a></p>'
    out = lean.filed(body, tmp_path / "csv", "../_static/csv/")
    (file,) = (tmp_path / "csv").iterdir()
    assert file.read_bytes().decode() == text
    assert f'<a download="my data.csv" href="../_static/csv/{file.name}">data</a>' in out and "base64" not in out
    assert lean.filed(body, tmp_path / "csv", "../_static/csv/") == out


def test_no_two_files_of_a_page_are_saved_under_one_name(tmp_path):
    packed = [base64.b64encode(text).decode() for text in (b"a\n1\n", b"a\n2\n", b"a\n1\n")]
    body = "".join(f'<a download="t.csv" href="data:text/csv;charset=utf-8;base64,{each}">data</a>' for each in packed)
    out = lean.filed(body, tmp_path / "csv", "")
    assert re.findall(r'download="([^"]+)"', out) == ["t.csv", "t-2.csv", "t.csv"]


@pytest.mark.parametrize(
    ("name", "body", "stays"),
    [
        ("_static/design-tabs.js", "", False),
        ("_static/rerun.css", "", True),
        ("_static/doctools.js", "", True),
        ("_static/copybutton.js", '<div class="highlight">', True),
    ],
)
def test_a_page_loads_what_it_uses(name, body, stays):
    assert lean.used(name, body) is stays


def test_the_source_leaves_out_what_was_made(tmp_path):
    kept = {"Makefile", ".gitignore", ".ci/run", "kernels/a.py"}
    made = {".venv/bin/python", "kernels/__pycache__/a.pyc", "book/_build/html/index.html", ".cache/x"}
    for name in kept | made | {"x.egg-info/PKG", "book/.hidden/y", ".coverage.1"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".ci" / "run").chmod(0o755)
    found = {path.relative_to(tmp_path).as_posix() for path in data_files.sources(tmp_path)}
    assert found == kept
    for name in ("a.zip", "b.zip"):
        data_files.write_source(tmp_path, tmp_path.parent / name)
    first, second = ((tmp_path.parent / name).read_bytes() for name in ("a.zip", "b.zip"))
    assert first == second
    with zipfile.ZipFile(tmp_path.parent / "a.zip") as archive:
        assert archive.getinfo("supercomputers-rerun/.ci/run").external_attr >> 16 == 0o755
        assert archive.read("supercomputers-rerun/kernels/a.py") == b"kernels/a.py"
