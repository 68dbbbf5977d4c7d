"""kwok's stages while the live fleet plays, and which kwok plays when."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from livefleet.kwok_stages import live_stages
from tests.monitoring.programs.daemon import eventually
from toolkit.errors import UserError
from toolkit.kube import Kube
from workbench.cluster.binaries import Programs
from workbench.cluster.cluster import SimulatedCluster

STAGES = Path(__file__).parents[3] / "workbench/cluster/stages.yaml"


def stages(text: str) -> dict[str, Any]:
    return {each["metadata"]["name"]: each for each in yaml.safe_load_all(text)}


def test_all_but_two_stages_are_kwoks_own(programs: Programs) -> None:
    """Of the stages that are kept here, and of those of the program that is used."""
    for text in (STAGES.read_text(), programs.stages.read_text()):
        usual, live = stages(text), stages(live_stages(text))
        changed = {name for name, stage in usual.items() if live[name] != stage}
        assert (changed, live.keys()) == ({"pod-ready", "node-initialize"}, usual.keys())


@pytest.mark.parametrize("lost", ["pod-ready", "ContainersReady", "ready: true", "node-initialize"])
def test_unknown_stages_are_refused(lost: str) -> None:
    with pytest.raises(UserError, match="are not those of the pinned version"):
        live_stages(STAGES.read_text().replace(lost, "other"))


def node(name: str) -> dict[str, Any]:
    meta = {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta}


def is_ready(kube: Kube, name: str) -> bool:
    conditions = kube.get("v1", "Node", name).get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def test_kwok_alone_is_started_anew_when_its_stages_change(tmp_path: Path, programs: Programs) -> None:
    cluster = SimulatedCluster(tmp_path)

    def started(live: bool | None) -> tuple[str, ...]:
        return cluster.start(lambda _: programs, live=live).started

    try:
        assert len(started(None)) == 5
        with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
            kube.apply(node("usual"), manager="test")
            eventually(lambda: is_ready(kube, "usual"), "a Ready node")
            assert started(True) == ("kwok",)
            assert started(True) == ()
            assert started(None) == ()  # `workbench cluster start` leaves it as it is
            kube.apply(node("unseen"), manager="test")
            kube.apply(node("seen"), manager="test")
            patch = {"metadata": {"annotations": {"workbench/node": "there"}}}
            path = kube.path("v1", "Node", "seen")
            kube.request("PATCH", path, body=patch, content_type="application/merge-patch+json")
            eventually(lambda: is_ready(kube, "seen"), "a Ready node")
            assert not is_ready(kube, "unseen")
            assert started(False) == ("kwok",)
            eventually(lambda: is_ready(kube, "unseen"), "a Ready node")
            assert started(True) == ("kwok",)
        cluster.stop()
        assert len(started(None)) == 5
        assert not (tmp_path / "cluster/kwok.live").exists()
    finally:
        cluster.stop()
