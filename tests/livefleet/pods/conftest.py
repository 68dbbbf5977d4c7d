"""A namespace of a live cluster for each test, and the process that plays it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.pods import kubelet
from tests.livefleet.pods.stand import MANAGER, Stand
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube


@pytest.fixture
def stand(live_kube: Kube, live_state: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stand]:
    """A namespace of the test's own, with the files of a process for it."""
    namespace = f"live-{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]}"
    live_kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, manager=MANAGER)
    eventually(lambda: live_kube.list("v1", "ServiceAccount", namespace), "the service account")
    stand = Stand(live_kube, live_state, tmp_path / "state", namespace)
    try:
        yield stand
    finally:
        stand.clean()


@pytest.fixture
def no_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pod takes its cold start: none counts as one of the first."""
    monkeypatch.setattr(kubelet, "WARM_SECONDS", 0.0)
