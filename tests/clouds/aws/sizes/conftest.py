"""Where and when environments are registered."""

import datetime

import pytest

from tests.clouds.aws.sizes.edits import SetClock
from tests.stacks.shipped import ROOT


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project's folder, by a clock that tests set, without anything of AWS in the environment."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datetime, "datetime", SetClock)
