"""What a first visit to a page of the built book transfers."""

import pytest
from built import PAGES, served

weights = pytest.importorskip("weights")


@pytest.fixture(scope="module")
def packed():
    """Base address of the book as a server sends it, packed."""
    with served(weights.Handler) as base:
        yield base


@pytest.mark.parametrize("path", PAGES)
def test_a_first_visit_is_light(browser, packed, path):
    weight, _ = weights.visit(browser, packed, path, slow=False)
    assert len(weights.sent(weights.HTML / path)[0]) < weight <= weights.WEIGHT
