"""What the tests of built pages share."""

import pytest
from built import served


@pytest.fixture(scope="session")
def address():
    """Base address of the built book; skipped, or failed where it is required, without one."""
    with served() as base:
        yield base
