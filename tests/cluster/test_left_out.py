"""What the API server makes of fields that an update no longer sets, under server-side apply by one manager.

Fields return to their defaults, whatever they were before; what others have set stays, and so does what the API
server has set itself. The plan forecasts those that matter to pods: replicas (``Workload.kept_fields``), strategies
(``kept_strategy``), and a partition, OnDelete or a pause that goes, which lets pods restart (``released``).
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds
from components.fleet.shapes import kept_strategy
from tests.cluster.waiting import eventually
from tests.fleet.test_on_cluster import established
from toolkit.kube import Kube, KubeError

Object = dict[str, Any]
MANAGER, OTHER = "test-left-out", "test-controller"
SPACE = "left-out"
NOT_FOUND, UNPROCESSABLE = 404, 422
TEMPLATE = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {"containers": [{"name": "c", "image": "one"}]},
}
BASES: Mapping[str, Object] = {
    "Deployment": {
        "apiVersion": "apps/v1",
        # Nothing starts, so that no pod is left when a test ends.
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE},
    },
    "StatefulSet": {
        "apiVersion": "apps/v1",
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "serviceName": "x", "template": TEMPLATE},
    },
    "HorizontalPodAutoscaler": {
        "apiVersion": "autoscaling/v2",
        "spec": {
            "maxReplicas": 4,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"},
        },
    },
    "Service": {"apiVersion": "v1", "spec": {"ports": [{"port": 80}]}},
    "PodDisruptionBudget": {"apiVersion": "policy/v1", "spec": {"selector": {"matchLabels": {"app": "y"}}}},
}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}},
}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}


@pytest.fixture(scope="module", autouse=True)
def space(kube: Kube) -> Iterator[None]:
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, manager=MANAGER)
    eventually(lambda: kube.list("v1", "ServiceAccount", SPACE), "the default service account")
    yield
    kube.delete("v1", "Namespace", SPACE)


def body(kind: str, name: str, **spec: Any) -> Object:
    base = BASES[kind]
    return {
        "apiVersion": base["apiVersion"],
        "kind": kind,
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {**base["spec"], **spec},
    }


@pytest.mark.parametrize(
    ("kind", "field", "value", "left"),
    [
        ("Deployment", "strategy", {"type": "Recreate"}, ROLLING),
        ("Deployment", "strategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}, ROLLING),
        ("Deployment", "paused", True, None),
        ("Deployment", "minReadySeconds", 30, None),
        ("Deployment", "progressDeadlineSeconds", 3600, 600),
        ("Deployment", "revisionHistoryLimit", 2, 10),
        (
            "StatefulSet",
            "updateStrategy",
            {"type": "OnDelete"},
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        ),
        (
            "StatefulSet",
            "updateStrategy",
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}},
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        ),
        ("StatefulSet", "minReadySeconds", 30, None),
        (
            "StatefulSet",
            "persistentVolumeClaimRetentionPolicy",
            {"whenDeleted": "Delete", "whenScaled": "Delete"},
            {"whenDeleted": "Retain", "whenScaled": "Retain"},
        ),
        ("HorizontalPodAutoscaler", "minReplicas", 3, 1),
        ("HorizontalPodAutoscaler", "metrics", [MEMORY], [CPU]),
        ("HorizontalPodAutoscaler", "behavior", {"scaleDown": {"stabilizationWindowSeconds": 600}}, None),
        ("Service", "sessionAffinity", "ClientIP", "None"),
        ("Service", "type", "LoadBalancer", "ClusterIP"),
        ("PodDisruptionBudget", "maxUnavailable", 1, None),
    ],
)
def test_a_field_returns_to_its_default(kube: Kube, kind: str, field: str, value: object, left: object) -> None:
    kube.apply(body(kind, "a", **{field: value}), manager=MANAGER)
    found = kube.apply(body(kind, "a"), manager=MANAGER)
    kube.delete(found["apiVersion"], kind, "a", SPACE)
    assert found["spec"].get(field) == left


def test_what_others_have_set_stays(kube: Kube) -> None:
    """Annotations and fields of controllers, and the replicas of an autoscaler, which an update leaves out."""
    deployment = body("Deployment", "shared")
    kube.apply(deployment, manager=MANAGER)
    scaled = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shared", "namespace": SPACE, "annotations": {"example.com/by": "controller"}},
        "spec": {"replicas": 2, "paused": True},
    }
    kube.apply(scaled, manager=OTHER, force=True)
    del deployment["spec"]["replicas"]
    found = kube.apply(deployment, manager=MANAGER)
    kube.delete("apps/v1", "Deployment", "shared", SPACE)
    assert found["metadata"]["annotations"]["example.com/by"] == "controller"
    assert (found["spec"]["replicas"], found["spec"]["paused"]) == (2, True)


def _is_applied(kube: Kube, value: Object) -> bool:
    try:
        return bool(kube.apply(value, manager=MANAGER))
    except KubeError as error:
        # A new kind is served a moment after it is established.
        if error.status != NOT_FOUND:
            raise
        kube.forget()
        return False


def test_an_update_resets_the_roles_that_an_autoscaler_has_scaled(kube: Kube) -> None:
    """The list of roles is one value: the finding of Kthena's bindings says so. Serving groups keep their number."""
    kind = kinds().by_name("ModelServing")
    kube.apply(crd(kind), manager=MANAGER)
    eventually(functools.partial(established, kube, kind.crd_name), kind.crd_name)
    kube.forget()

    def serving(image: str, **spec: Any) -> Object:
        pod = {"containers": [{"name": "c", "image": image}]}
        role = {"name": "leader", "replicas": 2, "workerReplicas": 0, "entryTemplate": {"spec": pod}}
        return {
            "apiVersion": kind.api_version,
            "kind": "ModelServing",
            "metadata": {"name": "chat", "namespace": SPACE},
            "spec": {"schedulerName": "volcano", "template": {"roles": [role]}, **spec},
        }

    eventually(lambda: _is_applied(kube, serving("one", replicas=1)), "the ModelServing")
    patch = [
        {"op": "replace", "path": "/spec/replicas", "value": 3},
        {"op": "replace", "path": "/spec/template/roles/0/replicas", "value": 5},
    ]
    path = kube.path(kind.api_version, "ModelServing", "chat", SPACE)
    kube.request("PATCH", path, body=patch, content_type="application/json-patch+json")
    found = kube.apply(serving("two"), manager=MANAGER)
    kube.delete(kind.api_version, "ModelServing", "chat", SPACE)
    assert found["spec"]["replicas"] == 3
    assert [role["replicas"] for role in found["spec"]["template"]["roles"]] == [2]


ROLLED = {"type": "RollingUpdate"}


@pytest.mark.parametrize(
    ("kind", "field", "type_", "old"),
    [
        ("Deployment", "strategy", "Recreate", None),
        ("Deployment", "strategy", "Recreate", ROLLED),
        ("Deployment", "strategy", "Recreate", {**ROLLED, "rollingUpdate": {"maxUnavailable": 1}}),
        ("Deployment", "strategy", "Recreate", {**ROLLED, "rollingUpdate": {}}),
        ("Deployment", "strategy", "Recreate", ROLLING),
        ("Deployment", "strategy", "Recreate", {"type": "Recreate"}),
        ("StatefulSet", "updateStrategy", "OnDelete", None),
        ("StatefulSet", "updateStrategy", "OnDelete", ROLLED),
        ("StatefulSet", "updateStrategy", "OnDelete", {**ROLLED, "rollingUpdate": {"partition": 1}}),
        ("StatefulSet", "updateStrategy", "OnDelete", {"type": "OnDelete"}),
    ],
)
def test_a_strategy_changes_unless_the_api_server_has_set_its_bounds(
    kube: Kube, kind: str, field: str, type_: str, old: Object | None
) -> None:
    before, after = body(kind, "b", **({field: old} if old else {})), body(kind, "b", **{field: {"type": type_}})
    kube.apply(before, manager=MANAGER)
    try:
        kube.apply(after, manager=MANAGER)
        status = 0
    except KubeError as error:
        status = error.status
    assert status == (UNPROCESSABLE if kept_strategy(before, after) else 0)
    if status:
        # What the finding says to run.
        patch = {"spec": {field: {"type": type_, "rollingUpdate": None}}}
        path = kube.path("apps/v1", kind, "b", SPACE)
        kube.request("PATCH", path, body=patch, content_type="application/strategic-merge-patch+json")
        assert kube.apply(after, manager=MANAGER)["spec"][field] == {"type": type_}
    kube.delete("apps/v1", kind, "b", SPACE)
