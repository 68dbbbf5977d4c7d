"""Fixtures of the workflows' tests."""

from collections.abc import Iterator

import pytest

from tests.workflows.hosts import Host, hosting


@pytest.fixture
def host() -> Iterator[Host]:
    with hosting() as host:
        yield host
