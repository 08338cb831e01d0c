"""The marks of a figure in a browser: under pointer and finger, from the keyboard, on a phone and in the dark."""

from pathlib import Path

import pytest
from drawing import contrast

from supercomputers_rerun.companion import figures

STATIC = Path(__file__).parents[2] / "book" / "_static"
COLOURS = {
    "light": ("#323232", "#48566b", "#f3f4f5", "#ffffff", "#0a5a8f"),
    "dark": ("#ced6dd", "#9ca4af", "#29313d", "#14181e", "#459db9"),
}
NAMES = ("text-base", "text-muted", "surface", "background", "primary")
SHOWN = "document.querySelector('.rerun-tip:not([hidden])')?.innerText.split('\\n')"


def site(scheme: str) -> str:
    figure, axis = figures.axes()
    figures.points(axis, [1, 2, 3], [10, 30, 20], label="Cray Y-MP, the Numerical Aerodynamic Simulation facility")
    axis.set(xlabel="processors", ylabel="rate [MFLOPS]", xlim=(1, 3))
    html = figures.show(figure, alt="Three points.", title="It rises and falls").html
    colours = ";".join(f"--pst-color-{name}: {value}" for name, value in zip(NAMES, COLOURS[scheme], strict=True))
    return (
        f'<!doctype html><html lang="en"><title>t</title><style>:root {{{colours}}} body {{ margin: 0; '
        "background: var(--pst-color-background); color: var(--pst-color-text-base) }"
        f"{(STATIC / 'rerun.css').read_text()}</style><main><h1>T</h1>{html}{html.replace('id=', 'data-id=')}"
        f"<p style='height: 100rem'></p></main><script>{(STATIC / 'marks.js').read_text()}</script>"
    )


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["desktop", "phone"])
def page(browser, request):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 780}, has_touch=width < 600)
    page = context.new_page()
    page.set_content(site(scheme))
    yield page
    context.close()


def inside(page) -> bool:
    return page.evaluate(
        "() => { const box = document.querySelector('.rerun-tip').getBoundingClientRect();"
        " return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight }"
    )


def test_the_keyboard_goes_from_mark_to_mark_and_a_figure_is_one_stop(page):
    stops, values = [], []
    page.keyboard.press("Tab")
    stops.append(page.evaluate("document.activeElement.className"))
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        values.append(page.evaluate(SHOWN)[0])
        assert inside(page)
        assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')").startswith(values[-1])
        page.keyboard.press(key)
    assert values == ["10 MFLOPS", "30 MFLOPS", "20 MFLOPS", "20 MFLOPS"]
    assert page.evaluate(SHOWN) == [
        "30 MFLOPS", "rate", "processors 2", "Cray Y-MP, the Numerical Aerodynamic Simulation facility",
        "from the report",
    ]  # fmt: skip
    page.keyboard.press("Escape")
    assert page.evaluate(SHOWN) is None
    page.keyboard.press("Tab")
    stops.append(page.evaluate("document.activeElement.className"))
    assert stops == ["rerun-walk"] * 2 and page.evaluate(SHOWN)[0] == "10 MFLOPS"


def test_pointer_and_finger_need_not_hit_a_mark(page):
    box = page.locator("[data-tells]").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2 + 12, box["y"] + box["height"] / 2 - 10
    page.touchscreen.tap(x, y) if page.viewport_size["width"] < 600 else page.mouse.move(x, y)
    assert page.evaluate(SHOWN)[0] == "30 MFLOPS" and inside(page)
    assert page.locator("svg title").count() == 0  # which would show a second time
    colours = page.evaluate(
        "() => [...document.querySelectorAll('.rerun-tip, .rerun-tip > *')].map(e =>"
        " [getComputedStyle(e).color, getComputedStyle(document.querySelector('.rerun-tip')).backgroundColor])"
    )
    assert all(contrast(*pair) >= 4.5 for pair in colours)
    page.mouse.click(3, 3)
    assert page.evaluate(SHOWN) is None
