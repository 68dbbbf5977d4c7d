"""A family that renders a StatefulSet, previewed and deployed: pods with names and volumes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.fleet.shelf import shelf
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]
PROGRAM = """
from stacks.environment import deploy
from stacks.settings import read
from tests.fleet.shelf import registered

with registered():
    deploy(read())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose program registers the family, with a Shelf of two pods."""
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (tmp_path / "__main__.py").write_text(PROGRAM)
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(shelf(replicas=2, most=3)))
    config = {"kubeconfig": "absent", "models": ["models.yaml"], "namespace": "shelves", "simulatedNodes": True}
    keys = {f"inference-platform:{key}": value for key, value in config.items()}
    (tmp_path / "Pulumi.shelf.yaml").write_text(yaml.safe_dump({"config": keys}))
    return tmp_path


def workbench(project: Path, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "workbench", verb, "--stack", "shelf", "--engine", "local", "--cwd", str(project)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)} | {"KUBECONFIG": ""}
    return subprocess.run(
        [*line, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def test_preview(project: Path) -> None:
    done = workbench(project, "preview", "--offline")
    assert done.returncode == 0, done.stderr
    assert "StatefulSet" in done.stdout


def test_up_and_destroy_on_the_simulated_cluster(project: Path, cluster: Running) -> None:
    here = ("--kubeconfig", str(cluster.kubeconfig), "--yes")
    up = workbench(project, "up", *here)
    again = workbench(project, "up", *here)
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        pods = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in kube.list("v1", "Pod", "shelves")}
        volumes = {claim["metadata"]["name"] for claim in kube.list("v1", "PersistentVolumeClaim", "shelves")}
        (scaler,) = kube.list("autoscaling/v2", "HorizontalPodAutoscaler", "shelves")
        outputs = workbench(project, "outputs", "--output", "json")
        down = workbench(project, "destroy", *here)
        left = [n["metadata"]["name"] for n in kube.list("v1", "Namespace") if n["metadata"]["name"] == "shelves"]
    assert [done.returncode for done in (up, again, outputs, down)] == [0] * 4, up.stderr + again.stderr + down.stderr
    assert "StatefulSet/books" in up.stdout + up.stderr
    assert "0 changes" in again.stdout
    # An autoscaler owns the replicas, and the API server starts a set without any with one.
    assert set(pods) <= {"books-0", "books-1"}
    assert "books-0" in pods
    assert all(node.startswith("g5-2xlarge-") for node in pods.values())
    assert volumes == {f"weights-{pod}" for pod in pods}
    assert scaler["spec"]["scaleTargetRef"]["kind"] == "StatefulSet"
    model = json.loads(outputs.stdout)["models"]["books"]
    assert (model["workloadKind"], model["workload"]) == ("StatefulSet", "books")
    assert left == []
