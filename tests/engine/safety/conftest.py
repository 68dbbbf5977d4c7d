"""Stacks on a stand-in for an API server."""

from pathlib import Path

import pytest

from tests.engine.safety.standin import StandIn
from tests.engine.support import Stack
from workbench.engine.local import RunOptions

KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """An empty cluster; every client of this test talks to it."""
    made = StandIn()
    monkeypatch.setattr("toolkit.kube.client.Transport", made)
    return made


@pytest.fixture
def stack(server: StandIn, tmp_path: Path) -> Stack:
    """A stack on that cluster."""
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    made = Stack(tmp_path, path)
    made.options = RunOptions(wait=False)
    return made
