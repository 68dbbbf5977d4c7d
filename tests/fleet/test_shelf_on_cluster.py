"""A family that renders a StatefulSet, previewed and deployed: pods with names and volumes of their own."""

import json
from pathlib import Path

import pytest
import yaml

from tests.families.program import Project, new_project
from tests.fleet.shelf import shelf
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a Shelf of two pods."""
    return new_project(
        tmp_path, "shelf", "tests.fleet.shelf", yaml.safe_dump(shelf(replicas=2, most=3)), namespace="shelves"
    )


def test_preview(project: Project) -> None:
    done = project.workbench("preview", "--offline")
    assert done.returncode == 0, done.stderr
    assert "StatefulSet" in done.stdout


def test_up_and_destroy_on_the_simulated_cluster(project: Project, cluster: Running) -> None:
    here = ("--kubeconfig", str(cluster.kubeconfig), "--yes")
    up = project.workbench("up", *here, "--details")
    again = project.workbench("up", *here)
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        pods = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in kube.list("v1", "Pod", "shelves")}
        volumes = {claim["metadata"]["name"] for claim in kube.list("v1", "PersistentVolumeClaim", "shelves")}
        (scaler,) = kube.list("autoscaling/v2", "HorizontalPodAutoscaler", "shelves")
        outputs = project.workbench("outputs", "--output", "json")
        down = project.workbench("destroy", *here)
        left = [n["metadata"]["name"] for n in kube.list("v1", "Namespace") if n["metadata"]["name"] == "shelves"]
    assert [done.returncode for done in (up, again, outputs, down)] == [0] * 4, up.stderr + again.stderr + down.stderr
    assert "StatefulSet/books" in up.stdout + up.stderr
    assert "no changes" in again.stdout
    # An autoscaler owns the replicas, and the API server starts a set without any with one.
    assert set(pods) <= {"books-0", "books-1"}
    assert "books-0" in pods
    assert all(node.startswith("g5-2xlarge-") for node in pods.values())
    assert volumes == {f"weights-{pod}" for pod in pods}
    assert scaler["spec"]["scaleTargetRef"]["kind"] == "StatefulSet"
    model = json.loads(outputs.stdout)["models"]["books"]
    assert (model["workloadKind"], model["workload"]) == ("StatefulSet", "books")
    assert left == []
