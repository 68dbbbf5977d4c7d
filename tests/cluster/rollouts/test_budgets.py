"""Disruption budgets of groups, as they are rendered, against the controllers and the eviction API."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from components.checks.hardening.settings import Hardening
from components.checks.hardening.workloads import harden
from livefleet.pods.kubelet import is_ending, is_ready
from tests.cluster.rollouts.cases import Case, Json
from tests.cluster.rollouts.observed import Trial
from tests.cluster.waiting import eventually
from tests.fleets import fleet_of, open_model, runner, service
from toolkit.kube import Kube, KubeError

TOO_MANY_REQUESTS = 429


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


@contextmanager
def terminating(kube: Kube, namespace: str, pod: str) -> Iterator[None]:
    """Keep a pod that is deleted within, as a kubelet does until its containers have ended.

    kwok removes it at once. The controller of LeaderWorkerSets deletes a leader as soon as a worker has a
    deletionTimestamp (kubernetes-sigs/lws v0.9.0, pkg/controllers/pod_controller.go, handleRestartPolicy), so on a
    node the leader is being deleted before its worker is gone. With kwok, it may be the other way round: no pod
    belongs to the StatefulSet of the first group's workers, so the disruption controller does not expect that worker
    (kubernetes v1.36.3, pkg/controller/disruption/disruption.go, getExpectedScale), counts three ready pods of three,
    and allows another disruption.
    """
    path = kube.path("v1", "Pod", pod, namespace)

    def set_finalizers(*finalizers: str) -> None:
        body = {"metadata": {"finalizers": finalizers}}
        kube.request("PATCH", path, body=body, content_type="application/merge-patch+json")

    set_finalizers("test/terminating")
    try:
        yield
    finally:
        set_finalizers()


def test_workers_of_two_groups_are_not_evicted_together(rollout_kube: Kube, trial: Trial) -> None:
    kube, namespace = rollout_kube, trial.namespace
    trial.start()
    budget = budget_of("x", namespace)
    kube.apply(budget, manager="test")
    name = budget["metadata"]["name"]

    def allowed() -> int:
        status = kube.get("policy/v1", "PodDisruptionBudget", name, namespace).get("status") or {}
        return int(status.get("disruptionsAllowed", 0))

    def pods() -> dict[str, Json]:
        return {pod["metadata"]["name"]: pod for pod in kube.list("v1", "Pod", namespace)}

    def not_evicted_until(condition: Callable[[], bool], what: str) -> None:
        def evicted_or_met() -> bool:
            assert not evicts(kube, namespace, "x-1-1")
            return condition()

        eventually(evicted_or_met, what)

    eventually(lambda: allowed() == 1, "a disruption is allowed")
    first = {pod["metadata"]["uid"] for pod in pods().values()}

    def is_back() -> bool:
        group = [pods().get(name) for name in ("x-0", "x-0-1")]
        return all(pod and pod["metadata"]["uid"] not in first for pod in group)

    with terminating(kube, namespace, "x-0-1"):
        assert evicts(kube, namespace, "x-0-1")
        not_evicted_until(lambda: is_ending(pods()["x-0"]), "the leader is deleted with its worker")
    not_evicted_until(is_back, "the group is created again")
    # The group is back, but its leader is not ready.
    trial.settled()
    assert not evicts(kube, namespace, "x-1-1")
    leaders = {pod["metadata"]["name"]: is_ready(pod) for pod in trial.replicas()}
    assert leaders == {"x-0": False, "x-1": True}
    trial.ready()
    eventually(lambda: allowed() == 1, "a disruption is allowed again")
    assert evicts(kube, namespace, "x-1-1")
