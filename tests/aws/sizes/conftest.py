"""Where and when environments are registered."""

import datetime

import pytest

from tests.stacks.shipped import ROOT, Clock


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project's folder, at a fixed moment, without anything of AWS in the environment."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datetime, "datetime", Clock)
