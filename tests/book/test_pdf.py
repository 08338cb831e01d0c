"""The book as one page for the printer."""

import find
import paper
import pdf
import pytest

CONTENTS = (
    '<nav class="bd-links"><a class="reference internal" href="../notebooks/01_a.html">A</a>'
    '<a class="reference internal" href="records/01_a.html">Behind A</a></nav>'
)
FRONT = (
    f'<html><body>{CONTENTS}<article class="bd-article"><section id="top"><h1>Front</h1><p class="rerun-pdf"></p>'
    '<a href="../notebooks/01_a.html#top">to A</a><a href="../_static/x.csv">data</a></section></article></body></html>'
)
CHAPTER = (
    '<html><body><article class="bd-article"><section id="top"><h1>A</h1><script>1</script>'
    '<details><summary>more</summary>folded</details><details class="rerun-fold">small run</details>'
    '<svg><defs><path id="p"/></defs>'
    '<use href="#p" clip-path="url(#p)"/></svg><a href="#top">up</a></section></article></body></html>'
)


@pytest.fixture
def html(tmp_path):
    behind = CHAPTER.replace("<h1>A", "<h1>Behind A")
    for name, text in (
        ("book/index.html", FRONT),
        ("notebooks/01_a.html", CHAPTER),
        ("book/records/01_a.html", behind),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "_static").mkdir()
    return tmp_path


def test_pages_follow_the_contents_and_links_lead_within_the_book(html):
    assert pdf.order(html) == ["book/index.html", "notebooks/01_a.html"]
    text = pdf.whole(html)
    assert 'id="book-index--top"' in text and 'id="notebooks-01-a--top"' in text
    assert 'href="#notebooks-01-a--top">to A' in text and "<a>data</a>" in text
    assert 'clip-path="url(#notebooks-01-a--p)"' in text and 'href="#notebooks-01-a--p"' in text
    assert '<details open="">' in text and "<script>" not in text and "rerun-pdf" not in text
    assert "small run" not in text and "small run" in pdf.article(CHAPTER, "notebooks/01_a.html", [])


def test_the_records_are_a_file_of_their_own(html):
    assert pdf.order(html, pdf.RECORDS) == ["book/records/01_a.html"]
    assert "Behind A" in pdf.whole(html, pdf.RECORDS) and "Behind A" not in pdf.whole(html)


def test_the_contents_name_the_sheets_of_the_headings(html):
    text = pdf.whole(html, sheets={"notebooks-01-a--heading-0": 7})
    assert '<a href="#notebooks-01-a--heading-0"><span>A</span> <span>7</span></a>' in text
    assert text.index("Front</h1>") < text.index("Contents</h1>") < text.index("A</h1>")


def test_without_chromium_it_says_so(monkeypatch):
    monkeypatch.setattr(pdf.chromium, "executable", lambda: None)
    assert "Chromium" in pdf.lacking()


def test_a_page_that_changed_is_printed_again(html):
    before = paper.digest(html)
    front = html / "book" / "index.html"
    front.write_text(FRONT.replace('<p class="rerun-pdf"></p>', '<p class="rerun-pdf">a link</p>'))
    assert paper.digest(html) == before
    front.write_text(FRONT.replace("Front", "Other"))
    assert paper.digest(html) != before


def test_the_text_of_a_page_keeps_its_sections(html):
    text = find.text_of(CHAPTER)
    assert text.startswith('<div role="main"><section id="top">') and "folded" in text
    assert "path" not in find.text_of(CHAPTER) and find.text_of("<p>none</p>") == ""


def test_the_outline_gets_the_words_of_the_headings(tmp_path):
    import pikepdf

    path, (first, *rest) = tmp_path / "x.pdf", ["A long title", "Part", "B"]
    with pikepdf.new() as document:
        document.add_blank_page()
        with document.open_outline() as outline:
            one = pikepdf.OutlineItem("Along title", 0)
            one.children.append(pikepdf.OutlineItem("PartPart", 0))
            outline.root.extend([one, pikepdf.OutlineItem("B", 0)])
        document.save(path)
    with pytest.raises(ValueError, match="3 entries for 1 headings"):
        pdf.mended(path, [first])
    pdf.mended(path, [first, *rest])
    with pikepdf.open(path) as document, document.open_outline() as outline:
        assert [item.title for item in outline.root] == [first, "B"]
        assert outline.root[0].children[0].title == "Part"


def test_headings_are_those_of_the_pages_in_order(html):
    assert pdf.headings(pdf.whole(html)) == ["Front", "Contents", "A"]
