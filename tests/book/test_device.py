"""The page that measures its reader's device: in Chromium and Firefox, from a folder and over HTTP, wide and narrow."""

import base64
import json
import re
import zlib
from pathlib import Path

import device_site
import firefox
import numpy as np
import pytest
from built import HTML, PAGES, absent, served
from drawing import contrast

from supercomputers_rerun.companion.chapters.nht1.solver import solver as step_times
from supercomputers_rerun.companion.chapters.nht1.solver import steps
from supercomputers_rerun.companion.chapters.p5plus import loops
from supercomputers_rerun.companion.figures import kit
from supercomputers_rerun.companion.pages import device as page
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.records import runs

ROOT = Path(__file__).resolve().parents[2]
BUILT = HTML / "_static" / "device"
#: Seconds of a measurement in a test: no time decides one.
SHORT = 4.0
RUN = """rerunDevice.SHORT = %f, document.querySelector("#rerun-device button").click()"""
DONE = """!document.querySelector("#rerun-device button").disabled
    && document.querySelector("#rerun-device [role=status]").textContent"""
STARS = """document.querySelectorAll("svg[data-panels] .rerun-star").length"""
PLACES = """[...document.querySelectorAll("figure.rerun-figure")].map((figure) => [figure.dataset.name,
    [...figure.querySelectorAll("svg[data-panels]")].map((svg) => svg.querySelectorAll(".rerun-star").length)])"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not PAGES:  # which makes the modules; like all tests of pages, these follow it
        absent("the book is not built, so the page of this device is not tested; run make book")
    solver = step_times(steps.runs())
    figures = [page.sustained(), page.bandwidth(), solver]
    return device_site.write(tmp_path_factory.mktemp("site"), "".join(each.html for each in figures))


class InChromium:
    """One page of Chromium with the words of ``firefox.Firefox``."""

    def __init__(self, browser, width, **options):
        self.context = browser.new_context(viewport={"width": width, "height": 844}, **options)
        self.page, self.heard = self.context.new_page(), []
        self.page.set_default_timeout(120_000)
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.heard.append(said.text))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.context.close()

    def goto(self, address):
        self.page.goto(address)

    def evaluate(self, expression):
        return self.page.evaluate(f"(async () => ({expression}))()")

    def until(self, expression, seconds=120):
        return self.page.wait_for_function(expression, timeout=1000 * seconds).json_value()

    def complaints(self):
        return self.heard


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def opened(request):
    """Opens a page at a width, in either browser."""
    if request.param == "firefox":
        if firefox.found() is None:
            pytest.skip("Firefox is not installed, so the page is not tested in it; install the package firefox-esr")
        return lambda width, **options: firefox.Firefox(width, 844, **options)
    browser = request.getfixturevalue("browser")

    def chromium(width, proxy=None):
        options = {"proxy": {"server": f"http://{proxy}", "bypass": "<-loopback>"}} if proxy else {}
        return InChromium(browser, width, **options)

    return chromium


def measured(tab, seconds=SHORT):
    """Press the button, and what the page says in the end."""
    tab.evaluate(f"({RUN % seconds})")
    return tab.until(DONE)


@pytest.mark.parametrize(("width", "theme", "way"), [(1280, "light", "file"), (390, "dark", "http")])
@pytest.mark.built
def test_the_button_measures_verifies_and_marks(call, opened, site, tmp_path, width, theme, way):
    with served(site) as address, opened(width) as tab:
        tab.goto(f"{address if way == 'http' else site.as_uri() + '/'}{theme}.html")
        assert tab.evaluate(STARS) == 0
        said = measured(tab)
        assert said.startswith("Measured and verified."), said
        results = tab.evaluate("rerunDevice.results")
        assert all(check["ok"] for each in results.values() for check in (*each["before"], *each["after"]))
        assert {name.partition("-")[0] for name in results} >= {"stride", "loop", "forecast"}
        taken = (r"loop-(s10|streaming|skipping)|bt-S", r"stride-.*", r"bt-.*")
        for (name, stars), pattern in zip(tab.evaluate(PLACES), taken, strict=True):
            count = sum(bool(re.fullmatch(pattern, each)) for each in results)
            assert count and stars == [count], (name, stars)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert tab.complaints() == []
        words = tab.evaluate("document.querySelector('figure details').textContent")
        assert "this device, in the browser, 128 bits" in words and "GFLOPS" in words
        record = tab.evaluate("rerunDevice.record(rerunDevice.results, false)")
    assert_a_record(call, record, results, tmp_path)


def assert_a_record(call, record, results, folder):
    """What is saved is a run record of kind browser, which and compares with itself."""
    assert runs.validate(record)["kind"] == "browser" and len(record["measurements"]) == len(results)
    path = runs.save(record, folder)
    code, out, _ = call("compare", path, path)
    assert code == 0 and "minima 1.000, medians 1.000" in out and "differs" not in out
    assert runs.unfit(record) == ["a browser measured it, and the records of the book are of native code"]


@pytest.mark.built
def test_marks_lie_where_the_axes_say(opened, site):
    """The place of a star, taken back through frame and ends of the axes, is the number that it stands for."""
    with opened(1280) as tab:
        tab.goto(site.as_uri() + "/light.html")
        result = {"name": "stride-65536-1", "label": "sum", "problem": {"nbytes": 65536, "stride": 1}}
        result |= {"unit": ["GB/s", 1e-6, True], "summary": {"least": 1e-8, "median": 2e-8, "interval": None}}
        result |= {"samples": [2e-8], "before": [], "after": [], "tick": 1e-6, "repeats": 1}
        solver = result | {"name": "bt-W", "problem": {"N": 24, "NS": 200}, "unit": ["GFLOPS", 3.0, True]}
        solver["summary"] = {"least": 0.1, "median": 0.5, "interval": None}
        given = json.dumps({"stride-65536-1": result, "bt-W": solver})
        tab.evaluate(f"(rerunDevice.results = {given}, rerunDevice.keep())")
        for name, x, y in (("p5plus_bandwidth", 65536, 50.0), ("nht1_solver", 24, 2.5), ("sustained_rate", 6.0, 4.2)):
            drawings = f"""document.querySelectorAll('[data-name="{name}"] svg[data-panels]')"""
            taken = """[svg.dataset.panels, svg.querySelector(".rerun-star").getAttribute("points")]"""
            found = tab.evaluate(f"[...{drawings}].map((svg) => {taken})")
            assert len(found) == 1
            for panels, points in found:
                panel, corners = (
                    json.loads(panels)[0],
                    np.array([list(map(float, pair.split(","))) for pair in points.split()]),
                )
                (cx, cy), (left, top, right, bottom) = corners.mean(axis=0), panel["box"]
                for axis, share, expected in (
                    ("x", (cx - left) / (right - left), x),
                    ("y", (bottom - cy) / (bottom - top), y),
                ):
                    ends = np.array(panel[axis]["ends"])
                    ends = np.log(ends) if panel[axis]["log"] else ends
                    value = ends[0] + share * (ends[1] - ends[0])
                    value = np.exp(value) if panel[axis]["log"] else value
                    assert value == pytest.approx(expected, rel=0.03), (name, axis)


@pytest.mark.built
def test_the_result_comes_first_and_scatter_is_said(browser, site):
    with InChromium(browser, 390) as tab:
        tab.goto(site.as_uri() + "/light.html")
        day = {"name": "forecast-63", "label": "forecast", "problem": {}, "unit": ["ms a day", 1e3, False]}
        day |= {"samples": [0.2], "before": [], "after": [], "tick": 1e-6, "repeats": 1}
        for most, doubtful in ((0.17, 0), (0.21, 1)):
            day["summary"] = {"least": 0.15, "median": 0.16, "most": most, "interval": None}
            tab.evaluate(f"(rerunDevice.results = {json.dumps({'forecast-63': day})}, rerunDevice.keep())")
            first = tab.evaluate("document.querySelector('#rerun-device .rerun-result').textContent")
            assert first == "A day of the small forecast took 0.16 s here."
            warned = "[...document.querySelectorAll('.rerun-warning')].map((each) => each.textContent)"
            assert len(found := tab.evaluate(warned)) == doubtful and all("150 to 210 ms" in text for text in found)


@pytest.mark.built
def test_a_chapter_measures_only_what_its_figure_takes(opened, site):
    with opened(390) as tab:
        tab.goto(site.as_uri() + "/chapter.html")
        assert tab.evaluate("typeof window.rerunDevice") == "undefined"  # nothing is loaded before somebody asks
        figure = """document.querySelector('[data-name="p5plus_bandwidth"]')"""
        tab.evaluate(f"{figure}.querySelector('button').click()")
        tab.until(f"{figure}.querySelector('[role=status]').textContent.includes('verified')")
        assert {name.partition("-")[0] for name in tab.evaluate("rerunDevice.results")} == {"stride"}
        assert tab.evaluate("Object.keys(rerunDevice.parts).sort()") == ["plan", "stride", "worker"]
        tab.goto(site.as_uri() + "/light.html")  # another page of the same tab has the marks at once
        if way_keeps(tab):
            tab.until(f"{STARS} == 3")  # three cases


def way_keeps(tab):
    """Whether this browser keeps the storage of a tab from one file to the next."""
    return tab.evaluate(
        """(() => { try { return Boolean(sessionStorage.getItem("rerun-device")); } catch { return false; } })()"""
    )


@pytest.mark.built
def test_stop_ends_it_and_another_run_is_possible(opened, site):
    with opened(390) as tab:
        tab.goto(site.as_uri() + "/light.html")
        tab.evaluate(f"({RUN % 60})")
        tab.until("!document.querySelector('progress').hidden && document.querySelector('progress').value > 0")
        tab.evaluate(
            "[...document.querySelectorAll('#rerun-device button')].find((each) => each.textContent === 'Stop').click()"
        )
        assert tab.until(DONE).startswith("Stopped.")
        assert tab.evaluate(STARS) == 0
        assert measured(tab).startswith("Measured and verified.")


@pytest.mark.built
def test_nothing_leaves_the_device(opened, site):
    """A proxy sees every request: from the press of the button on only files of the book, and nothing is sent."""
    with (
        served(site) as address,
        device_site.proxy() as (through, asked),
        opened(1280, proxy=through) as tab,
    ):
        tab.goto(address + "light.html")
        before = len(asked)
        assert measured(tab).startswith("Measured and verified.")
        during = asked[before:]
    mine = [each for each in during if each[1].startswith(address)]
    assert {each[1].removeprefix(address) for each in mine} == {
        f"device/{name}.js" for name in ("plan", "worker", "stride", "loops", "bt", "forecast")
    }
    assert all(method == "GET" and size == 0 and "?" not in path for method, path, size in mine)
    foreign = [each for each in during if each not in mine]
    assert all(re.search(r"//[\w.-]*(mozilla|firefox)\.(org|com|net)\b|mozilla", path) for _, path, _ in foreign), (
        foreign
    )


@pytest.mark.built
def test_the_keyboard_reaches_every_button_and_a_reader_hears_the_progress(browser, site):
    with InChromium(browser, 390) as tab:
        tab.goto(site.as_uri() + "/dark.html")
        tab.evaluate(f"(rerunDevice.SHORT = {SHORT}, 0)")
        tab.page.keyboard.press("Tab")
        focused = "document.activeElement.textContent"
        assert tab.evaluate(focused).startswith("Measure this device")
        tab.page.keyboard.press("Enter")
        assert tab.until(DONE).startswith("Measured and verified.")
        assert tab.evaluate("document.querySelector('progress').getAttribute('aria-label')")
        tables = "document.querySelectorAll('#rerun-device-tables .rerun-table[tabindex=\"0\"][aria-label]').length"
        assert tab.evaluate(tables) == 4  # one for each module
        marks = tab.evaluate("[...document.querySelectorAll('figure details li')].map((each) => each.textContent)")
        assert any("sum over 4 KB, stride 16" in text for text in marks)


@pytest.mark.parametrize(("theme", "background"), [("light", "#ffffff"), ("dark", "#14181e")])
@pytest.mark.built
def test_the_mark_is_seen_in_both_schemes(browser, site, theme, background):
    with InChromium(browser, 390) as tab:
        tab.goto(f"{site.as_uri()}/{theme}.html")
        star = tab.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--rerun-star').trim()")
    assert contrast(star, background) >= 4.5


@pytest.mark.built
def test_the_scripts_hold_what_was_built():
    if not BUILT.is_dir():
        absent("the book is not built, so its modules are not looked at; run make book")
    plan = _part("plan")
    assert re.fullmatch(r"[0-9a-f]{7,64}", plan["provenance"]["commit"])
    names = []
    for kernel in dict.fromkeys(case["kernel"] for case in plan["cases"]):
        part = _part(kernel)
        module = base64.b64decode(part["module"])
        assert module[:4] == b"\0asm" and zlib.crc32(module) == part["sum"]
        names += [case["name"] for case in part["cases"]]
    assert names == [case["name"] for case in plan["cases"]]
    worker = (BUILT / "worker.js").read_text(encoding="utf-8")
    assert worker.startswith((BUILT / "engine.js").read_text(encoding="utf-8"))
    total = sum(path.stat().st_size for path in BUILT.glob("*.js"))
    assert total < 1_000_000


def _part(name):
    text = (BUILT / f"{name}.js").read_text(encoding="utf-8")
    head = f'((window.rerunDevice ??= {{}}).parts ??= {{}})["{name}"] = '
    assert text.startswith(head) and text.endswith(";\n")
    return json.loads(text[len(head) : -2])


def test_every_figure_that_can_be_joined_has_a_rule():
    script = (ROOT / "book" / "_static" / "device" / "join.js").read_text(encoding="utf-8")
    assert set(re.findall(r"^    (\w+): \{ takes:", script, re.M)) == kit.JOINED
    kinds = synthesis.dots(synthesis.sustained_rate(), log=True, name="sustained_rate", title="t", seen="s")
    for table, shown in (("KINDS", kinds), ("LOOPS", loops.rates(loops.loops.runs()[:1]))):
        panels = re.search(r'data-panels="([^"]*)"', shown.html)[1].replace("&quot;", '"')
        known = json.loads(panels)[0]["y"]["named"]
        told = re.search(rf"const {table} = \{{(.*?)\}};", script, re.S)[1]
        assert 4 <= len(taken := re.findall(r': "([^"]+)"', told)) and set(taken) <= set(known), table


@pytest.mark.built
def test_the_built_page_measures(browser):
    if "book/device.html" not in PAGES:
        absent("the book is not built, so the page of this device is not tested; run make book")
    with InChromium(browser, 390) as tab:
        tab.goto((HTML / "book" / "device.html").as_uri())
        assert measured(tab).startswith("Measured and verified.")
        assert tab.evaluate(STARS) > 15
        assert tab.complaints() == []
        with tab.page.expect_download() as waiting:
            tab.page.locator('[data-name="p5plus_bandwidth"]').get_by_role("button", name="SVG").click()
        picture = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert 'class="rerun-star" fill="#a3006d"' in picture  # also where no style sheet is
    assert "Stars: this device, in the browser, 128 bits." in picture


def test_the_table_of_ways_is_whole():
    """Every case that the page shows, and no best below its median."""
    found = page.speeds().set_index("case")
    assert set(page.CASES) <= set(found.index)
    if BUILT.is_dir():
        assert set(found.index) >= {case["name"] for case in _part("plan")["cases"]}
    for way in page.WAYS:
        middle, best = found[f"{way}_median"].dropna(), found[f"{way}_best"].dropna()
        assert len(middle) and (middle > 0).all()
        rate = ~found.loc[middle.index, "unit"].str.startswith(("ns", "ms"))
        assert np.where(rate, best >= middle, best <= middle).all(), way
    shown = page.how_far()
    assert "Firefox" in shown.alt and "other programs kept" in shown.alt
