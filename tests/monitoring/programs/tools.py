"""Programs for tests, built from pinned modules once per user: what the live fleet runs, and tools of the tests."""

import os
from pathlib import Path

import pytest

from livefleet.go_tools import Tool, ensure_built
from workbench.errors import WorkbenchError

TOOLS = Path(__file__).parents[2] / "tools"
"""Modules that only tests build."""
PROMTOOL = Tool("prometheus", ("github.com/prometheus/prometheus/cmd/promtool",), tags="remove_all_sd")


def built_or_skip(tool: Tool) -> dict[str, Path]:
    """Return the programs of ``tool``; only where they cannot be built are the tests that need them skipped."""
    try:
        return ensure_built(tool)
    except WorkbenchError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"{tool.module} cannot be built here: {error}")
