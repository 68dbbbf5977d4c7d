"""What tells workloads apart: by hand from the API reference of Kubernetes 1.36 and of LeaderWorkerSet 0.10."""

from typing import Any

import pytest

from components.fleet.shapes import (
    DEPLOYMENT,
    LEADER_WORKER_SET,
    SHAPES,
    STATEFUL_SET,
    PodTemplate,
    PodUpdate,
    WorkloadShape,
    pod_templates,
    shape_named,
    shape_of,
)

Object = dict[str, Any]
LABELS = {"app": "m"}


def pod(name: str = "m") -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": name, "image": "vllm/vllm-openai"}]}}


def deployment(**spec: Any) -> Object:
    return workload(DEPLOYMENT, {"selector": {"matchLabels": LABELS}, "template": pod(), **spec})


def stateful_set(**spec: Any) -> Object:
    return workload(STATEFUL_SET, {"selector": {"matchLabels": LABELS}, "template": pod(), **spec})


def groups(size: int, leader: Object | None = None, **spec: Any) -> Object:
    group = {"size": size, "workerTemplate": pod("worker"), **({"leaderTemplate": leader} if leader else {})}
    return workload(LEADER_WORKER_SET, {"leaderWorkerTemplate": group, **spec})


def workload(shape: WorkloadShape, spec: Object) -> Object:
    metadata = {"name": "m", "namespace": "default", "generation": 2}
    return {"apiVersion": shape.api_version, "kind": shape.kind, "metadata": metadata, "spec": spec}


def shape(body: Object) -> WorkloadShape:
    found = shape_of(body)
    assert found is not None
    return found


class TestWhichOneItIs:
    @pytest.mark.parametrize("each", SHAPES, ids=lambda each: each.kind)
    def test_by_group_and_kind(self, each: WorkloadShape) -> None:
        assert shape_of({"apiVersion": each.api_version, "kind": each.kind}) is each
        assert shape_named(each.kind) is each

    @pytest.mark.parametrize(
        ("api_version", "kind"),
        [("v1", "Service"), ("example.com/v1", "Deployment"), ("apps/v1", "DaemonSet"), ("v1", "StatefulSet")],
    )
    def test_other_objects_have_none(self, api_version: str, kind: str) -> None:
        body = {"apiVersion": api_version, "kind": kind, "spec": {"template": pod()}}
        assert shape_of(body) is None
        assert pod_templates(body) == ()

    def test_pods_that_an_operator_makes_are_laid_out_alike_and_have_no_object(self) -> None:
        single = LEADER_WORKER_SET.as_single_pods()
        assert (single.kind, single.api_version) == ("Pod", "v1")
        assert single.templates == LEADER_WORKER_SET.templates
        made = (single.requires, single.makes_service, single.makes_sets, single.is_set)
        assert not any(made)


def listed(found: tuple[PodTemplate, ...]) -> list[tuple[str, str, int]]:
    return [(each.field.path, each.field.role, each.pods) for each in found]


class TestPods:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (deployment(), [("spec.template", "", 1)]),
            (stateful_set(), [("spec.template", "", 1)]),
            (groups(1), [("spec.leaderWorkerTemplate.workerTemplate", "worker", 1)]),
            (groups(4), [("spec.leaderWorkerTemplate.workerTemplate", "worker", 4)]),
            (
                groups(4, pod("leader")),
                [
                    ("spec.leaderWorkerTemplate.leaderTemplate", "leader", 1),
                    ("spec.leaderWorkerTemplate.workerTemplate", "worker", 3),
                ],
            ),
            (
                groups(1, pod("leader")),
                [
                    ("spec.leaderWorkerTemplate.leaderTemplate", "leader", 1),
                    ("spec.leaderWorkerTemplate.workerTemplate", "worker", 0),
                ],
            ),
        ],
        ids=["deployment", "stateful set", "group of one", "group of four", "with a leader", "a leader alone"],
    )
    def test_templates(self, body: Object, expected: list[tuple[str, str, int]]) -> None:
        assert listed(pod_templates(body)) == expected
        assert sum(pods for _, _, pods in expected) == shape(body).size_of(body)

    @pytest.mark.parametrize("body", [deployment(), stateful_set()], ids=["deployment", "stateful set"])
    def test_pods_that_a_selector_chooses(self, body: Object) -> None:
        assert shape(body).labels_of(body) == (LABELS, None)

    def test_pods_that_their_controller_labels(self) -> None:
        whole = {"leaderworkerset.sigs.k8s.io/name": "m"}
        front = {**whole, "leaderworkerset.sigs.k8s.io/worker-index": "0"}
        assert LEADER_WORKER_SET.labels_of(groups(2)) == (front, whole)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (deployment(), PodUpdate("25%", "25%")),
        (deployment(strategy={"type": "Recreate"}), PodUpdate("25%", "25%", is_recreate=True)),
        (deployment(paused=True), PodUpdate("25%", "25%", is_paused=True)),
        (deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": None}}), PodUpdate(0, "25%")),
        (stateful_set(), PodUpdate(0, 1, one_by_one=True)),
        (stateful_set(updateStrategy={"type": "OnDelete"}), PodUpdate(0, 1, one_by_one=True, is_manual=True)),
        (
            stateful_set(updateStrategy={"rollingUpdate": {"partition": 2, "maxUnavailable": "50%"}}),
            PodUpdate(0, 1, one_by_one=True, partition=2),
        ),
        (
            stateful_set(podManagementPolicy="Parallel", updateStrategy={"rollingUpdate": {"maxUnavailable": "50%"}}),
            PodUpdate(0, 1, one_by_one=True),
        ),
        (groups(2), PodUpdate(0, 1, one_by_one=True)),
        (
            groups(2, rolloutStrategy={"rollingUpdateConfiguration": {"maxSurge": 2, "partition": 1}}),
            PodUpdate(2, 1, one_by_one=True, partition=1),
        ),
    ],
)
def test_how_pods_are_replaced(body: Object, expected: PodUpdate) -> None:
    assert shape(body).update_of(body) == expected


@pytest.mark.parametrize(
    ("update", "added", "missing"),
    [
        (PodUpdate("25%", "25%"), 3, 2),
        (PodUpdate("25%", "25%", is_recreate=True), 0, 2),
        (PodUpdate(0, "25%", one_by_one=True), 0, 1),
        (PodUpdate(0, "5%", one_by_one=True), 0, 0),
        (PodUpdate(4, 1), 4, 1),
    ],
)
def test_shares_of_ten_replicas(update: PodUpdate, added: int, missing: int) -> None:
    assert (update.added(10), update.missing(10)) == (added, missing)


@pytest.mark.parametrize(
    ("body", "in_order"),
    [
        (stateful_set(), True),
        (stateful_set(podManagementPolicy="OrderedReady"), True),
        (stateful_set(podManagementPolicy="Parallel"), False),
        (deployment(), False),
        (groups(2), False),
    ],
)
def test_which_replicas_wait_for_one_another(body: Object, in_order: bool) -> None:
    assert shape(body).starts_in_order(body) is in_order


SEEN = {"observedGeneration": 2}


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (deployment(replicas=2), {"observedGeneration": 1}, "not observed by its controller yet"),
        (deployment(replicas=2), {**SEEN, "replicas": 3, "updatedReplicas": 2}, "1 old pods still exist"),
        (deployment(replicas=2), {**SEEN, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}, ""),
        (stateful_set(replicas=2), {}, "not observed by its controller yet"),
        (stateful_set(replicas=2), {**SEEN, "replicas": 1, "updatedReplicas": 1}, "0 of 2 pods ready"),
        (
            # The controller has read the new template, and deleted nothing yet.
            stateful_set(replicas=2),
            {**SEEN, "replicas": 2, "readyReplicas": 2, "currentReplicas": 2},
            "2 old pods still exist",
        ),
        (stateful_set(replicas=2), {**SEEN, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2}, ""),
        (
            stateful_set(replicas=3, updateStrategy={"rollingUpdate": {"partition": 2}}),
            {**SEEN, "replicas": 3, "updatedReplicas": 1, "readyReplicas": 3},
            "",
        ),
        (
            stateful_set(replicas=3, updateStrategy={"type": "OnDelete"}),
            {**SEEN, "replicas": 3, "readyReplicas": 3},
            "",
        ),
    ],
)
def test_when_all_replicas_work(body: Object, status: Object, expected: str) -> None:
    rollout_status = shape(body).rollout_status
    assert rollout_status is not None
    assert rollout_status({**body, "status": status}) == expected


def test_what_a_cluster_may_have_no_controller_for_is_not_waited_for() -> None:
    assert LEADER_WORKER_SET.rollout_status is None


CLAIM = {"metadata": {"name": "weights"}, "spec": {"resources": {"requests": {"storage": "50Gi"}}}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (stateful_set(volumeClaimTemplates=[CLAIM]), {"weights": CLAIM["spec"]}),
        (stateful_set(), {}),
        (stateful_set(volumeClaimTemplates=[{}]), {"": {}}),
        (deployment(volumeClaimTemplates=[CLAIM]), {}),
    ],
)
def test_claims_of_each_pod(body: Object, expected: Object) -> None:
    assert shape(body).claims_of(body) == expected


@pytest.mark.parametrize("each", SHAPES, ids=lambda each: each.kind)
def test_what_an_autoscaler_names(each: WorkloadShape) -> None:
    assert each.target("m") == {"apiVersion": each.api_version, "kind": each.kind, "name": "m"}
