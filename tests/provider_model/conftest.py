"""The moment at which stacks are planned."""

from collections.abc import Iterator

import pytest

from tests.stacks.shipped import Clock


@pytest.fixture(autouse=True, scope="session")
def still() -> Iterator[None]:
    """Plan at a fixed moment: prices, versions and reservations have dates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datetime.datetime", Clock)
        yield
