"""Updates that the plan says never finish, under the real scheduler and the controller of Deployments."""

import time
from typing import Any

import pytest

from components.clouds.aws.nodes.checks import check_nodes
from components.clouds.aws.nodes.plan import NodeGroupPlan, node_plan
from components.contract.findings.ids import RuleId
from components.fleet.nodes.policy import TypePolicy
from components.fleet.rendered import Fleet
from tests.clouds.aws.environments import environment, flavor
from tests.cluster.models.test_node_groups import make_nodes
from tests.cluster.waiting import Json, eventually
from tests.fleets import errors, fleet_of, open_model, runner, service
from toolkit.kube import Kube

TYPE = "g5.xlarge"
REPLICAS = 2
WAIT = 8.0
"""Seconds in which a rollout that can go on goes on: kwok's pods are ready about a second after they are bound."""
MANAGER = "test-rollouts"


def served(bounds: dict[str, Any], namespace: str, tag: str = "v1") -> Fleet:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
    container = runner(resources=resources, image=f"example.com/engine:{tag}")
    document = service(
        replicas=REPLICAS,
        workloadTemplate={"workerTemplate": {"spec": {"containers": [container]}}},
        rolloutStrategy={"rollingUpdateConfiguration": bounds},
    )
    fleet = fleet_of(open_model(flavors=[flavor(TYPE)]), document, namespace=namespace)
    assert not errors(fleet), errors(fleet)
    return fleet


def reported(fleet: Fleet, nodes: int) -> tuple[bool, tuple[NodeGroupPlan, ...]]:
    """Whether the plan says that updates never finish, and the node groups."""
    where = environment(types={TYPE: TypePolicy(max_nodes=nodes)})
    groups = node_plan(fleet, where)
    return any(each.rule is RuleId.ROLLOUT_STUCK for each in check_nodes(fleet, groups, where)), groups


def deployment(fleet: Fleet) -> Json:
    ((_, workload),) = fleet.workloads
    body: Json = workload.body
    # Only placing is tried here: no volume is provisioned, and no image runs.
    pod = body["spec"]["template"]["spec"]
    for volume in pod.get("volumes", ()):
        if volume.pop("persistentVolumeClaim", None):
            volume["emptyDir"] = {}
    pod.pop("initContainers", None)
    pod.pop("serviceAccountName", None)
    return body


def finished(kube: Kube, body: Json) -> bool:
    name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
    live = kube.get("apps/v1", "Deployment", name, namespace)
    status = live.get("status", {})
    return bool(
        status.get("observedGeneration", 0) >= live["metadata"]["generation"]
        and status.get("updatedReplicas", 0) == REPLICAS
        and status.get("availableReplicas", 0) == REPLICAS
        and status.get("replicas", 0) == REPLICAS
    )


def waits(kube: Kube, namespace: str) -> bool:
    """Whether a pod has no node, as the scheduler says."""
    pods = kube.list("v1", "Pod", namespace=namespace)
    conditions = [c for pod in pods for c in pod.get("status", {}).get("conditions") or []]
    return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in conditions)


def remove_nodes(kube: Kube) -> None:
    for node in kube.list("v1", "Node"):
        if node["metadata"]["name"].startswith("groups-"):
            kube.delete("v1", "Node", node["metadata"]["name"])


@pytest.mark.parametrize(
    ("bounds", "nodes", "finishes"),
    [
        ({"maxSurge": 1, "maxUnavailable": 0}, 2, False),
        ({"maxSurge": "25%", "maxUnavailable": "25%"}, 2, False),
        ({"maxSurge": 1, "maxUnavailable": 1}, 2, True),
        ({"maxSurge": 1, "maxUnavailable": 0}, 3, True),
    ],
    ids=["new-first", "a-quarter-of-two", "old-first", "one-node-more"],
)
def test_an_update_finishes(
    kube: Kube, namespace: str, bounds: dict[str, Any], nodes: int, *, finishes: bool
) -> None:
    stuck, groups = reported(served(bounds, namespace), nodes)
    assert stuck is not finishes
    remove_nodes(kube)
    make_nodes(kube, groups)
    try:
        before, after = (deployment(served(bounds, namespace, tag)) for tag in ("v1", "v2"))
        kube.apply(before, manager=MANAGER)
        eventually(lambda: finished(kube, before), "the first version runs")
        kube.apply(after, manager=MANAGER)
        if finishes:
            eventually(lambda: finished(kube, after), "the update finishes")
            return
        eventually(lambda: waits(kube, namespace), "the new pod waits for a node")
        time.sleep(WAIT)
        assert not finished(kube, after)
        live = kube.get("apps/v1", "Deployment", after["metadata"]["name"], namespace)
        assert live["status"]["availableReplicas"] == REPLICAS  # the old ones keep serving

        # The setting that the finding names lets the same update finish.
        named = deployment(served({**bounds, "maxUnavailable": 1}, namespace, "v2"))
        assert not reported(served({**bounds, "maxUnavailable": 1}, namespace), nodes)[0]
        kube.apply(named, manager=MANAGER)
        eventually(lambda: finished(kube, named), "the update finishes with maxUnavailable 1")
    finally:
        kube.delete("apps/v1", "Deployment", before["metadata"]["name"], namespace)
        eventually(lambda: not kube.list("v1", "Pod", namespace=namespace), "no pods left")
        remove_nodes(kube)
