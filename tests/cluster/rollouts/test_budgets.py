"""Disruption budgets of groups, as they are rendered, against the controllers and the eviction API."""

import time
from collections.abc import Iterator

import pytest

from components.checks.hardening.settings import Hardening
from components.checks.hardening.workloads import harden
from livefleet.pods.kubelet import is_ready
from tests.cluster.rollouts.cases import Case, Json
from tests.cluster.rollouts.observed import Trial
from tests.cluster.waiting import eventually
from tests.fleets import fleet_of, open_model, runner, service
from toolkit.kube import Kube, KubeError

TOO_MANY_REQUESTS = 429
SECONDS = 8.0
"""Far longer than the controller takes to delete a group, and to create it again."""


def budget_of(name: str, namespace: str) -> Json:
    """Return the rendered budget of a LeaderWorkerSet."""
    template = {"size": 2, "workerTemplate": {"spec": {"containers": [runner()]}}}
    fleet = fleet_of(open_model(), service(name=name, replicas=2, workloadTemplate=template), namespace=namespace)
    (item,) = [item for item in fleet.rendered if item.workloads]
    budgets = [
        body
        for body in harden(item, Hardening(disruption_budgets=True)).objects
        if body["kind"] == "PodDisruptionBudget"
    ]
    (budget,) = budgets
    return budget


@pytest.fixture
def trial(rollout_kube: Kube) -> Iterator[Trial]:
    trial = Trial(rollout_kube, "budget", Case(kind="LeaderWorkerSet", before=2, after=2))
    try:
        yield trial
    finally:
        trial.clean()


def evicts(kube: Kube, namespace: str, pod: str) -> bool:
    """Evict a pod; return whether that was allowed."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
    try:
        kube.request("POST", f"{kube.path('v1', 'Pod', pod, namespace)}/eviction", body=body)
    except KubeError as error:
        if error.status != TOO_MANY_REQUESTS:
            raise
        return False
    return True


def test_workers_of_two_groups_are_not_evicted_together(rollout_kube: Kube, trial: Trial) -> None:
    kube, namespace = rollout_kube, trial.namespace
    trial.start()
    budget = budget_of("x", namespace)
    kube.apply(budget, manager="test")
    name = budget["metadata"]["name"]

    def allowed() -> int:
        status = kube.get("policy/v1", "PodDisruptionBudget", name, namespace).get("status") or {}
        return int(status.get("disruptionsAllowed", 0))

    eventually(lambda: allowed() == 1, "a disruption is allowed")
    assert evicts(kube, namespace, "x-0-1")
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        # The first group ends and comes back, but its leader is not ready.
        assert not evicts(kube, namespace, "x-1-1")
        time.sleep(0.2)
    leaders = {pod["metadata"]["name"]: is_ready(pod) for pod in trial.replicas()}
    assert leaders == {"x-0": False, "x-1": True}
    trial.ready()
    eventually(lambda: allowed() == 1, "a disruption is allowed again")
    assert evicts(kube, namespace, "x-1-1")
