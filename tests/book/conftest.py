"""What the tests of built pages share."""

import pytest
from built import HTML, PAGES, absent, served


@pytest.fixture(scope="session")
def address():
    """Base address of the built book; skipped, or failed where it is required, without one."""
    if not PAGES:
        absent("the book is not built, so no page of it is tested; run make book")
    with served(HTML) as base:
        yield base
