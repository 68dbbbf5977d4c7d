"""One account of the pretended AWS for each module."""

from collections.abc import Iterator

import pytest

from tests.clouds.aws.moto.moto_cloud import MotoCloud
from tests.clouds.aws.moto.program import REGION


@pytest.fixture(scope="module")
def account() -> Iterator[MotoCloud]:
    """One account for all: with the policies that AWS keeps, each takes a second."""
    with MotoCloud(REGION) as made:
        yield made


@pytest.fixture
def cloud(account: MotoCloud) -> Iterator[MotoCloud]:
    """That account, empty before and after."""
    account.problems.clear()
    account.unsupported.clear()
    yield account
    assert account.destroy() == []
