"""Stacks to try the engine on."""

from pathlib import Path

import pytest

from tests.engine.support import Stack
from workbench.cluster.cluster import Running
from workbench.engine.local import RunOptions


@pytest.fixture
def offline(tmp_path: Path) -> Stack:
    """A stack that reaches no cluster: its plans come from the state alone."""
    stack = Stack(tmp_path, tmp_path / "absent")
    stack.options = RunOptions(offline=True)
    return stack


@pytest.fixture
def live(cluster: Running, tmp_path: Path) -> Stack:
    """A stack on the simulated cluster."""
    return Stack(tmp_path, cluster.kubeconfig)


@pytest.fixture
def namespace(live: Stack) -> str:
    """The name of a namespace that the tests' programs create."""
    return "eng-" + live.folder.name.replace("_", "-").lower()[-40:].strip("-")
