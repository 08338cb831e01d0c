"""axe-core on every built page, on a phone and on a desktop, light and dark: nothing serious or critical."""

import pytest
from built import PAGES, Visit

pytestmark = pytest.mark.built
WIDTHS = {"phone": 390, "desktop": 1400}
#: What would be looked at again and again is taken out: the inside of pictures, which is no text to a reader of their
#: descriptions (``test_browser.py`` looks at its contrast), and the later rows of tables, made like the first.  Then
#: colours that change slowly when the page opens come to rest.
PREPARED = """async () => {
    document.querySelectorAll('figure.rerun-figure svg').forEach(svg => svg.replaceChildren());
    document.querySelectorAll('table.rerun-data tbody tr:nth-child(n+12)').forEach(row => row.remove());
    await Promise.all(document.getAnimations().map(each => each.finished));
}"""
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def grave(answer) -> list[str]:
    """Each serious or critical violation with its rule, what breaks it, and where."""
    return [
        f"{one['impact']}: {one['id']} ({one['help']}): {len(one['nodes'])} times, first"
        f" {one['nodes'][0]['html'][:200]} {one['nodes'][0].get('failureSummary', '')[:300]}"
        for one in answer.response["violations"]
        if one["impact"] in GRAVE
    ]


def asked(device: str, scheme: str) -> dict:
    """Every rule on a desktop in the light and on a phone in the dark; elsewhere those that may answer differently.

    Contrast takes most of the time and does not depend on the width, the other rules do not on the colours.
    """
    known = {("desktop", "dark"): {"type": "rule", "values": ["color-contrast"]}}
    rules = {"color-contrast": {"enabled": False}} if (device, scheme) == ("phone", "light") else {}
    only = known.get((device, scheme))
    return {"resultTypes": ["violations"], "rules": rules, **({"runOnly": only} if only else {})}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_nothing_serious_stops_a_reader(browser, axe, address, path, device, scheme):
    with Visit(browser, address, path, WIDTHS[device], scheme) as visit:
        visit.page.evaluate(PREPARED)
        found = grave(axe.run(visit.page, options=asked(device, scheme)))
        assert not found, "\n".join(found)


def test_a_violation_is_seen(browser, axe):
    """The guard itself: a page with a nameless picture and pale ink is not let through."""
    page = browser.new_page()
    try:
        page.set_content('<html lang="en"><title>t</title><main><h1>T</h1><img src="x.png"><p style="color:#ddd">pale')
        rules = {line.split()[1] for line in grave(axe.run(page))}
        assert {"image-alt", "color-contrast"} <= rules
    finally:
        page.close()
