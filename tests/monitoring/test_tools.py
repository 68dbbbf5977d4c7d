"""Tests that need built programs are skipped where those cannot be had, unless they are required."""

from pathlib import Path

import pytest

from livefleet.go_tools import Tool
from tests.monitoring.programs import tools
from workbench.errors import WorkbenchError


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", WorkbenchError)])
def test_what_cannot_be_built_skips_unless_it_is_required(
    monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    def fails(tool: Tool) -> dict[str, Path]:
        raise WorkbenchError("no Go here")

    monkeypatch.setattr(tools, "ensure_built", fails)
    monkeypatch.setenv("INFERENCE_PLATFORM_REQUIRE_CLUSTER", required)
    with pytest.raises(outcome, match="no Go here"):
        tools.built_or_skip(Tool("hello", ("example.org/hello",)))
