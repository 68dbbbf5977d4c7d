"""Which fields of one object count as drift, and which do not."""

from typing import Any

import pytest

from components.contract.texts.hidden import HIDDEN, hidden
from components.fleet.objects import Object, copied
from tests.inspecting.objects import container, deployment
from workbench.drifting.drift import ABSENT, WEBHOOK, ServerView, differences_of, drift_of

POD = "spec.template.spec"


def planned() -> Object:
    return deployment("a", container(env=[{"name": "A", "value": "1"}]), replicas=2)


def live(**edits: Any) -> Object:
    """Return the planned object as a server stores it: with defaults, canonical quantities and managed fields."""
    body: Object = copied(planned())
    pod = body["spec"]["template"]["spec"]
    pod |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30}
    pod["containers"][0] |= {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"}
    body["spec"] |= {"progressDeadlineSeconds": 600, "strategy": {"type": "RollingUpdate"}}
    body["metadata"] |= {"uid": "1", "annotations": {"deployment.kubernetes.io/revision": "1"}}
    body["status"] = {"readyReplicas": 2}
    body["metadata"]["managedFields"] = [
        {"manager": "pulumi-kubernetes-1", "operation": "Apply", "time": "2026-11-01T00:00:00Z", "fieldsV1": OURS}
    ]
    return body


CONTAINER = 'k:{"name":"server"}'
ENV = 'k:{"name":"A"}'
NEW: Object = {"f:env": {'k:{"name":"B"}': {".": {}, "f:name": {}, "f:value": {}}}}
NOTE: Object = {"f:metadata": {"f:annotations": {"f:x": {}}}}
_OURS: Object = {".": {}, "f:image": {}, "f:env": {ENV: {"f:value": {}}}}
OURS: Object = {"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {CONTAINER: _OURS}}}}}


def edited(path: tuple[Any, ...], value: Any, fields: Any, manager: str = "kubectl-edit", **more: Any) -> Object:
    body = live()
    target: Any = body
    for step in path[:-1]:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    if isinstance(target, list):
        target.append(value)
    else:
        target[path[-1]] = value
    entry = {"manager": manager, "operation": "Update", "time": "2026-11-02T00:00:00Z", "fieldsV1": fields, **more}
    body["metadata"]["managedFields"].append(entry)
    return body


def pod_fields(inner: Any) -> Any:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {CONTAINER: inner}}}}}


FIRST = ("spec", "template", "spec", "containers", 0)


def test_what_the_server_adds_is_no_drift() -> None:
    assert drift_of(planned(), live()) == ()


EDITS = [
    (
        edited((*FIRST, "image"), "vllm/vllm-openai:v1", pod_fields({"f:image": {}})),
        f"{POD}.containers[0].image",
        ("vllm/vllm-openai:v0.9.0", "vllm/vllm-openai:v1"),
        "kubectl-edit",
    ),
    (
        edited(
            (*FIRST, "env", "new"),
            {"name": "B", "value": "2"},
            pod_fields(NEW),
        ),
        f"{POD}.containers[0].env[1]",
        (ABSENT, {"name": "B", "value": "2"}),
        "kubectl-edit",
    ),
    (
        edited(("metadata", "labels", "team"), "x", {"f:metadata": {"f:labels": {"f:team": {}}}}),
        "metadata.labels.team",
        (ABSENT, "x"),
        "kubectl-edit",
    ),
    (
        edited(("spec", "replicas"), 5, {"f:spec": {"f:replicas": {}}}, "kubectl", subresource="scale"),
        "spec.replicas",
        (2, 5),
        "kubectl",
    ),
]


@pytest.mark.parametrize(("body", "path", "values", "manager"), EDITS, ids=[path for _, path, *_ in EDITS])
def test_an_edit_is_drift_with_its_writer(body: Object, path: str, values: tuple[Any, Any], manager: str) -> None:
    found = {each.path: each for each in drift_of(planned(), body)}
    assert path in found
    each = found[path]
    assert (each.planned, each.live) == values
    assert (each.writer.manager, each.writer.time) == (manager, "2026-11-02T00:00:00Z")
    assert all(other.startswith(path.rpartition(".")[0]) for other in found)


def test_a_removed_field_is_drift() -> None:
    body = live()
    body["spec"]["template"]["spec"]["containers"][0]["env"] = []
    (found,) = drift_of(planned(), body)
    assert (found.path, found.planned, found.live) == (
        f"{POD}.containers[0].env[0]",
        {"name": "A", "value": "1"},
        ABSENT,
    )


NO_EDITS = [
    # A webhook adds a sidecar in the request of the planner.
    edited(("spec", "template", "spec", "containers", 1), {"name": "proxy", "image": "b"}, {}, "pulumi-kubernetes-1"),
    # A controller writes an annotation.
    edited(
        ("metadata", "annotations", "x"),
        "1",
        {"f:metadata": {"f:annotations": {"f:x": {}}}},
        "kube-controller-manager",
    ),
    edited(
        ("metadata", "annotations", "kubectl.kubernetes.io/restartedAt"),
        "1",
        {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/restartedAt": {}}}},
    ),
    # kubectl rollout restart
    edited(
        ("spec", "template", "metadata", "annotations"),
        {"kubectl.kubernetes.io/restartedAt": "1"},
        {"f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/restartedAt": {}}}}}},
        "kubectl-rollout",
    ),
    # No plan applies annotations that ignore findings.
    edited(
        ("metadata", "annotations", "ignore.inference-platform/drain-missing"),
        "runs so",
        {"f:metadata": {"f:annotations": {"f:ignore.inference-platform/drain-missing": {}}}},
    ),
    edited(("status", "readyReplicas"), 1, {"f:status": {"f:readyReplicas": {}}}, "any", subresource="status"),
]


@pytest.mark.parametrize("body", NO_EDITS)
def test_what_controllers_write_is_no_drift(body: Object) -> None:
    assert drift_of(planned(), body) == ()


def test_replicas_of_an_autoscaler_are_no_drift() -> None:
    """The plan of a model with an autoscaler sets none."""
    wanted = planned()
    del wanted["spec"]["replicas"]
    body = edited(
        ("spec", "replicas"), 4, {"f:spec": {"f:replicas": {}}}, "kube-controller-manager", subresource="scale"
    )
    assert drift_of(wanted, body) == ()


@pytest.mark.parametrize(("written", "stored"), [("1024Mi", "1Gi"), ("1000m", "1"), (1, "1"), ("0.5", "500m")])
def test_quantities_are_compared_by_value(written: Any, stored: Any) -> None:
    wanted, body = planned(), live()
    for each, value in ((wanted, written), (body, stored)):
        each["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"memory": value}}
    assert drift_of(wanted, body) == ()
    body["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"memory": "7Gi"}}
    assert [each.path for each in drift_of(wanted, body)] == [f"{POD}.containers[0].resources.limits.memory"]


def test_values_of_variables_have_no_units() -> None:
    wanted, body = planned(), live()
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1000m"}]
    assert [each.path for each in drift_of(wanted, body)] == [f"{POD}.containers[0].env[0].value"]


def test_secrets_are_masked() -> None:
    token = "hf_" + "a1B2" * 9
    body = live()
    body["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = token
    body["spec"]["template"]["spec"]["containers"][0]["env"][0] |= {"name": "HF_TOKEN"}
    wanted = planned()
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "HF_TOKEN", "value": token[::-1]}]
    (found,) = drift_of(wanted, body)
    assert found.path == f"{POD}.containers[0].env[0].value"
    assert token not in str(found)
    assert token[::-1] not in str(found)


def test_the_order_of_named_items_does_not_matter() -> None:
    wanted, body = planned(), live()
    two = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = two
    body["spec"]["template"]["spec"]["containers"][0]["env"] = two[::-1]
    assert drift_of(wanted, body) == ()


def _secret(**fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"}, **fields}


@pytest.mark.parametrize(
    ("ours", "theirs", "paths"),
    [
        ({"stringData": {"a": "x"}}, {"data": {"a": "eA=="}}, []),
        ({"data": {"a": "eA=="}}, {"data": {"a": "eA=="}}, []),
        ({"data": {"a": "eA=="}, "stringData": {"a": "y"}}, {"data": {"a": "eQ=="}}, []),
        ({"stringData": {"a": "x"}}, {"data": {"a": "eQ=="}}, ["data.a"]),
        ({"stringData": {"config.yaml": "x"}}, {"data": {}}, ["data[config.yaml]"]),
        ({"stringData": {"a": "x"}}, {}, ["data"]),
        ({"type": "Opaque"}, {"type": "other"}, ["type"]),
    ],
)
def test_values_of_secrets_are_compared_as_stored_and_never_shown(
    ours: Object, theirs: Object, paths: list[str]
) -> None:
    found = drift_of(_secret(**ours), _secret(**theirs))
    assert [each.path for each in found] == paths
    values = [value for each in found for value in (each.planned, each.live) if value is not ABSENT]
    assert all(
        HIDDEN.fullmatch(text)
        for value in values
        for text in (value.values() if isinstance(value, dict) else [value])
    )


def test_labels_of_secrets_are_shown() -> None:
    changed = _secret()
    changed["metadata"]["labels"] = {"team": "a"}
    (found,) = drift_of(changed, _secret())
    assert (found.path, found.planned) == ("metadata.labels.team", "a")


def test_what_another_client_adds_to_a_secret_is_not_shown() -> None:
    body = _secret(data={"a": "eA==", "b": "eQ=="})
    body["metadata"]["managedFields"] = [
        {"manager": "pulumi-kubernetes", "operation": "Apply", "time": "", "fieldsV1": {"f:data": {"f:a": {}}}},
        {"manager": "kubectl-edit", "operation": "Update", "time": "", "fieldsV1": {"f:data": {"f:b": {}}}},
    ]
    (found,) = drift_of(_secret(stringData={"a": "x"}), body)
    assert (found.path, found.planned, found.live) == ("data.b", ABSENT, hidden("eQ=="))


# Maps that one client sets as a whole, planned false, and defaults, without asking the API server


def _with(body: Object, path: tuple[Any, ...], value: Any) -> Object:
    changed: Object = copied(body)
    target: Any = changed
    for step in path[:-1]:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    if value is ABSENT:
        target.pop(path[-1], None)
    else:
        target[path[-1]] = value
    return changed


_POD = ("spec", "template", "spec")
_FLAG = (*FIRST, "securityContext", "allowPrivilegeEscalation")


@pytest.mark.parametrize(
    ("path", "ours", "theirs", "found"),
    [
        ((*_POD, "nodeSelector"), {"a": "1"}, {"a": "1", "b": "2"}, [f"{POD}.nodeSelector.b"]),
        ((*_POD, "nodeSelector"), {"a": "1"}, {"a": "1"}, []),
        (("spec", "selector", "matchLabels"), {"app": "a"}, {"app": "a", "b": ""}, ["spec.selector.matchLabels.b"]),
        (_FLAG, False, ABSENT, [f"{POD}.containers[0].securityContext.allowPrivilegeEscalation"]),
        (_FLAG, False, True, [f"{POD}.containers[0].securityContext.allowPrivilegeEscalation"]),
        ((*_POD, "automountServiceAccountToken"), False, ABSENT, [f"{POD}.automountServiceAccountToken"]),
        # The API server drops it.
        ((*_POD, "hostNetwork"), False, ABSENT, []),
        (("metadata", "labels", "empty"), "", ABSENT, ["metadata.labels.empty"]),
    ],
)
def test_whole_maps_and_planned_false(path: tuple[Any, ...], ours: Any, theirs: Any, found: list[str]) -> None:
    changed = drift_of(_with(planned(), path, ours), _with(_with(live(), path, ours), path, theirs))
    assert [each.path for each in changed] == found


OF_CREATION: Object = {
    "f:spec": {
        "f:progressDeadlineSeconds": {},
        "f:template": {"f:spec": {"f:dnsPolicy": {}, "f:terminationGracePeriodSeconds": {}}},
    }
}


@pytest.mark.parametrize(("seconds", "found"), [(30, []), (60, [f"{POD}.terminationGracePeriodSeconds"])])
def test_a_default_is_no_drift_whoever_created_the_object(seconds: int, found: list[str]) -> None:
    path = (*_POD, "terminationGracePeriodSeconds")
    body = edited(path, seconds, OF_CREATION, "kubectl-client-side-apply")
    assert [each.path for each in drift_of(planned(), body)] == found
    # The same from what the API server says.
    view = ServerView(body, _with(body, path, 30))
    assert [each.path for each in differences_of(planned(), body, view)] == found


# What the API server says


IMAGE = (*FIRST, "image")


def test_what_the_api_server_makes_of_the_plan_is_no_drift() -> None:
    """An admission webhook takes images from a mirror."""
    body = _with(live(), IMAGE, "mirror.example/vllm:v1")
    (found,) = differences_of(planned(), body, ServerView(body, body))
    assert (found.path, found.live, found.owner) == (
        f"{POD}.containers[0].image",
        "mirror.example/vllm:v1",
        WEBHOOK,
    )
    # Without the webhook it is a change.
    (found,) = differences_of(planned(), body, ServerView(live(), body))
    assert found.owner == ""


def test_what_applying_would_remove_or_restore_is_drift() -> None:
    body = _with(_with(live(), ("spec", "paused"), ABSENT), (*_POD, "nodeSelector"), {"b": "2"})
    applied = _with(live(), ("spec", "minReadySeconds"), 5)
    wanted = _with(planned(), ("spec", "minReadySeconds"), 5)
    found = differences_of(wanted, body, ServerView(applied, body))
    assert [(each.path, each.planned, each.live, each.owner) for each in found] == [
        ("spec.minReadySeconds", 5, ABSENT, ""),
        (f"{POD}.nodeSelector", ABSENT, {"b": "2"}, ""),
    ]


def test_what_the_server_would_assign_is_no_drift_of_its_own() -> None:
    body = live()
    applied = _with(body, ("spec", "assigned"), 30000)
    assert differences_of(planned(), body, ServerView(applied, body)) == ()


@pytest.mark.parametrize("wanted", [2, ABSENT])
def test_replicas_of_a_planned_autoscaler_are_named(wanted: Any) -> None:
    ours = _with(planned(), ("spec", "replicas"), wanted)
    body = _with(live(), ("spec", "replicas"), 4)
    (found,) = differences_of(ours, body, scaler="HorizontalPodAutoscaler a")
    assert (found.path, found.planned, found.live, found.owner) == (
        "spec.replicas",
        wanted,
        4,
        "HorizontalPodAutoscaler a",
    )
    assert len(drift_of(ours, body)) == (wanted is not ABSENT)


@pytest.mark.parametrize(
    "manager",
    [
        *("some-operator", "Reloader", "kyverno", "kueue-admission", "cert-manager-cainjector", "karpenter", "keda"),
        *("pilot-discovery", "vpa-admission-controller", "vc-webhook-manager", "linkerd-proxy-injector", "flagger"),
    ],
)
def test_what_a_controller_adds_is_named(manager: str) -> None:
    fields: Object = {"f:metadata": {"f:labels": {"f:x": {}}}}
    body = edited(("metadata", "labels", "x"), "1", fields, manager)
    (found,) = differences_of(planned(), body)
    assert (found.path, found.owner) == ("metadata.labels.x", manager)
    assert drift_of(planned(), body) == ()


@pytest.mark.parametrize("manager", ["kubectl-edit", "k9s", "Lens", "python-requests", "keel", "argocd-controller"])
def test_what_people_and_deployers_add_is_drift(manager: str) -> None:
    fields: Object = {"f:metadata": {"f:labels": {"f:x": {}}}}
    (found,) = drift_of(planned(), edited(("metadata", "labels", "x"), "1", fields, manager))
    assert (found.path, found.writer.manager) == ("metadata.labels.x", manager)
