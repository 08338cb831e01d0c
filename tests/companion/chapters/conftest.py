"""What tests of several chapters take."""

import pytest

from companion.figures import beside


@pytest.fixture
def alone():
    """Figures as they are without the other machines on their axes."""
    with beside.alone():
        yield
