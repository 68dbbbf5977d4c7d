"""What the Kubernetes provider waits for, and for how long at least.

Minutes are those of pulumi/pulumi-kubernetes at 94977969d, provider/pkg/await.
"""

from typing import Any

import pytest

from components.fleet.timeouts import Timeouts, with_margin
from components.plan.timeouts.objects import (
    SKIP_AWAIT,
    lone_timeouts,
    object_timeouts,
    pod_timeouts,
    provider_timeouts,
    until_ready,
    without_waiting,
)

Object = dict[str, Any]
MINUTE = 60
CONTAINER = {"name": "engine", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "m"]}


def body(api_version: str, kind: str, spec: Object | None = None) -> Object:
    metadata = {"name": "x", "namespace": "models", "annotations": {}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec or {}}


def workload(kind: str, replicas: int = 1, grace: int = 30, **spec: Any) -> Object:
    pod = {"containers": [CONTAINER], "terminationGracePeriodSeconds": grace}
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    fields = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec}
    return body("apps/v1", kind, fields)


@pytest.mark.parametrize(
    ("api_version", "kind", "minutes"),
    [
        ("apps/v1", "Deployment", 10),
        ("apps/v1", "StatefulSet", 10),
        ("apps/v1", "DaemonSet", 10),
        ("batch/v1", "Job", 10),
        ("networking.k8s.io/v1", "Ingress", 10),
        ("v1", "Pod", 10),
        ("v1", "Service", 10),
        ("v1", "PersistentVolumeClaim", 5),
        ("v1", "PersistentVolume", 5),
    ],
)
def test_kinds_that_it_waits_for(api_version: str, kind: str, minutes: int) -> None:
    found = provider_timeouts(body(api_version, kind))
    assert found == Timeouts(minutes * MINUTE, minutes * MINUTE, 10 * MINUTE)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "ConfigMap"),
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("inference.llmaz.io/v1alpha1", "Playground"),
        ("serving.knative.dev/v1", "Service"),
    ],
)
def test_kinds_that_it_does_not_wait_for(api_version: str, kind: str) -> None:
    assert provider_timeouts(body(api_version, kind)) is None
    assert lone_timeouts(body(api_version, kind)) is None


def test_only_the_deletion_of_a_leader_worker_set_and_of_a_namespace_waits() -> None:
    for value in (body("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"), body("v1", "Namespace")):
        assert provider_timeouts(value) == Timeouts(delete=10 * MINUTE)


def test_custom_resources_wait_for_what_an_annotation_names() -> None:
    gateway = body("gateway.networking.k8s.io/v1", "Gateway")
    gateway["metadata"]["annotations"] = {"pulumi.com/waitFor": "condition=Programmed"}
    found = lone_timeouts(gateway)
    assert found is not None
    assert found.create == (10 + 5) * MINUTE, "and for the load balancer"
    assert found.delete == 20 * MINUTE


def test_a_timeout_in_the_manifest_stays() -> None:
    """A timeout of the resource takes precedence over the annotation, so it must not be set."""
    value = workload("Deployment")
    value["metadata"]["annotations"] = {"pulumi.com/timeoutSeconds": "60"}
    assert lone_timeouts(value) is None


class TestPods:
    def test_replicas_of_a_deployment_start_at_once_and_are_replaced_in_waves(self) -> None:
        """Of ten replicas, three are added and two may be missing (25 % up and down): two waves."""
        found = pod_timeouts(workload("Deployment"), start=1000, least=10, most=10)
        assert found == Timeouts(with_margin(1000), with_margin(2 * 1030), with_margin(30))

    def test_replicas_of_a_stateful_set_start_one_after_the_other(self) -> None:
        found = pod_timeouts(workload("StatefulSet"), start=1000, least=4, most=4)
        assert found.create == with_margin(4000)
        assert found.update == with_margin(4 * 1030)

    def test_unless_they_are_parallel(self) -> None:
        parallel = workload("StatefulSet", podManagementPolicy="Parallel")
        assert pod_timeouts(parallel, start=1000, least=4, most=4).create == with_margin(1000)

    def test_deletion_waits_for_the_grace_period(self) -> None:
        value = workload("Deployment", grace=3600)
        found = object_timeouts(value, pod_timeouts(value, start=0, least=1, most=1))
        assert found is not None
        assert found.delete == 75 * MINUTE

    def test_a_short_start_keeps_the_time_of_the_provider(self) -> None:
        value = workload("Deployment")
        assert object_timeouts(value, pod_timeouts(value, start=60, least=1, most=1)) == Timeouts.all(10 * MINUTE)


class TestOthers:
    def test_a_service_waits_for_its_pods_and_its_load_balancer(self) -> None:
        pods = Timeouts(1500, 3000, 300)
        plain = object_timeouts(body("v1", "Service", {"type": "ClusterIP"}), pods)
        assert plain == Timeouts(1500, 3000, 10 * MINUTE)
        balanced = object_timeouts(body("v1", "Service", {"type": "LoadBalancer"}), pods)
        assert balanced == Timeouts(1500 + 5 * MINUTE, 3000 + 5 * MINUTE, 20 * MINUTE)

    def test_the_provider_ends_the_wait_for_a_claim_after_five_minutes_whatever_is_set(self) -> None:
        claim = object_timeouts(body("v1", "PersistentVolumeClaim"), Timeouts(3600, 3600, 7200))
        assert claim == Timeouts(5 * MINUTE, 5 * MINUTE, 7200), "its deletion waits for the pods that mount it"

    def test_a_job_may_take_until_its_deadline(self) -> None:
        found = lone_timeouts(body("batch/v1", "Job", {"activeDeadlineSeconds": 3600}))
        assert found == Timeouts(75 * MINUTE, 75 * MINUTE, 10 * MINUTE)

    @pytest.mark.parametrize("spec", [{}, {"replicas": "many"}, {"template": []}, {"replicas": 1, "template": {}}])
    def test_a_malformed_workload_is_left_to_the_api_server(self, spec: Object) -> None:
        found = lone_timeouts(body("apps/v1", "Deployment", spec))
        assert found is not None
        assert found.at_least(Timeouts.all(10 * MINUTE)) == found


class TestWaiting:
    """The provider knows no LeaderWorkerSets, and waits for what its annotation pulumi.com/waitFor names."""

    def test_a_leader_worker_set_is_awaited_until_its_controller_says_that_all_groups_are_ready(self) -> None:
        value = body("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
        awaited = until_ready(value)
        assert awaited["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Available"
        assert awaited["spec"] == value["spec"], "pods are those of before"
        assert provider_timeouts(awaited) == Timeouts.all(10 * MINUTE)
        pods = Timeouts(3600, 7200, 300)
        assert object_timeouts(awaited, pods) == Timeouts(3600, 7200, 10 * MINUTE), "no load balancer is awaited"

    def test_what_a_manifest_says_about_waiting_stays(self) -> None:
        for annotation in ("pulumi.com/waitFor", SKIP_AWAIT):
            value = body("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
            value["metadata"]["annotations"] = {annotation: "true"}
            assert until_ready(value) is value

    def test_kinds_that_the_provider_knows_are_unchanged(self) -> None:
        for value in (workload("Deployment"), workload("StatefulSet"), body("v1", "Service")):
            assert until_ready(value) is value


class TestNotWaiting:
    def test_workloads_and_services_get_the_annotation_of_the_provider(self) -> None:
        for value in (workload("Deployment"), body("v1", "Service")):
            assert without_waiting(value)["metadata"]["annotations"][SKIP_AWAIT] == "true"
            assert SKIP_AWAIT not in value["metadata"]["annotations"], "a copy"

    def test_other_objects_are_unchanged(self) -> None:
        for value in (body("v1", "PersistentVolumeClaim"), body("serving.knative.dev/v1", "Service")):
            assert without_waiting(value) is value


def test_the_margin_is_a_quarter_in_steps_of_five_minutes() -> None:
    assert [with_margin(seconds) for seconds in (0, 1, 240, 241, 850)] == [0, 300, 300, 600, 1200]
