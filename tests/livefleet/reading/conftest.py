"""The live fleet of the shipped local stack, read once."""

from pathlib import Path

import pytest

from livefleet.fleet import LiveFleet
from workbench.deploying.starting import read_fleet

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def fleet() -> LiveFleet:
    """What is played of the local stack."""
    found = read_fleet(ROOT, "local")
    assert found is not None
    return found
