"""axe-core on every built page, on a phone and on a desktop, light and dark: nothing serious or critical."""

import pytest
from built import PAGES, Visit

WIDTHS = {"phone": 390, "desktop": 1400}
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_nothing_serious_stops_a_reader(browser, axe, address, path, device, scheme):
    with Visit(browser, address, path, WIDTHS[device], scheme) as visit:
        found = grave(axe.run(visit.page, options={"resultTypes": ["violations"]}))
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
