"""All figures of a chapter as one download."""

import zipfile
from xml.etree import ElementTree

import lecture

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><path stroke="currentColor" d="M0 0L4 3"/></svg>'


def figure(name, caption="What to see in <em>it</em> &amp; more."):
    number = '<span class="rerun-number">Figure 3.1. </span><strong>Rates, then and now.</strong>'
    link = '<a download="a.csv" href="x.csv">data as CSV</a> · <a href="x.html">all numbers</a>'
    link += '<details class="rerun-checked"><summary>checked: 3 cases</summary><p>All.</p></details>'
    return (
        f'<figure id="fig-a" class="rerun-figure" data-name="{name}" style="margin: 0">{SVG}\n'
        f'<figcaption style="x">{number} {caption} {link}</figcaption></figure>'
    )


def test_a_slide_has_number_title_drawing_and_caption_without_links():
    (one,) = lecture.slides(f"<p>before</p>{figure('rates')}<svg></svg>")
    assert one.name == "rates" and one.title == "Figure 3.1. Rates, then and now"
    assert one.caption == "What to see in it & more."
    assert "currentColor" not in one.svg and ElementTree.fromstring(one.svg).tag.endswith("svg")


def test_the_zip_has_every_figure_once_and_the_slides_ask_for_no_file(tmp_path):
    found = lecture.slides(figure("a") + figure("b") + figure("a"))
    lecture.pack(tmp_path / "x" / "03_nht1.zip", "NHT-1 <1993>", "After a report & more.", found)
    with zipfile.ZipFile(tmp_path / "x" / "03_nht1.zip") as archive:
        assert sorted(archive.namelist()) == [
            *(f"03_nht1/figures/{name}.svg" for name in ("a-2", "a", "b")),
            "03_nht1/slides.html",
        ]
        page = archive.read("03_nht1/slides.html").decode()
    assert page.count("<section>") == page.count("<svg") == 3
    assert "<title>NHT-1 &lt;1993&gt;</title>" in page and page.count("After a report &amp; more.") == 3
    assert "src=" not in page and "href=" not in page and "url(" not in page and "<script" not in page


def test_equal_figures_make_equal_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        lecture.pack(tmp_path / name / "c.zip", "t", "s", lecture.slides(figure("rates")))
    assert (tmp_path / "a" / "c.zip").read_bytes() == (tmp_path / "b" / "c.zip").read_bytes()
