"""``workbench up`` with the Kthena samples: pods on their nodes, then nothing to change, then nothing left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.fleet.demand import INSTANCE_TYPE_LABEL
from tests.cluster.models.test_kthena_samples import SAMPLES, WHERE, play, role_of
from tests.cluster.waiting import eventually
from tests.fleet.test_on_cluster import usable
from tests.stacks.shipped import ROOT
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.cluster.gateway import gateway_objects

NAMESPACE = "kthena-up"
DEFINITIONS = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")

OF_THE_CLUSTER = {each["metadata"]["name"] for each in gateway_objects() if each["kind"] == DEFINITIONS[1]}


@pytest.fixture
def project(tmp_path: Path, kube: Kube) -> Iterator[Path]:
    """The project's own program, with the samples of one family in a namespace of their own."""
    for name in ("Pulumi.yaml", "__main__.py"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    config = {
        "kubeconfig": "absent",
        "models": [str(path) for path in SAMPLES],
        "namespace": NAMESPACE,
        "simulatedNodes": True,
        "customResources": True,
    }
    keys = {f"inference-platform:{key}": value for key, value in config.items()}
    (tmp_path / "Pulumi.kthena.yaml").write_text(yaml.safe_dump({"config": keys}))
    # Tests before this one may have left the same kinds; here the stack makes them.
    for name in definitions(kube):
        kube.delete(*DEFINITIONS, name)
    eventually(lambda: not definitions(kube), "no definitions of before")
    yield tmp_path
    kube.forget()


def definitions(kube: Kube) -> set[str]:
    """The definitions but those that the cluster itself brings."""
    return {each["metadata"]["name"] for each in kube.list(*DEFINITIONS)} - OF_THE_CLUSTER


def workbench(project: Path, cluster: Running, verb: str) -> str:
    command = [sys.executable, "-m", "workbench", verb, "--stack", "kthena", "--engine", "local", "--yes"]
    where = ["--cwd", str(project), "--kubeconfig", str(cluster.kubeconfig)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "KUBECONFIG": ""}
    done = subprocess.run(
        [*command, *where], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_up_twice_and_destroy(project: Path, cluster: Running, kube: Kube) -> None:
    before = {node["metadata"]["name"] for node in kube.list("v1", "Node")}
    workbench(project, cluster, "up")
    kube.forget()
    assert "podgroups.scheduling.volcano.sh" in definitions(kube)
    eventually(lambda: all(usable(node) for node in kube.list("v1", "Node")), "nodes are ready")
    play(kube, NAMESPACE)

    def placed() -> bool:
        return all(pod["status"].get("phase") == "Running" for pod in kube.list("v1", "Pod", NAMESPACE))

    eventually(placed, "all pods run")
    nodes = {node["metadata"]["name"]: node for node in kube.list("v1", "Node")}
    pods = kube.list("v1", "Pod", NAMESPACE)
    assert len(pods) == sum(sum(types.values()) for types in WHERE.values())
    for pod in pods:
        labels = nodes[pod["spec"]["nodeName"]]["metadata"]["labels"]
        assert labels[INSTANCE_TYPE_LABEL] in WHERE[role_of(pod)]
    assert "no changes" in workbench(project, cluster, "up")
    # Their controllers delete the pods with the groups. Pods that outlive their nodes wait minutes for the collector.
    for pod in pods:
        kube.delete("v1", "Pod", pod["metadata"]["name"], NAMESPACE)
    eventually(lambda: not kube.list("v1", "Pod", NAMESPACE), "the pods are gone")
    workbench(project, cluster, "destroy")
    assert NAMESPACE not in {each["metadata"]["name"] for each in kube.list("v1", "Namespace")}
    assert {node["metadata"]["name"] for node in kube.list("v1", "Node")} == before
    assert definitions(kube) == set()
