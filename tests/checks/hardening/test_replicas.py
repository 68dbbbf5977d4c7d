"""Drains take one replica at a time, replicas prefer different zones, and pods have a priority."""

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import Priority
from components.checks.hardening.workloads import harden, priority_classes
from tests.checks.hardening.hardened import ELASTIC, TWO_NODES, Object, hardened, kinds, model, rendered
from tests.fleets import open_model, playground

DEPLOYMENT_LABELS = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": "p"}


def test_a_drain_takes_one_replica_at_a_time() -> None:
    made = harden(model(spec={"replicas": 2}), Hardening(disruption_budgets=True)).objects
    assert made[-1] == {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": DEPLOYMENT_LABELS},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
    kubernetes_validate.validate(made[-1], "1.36", strict=True)


def test_of_a_group_all_pods_count() -> None:
    """Losing a worker restarts the group, as losing its leader does."""
    item = rendered(open_model(flavors=TWO_NODES), playground(replicas=2))
    budget = harden(item, Hardening(disruption_budgets=True)).objects[-1]
    assert budget["spec"]["selector"]["matchLabels"] == {"leaderworkerset.sigs.k8s.io/name": "p"}


@pytest.mark.parametrize(
    ("spec", "replicated"), [({}, False), ({"replicas": 0}, False), ({"replicas": 2}, True), (ELASTIC, True)]
)
def test_what_is_never_more_than_one_has_neither_budget_nor_spread(spec: Object, replicated: bool) -> None:
    made = harden(model(spec=spec), Hardening(disruption_budgets=True, topology_spread=True))
    assert ("PodDisruptionBudget" in kinds(made)) is replicated
    assert ("topologySpreadConstraints" in made.objects[0]["spec"]["template"]["spec"]) is replicated


def test_replicas_prefer_different_zones() -> None:
    spec = hardened(model(spec={"replicas": 2}), Hardening(topology_spread=True))
    assert spec["topologySpreadConstraints"] == [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": DEPLOYMENT_LABELS},
        }
    ]


def test_a_group_stays_together() -> None:
    """Spreading is for replicas; the pods of one group want to be near each other."""
    item = rendered(open_model(flavors=TWO_NODES), playground(replicas=2))
    assert "topologySpreadConstraints" not in str(harden(item, Hardening(topology_spread=True)).objects)


def test_priority_classes() -> None:
    found = {body["metadata"]["name"]: body for body in priority_classes()}
    assert list(found) == ["inference-critical", "inference-standard", "inference-batch"]
    values = [body["value"] for body in found.values()]
    assert values == sorted(values, reverse=True)
    # Below the system's own, and above what the cluster autoscaler ignores.
    assert all(-10 <= value < 1_000_000_000 for value in values)
    assert [b["preemptionPolicy"] for b in found.values()] == [
        "PreemptLowerPriority",
        "PreemptLowerPriority",
        "Never",
    ]
    assert not any(body["globalDefault"] for body in found.values())
    for body in found.values():
        kubernetes_validate.validate(body, "1.36", strict=True)


def test_no_class_is_a_choice_too() -> None:
    assert "priorityClassName" not in hardened(model(), Hardening(priority=Priority.NONE))


@pytest.mark.parametrize("name", sorted(set(Priority) - {Priority.NONE}))
def test_a_workload_has_the_class_that_was_chosen(name: Priority) -> None:
    spec = hardened(model(), Hardening(priority=name))
    assert spec["priorityClassName"] in {body["metadata"]["name"] for body in priority_classes()}
    assert spec["priorityClassName"] == f"inference-{name}"


FIRST = Hardening(new_replicas_first=True)


def test_updates_of_deployments_start_new_replicas_first() -> None:
    (workload,) = harden(model(spec={"replicas": 2}), FIRST).workloads
    assert workload.body["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }
    assert [demand.surge_pods for demand in workload.pods] == [1]


def test_updates_of_groups_start_new_groups_first() -> None:
    (workload,) = harden(rendered(open_model(flavors=TWO_NODES), playground(replicas=2)), FIRST).workloads
    bounds = workload.body["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert (bounds["maxUnavailable"], bounds["maxSurge"]) == (0, 1)
    # A group has a leader and a worker.
    assert sum(demand.surge_pods for demand in workload.pods) == 2


def test_recreate_stays() -> None:
    item = model(spec={"replicas": 2})
    item.workloads[0].body["spec"]["strategy"] = {"type": "Recreate"}
    (workload,) = harden(item, FIRST).workloads
    assert workload.body["spec"]["strategy"] == {"type": "Recreate"}
    assert [demand.surge_pods for demand in workload.pods] == [0]
