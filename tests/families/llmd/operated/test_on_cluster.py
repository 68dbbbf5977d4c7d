"""A real API server takes everything that is made for the controller, and gives it the rights that it uses alone."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.families import operator_objects
from components.families.family import OperatorSite
from components.fleet.levels import Load
from components.fleet.objects import Object
from tests.cluster.waiting import eventually
from tests.families.llmd.operated.support import HOME, levels, load, served, variant, working
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running

MANAGER = "test-llmd"
LEVELS = levels(prometheus="https://prometheus.observability.svc:9090")
ACCOUNT = "inferno-autoscaler-controller-manager"
SCRAPER = "observability"


def controller() -> tuple[Object, ...]:
    """What is installed, but for the kind that Prometheus' operator brings."""
    found = operator_objects("wva", OperatorSite(LEVELS, scraper=SCRAPER, account="prometheus", guarded=True))
    return tuple(body for body in found if body["kind"] != "ServiceMonitor")


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    """The controller in the cluster; its pods cannot start there."""
    for name in (SCRAPER, "serving"):
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager=MANAGER)
    for body in controller():
        kube.apply(body, manager=MANAGER)
    eventually(lambda: _is_served(kube), "the kind of variants")
    yield kube
    # The kind stays: other tests of the session use it.
    for body in (each for each in reversed(controller()) if each["kind"] != "CustomResourceDefinition"):
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace", ""))
    for name in (SCRAPER, "serving"):
        kube.delete("v1", "Namespace", name)


def _is_served(kube: Kube) -> bool:
    try:
        return list(kube.list("llmd.ai/v1alpha1", "VariantAutoscaling", "serving")) == []
    except KubeError:
        return False


@pytest.mark.parametrize("asked", [None, load(100)])
def test_what_is_made_for_variants_is_taken(ready: Kube, asked: Load | None) -> None:
    given = levels(loads={"chat": asked} if asked else {})
    fleet = working(*served("chat"), variant(), given=given, namespace="serving")
    bodies = list(fleet.objects)
    assert {body["kind"] for body in bodies} >= {"VariantAutoscaling", "HorizontalPodAutoscaler", "ConfigMap"}
    for body in bodies:
        made = ready.apply(body, manager=MANAGER, dry_run=True)
        assert made["metadata"]["name"] == body["metadata"]["name"]


USED = [
    ("", "configmaps", "list", ""),
    ("", "configmaps", "watch", ""),
    ("", "nodes", "list", ""),
    ("", "nodes", "watch", ""),
    ("apps", "deployments", "list", ""),
    ("apps", "deployments", "watch", ""),
    ("llmd.ai", "variantautoscalings", "list", ""),
    ("llmd.ai", "variantautoscalings", "watch", ""),
    ("llmd.ai", "variantautoscalings", "patch", "serving"),
    ("llmd.ai", "variantautoscalings/status", "update", "serving"),
    ("authentication.k8s.io", "tokenreviews", "create", ""),
    ("authorization.k8s.io", "subjectaccessreviews", "create", ""),
    ("coordination.k8s.io", "leases", "create", HOME),
    ("coordination.k8s.io", "leases/72dd1cf1.llm-d.ai", "update", HOME),
    ("", "events", "create", HOME),
]
UNUSED = [
    ("", "secrets", "get", HOME),
    ("", "secrets", "list", ""),
    ("", "pods", "list", ""),
    ("", "configmaps", "update", HOME),
    ("", "configmaps", "update", ""),
    ("", "nodes", "patch", ""),
    ("", "nodes/status", "update", ""),
    ("apps", "deployments", "patch", "serving"),
    ("apps", "deployments", "update", "serving"),
    ("apps", "deployments/scale", "update", "serving"),
    ("llmd.ai", "variantautoscalings", "create", "serving"),
    ("llmd.ai", "variantautoscalings", "delete", "serving"),
    ("llmd.ai", "variantautoscalings", "update", "serving"),
    ("llmd.ai", "variantautoscalings/finalizers", "update", "serving"),
    ("coordination.k8s.io", "leases/another", "update", HOME),
    ("coordination.k8s.io", "leases", "create", "serving"),
    ("", "events", "create", "serving"),
]
"""Most of them upstream's own roles have (config/rbac at c0f645c)."""


@pytest.mark.parametrize("right", USED, ids="-".join)
def test_the_controller_may_do_what_it_does(ready: Kube, right: tuple[str, str, str, str]) -> None:
    assert allowed(ready, f"system:serviceaccount:{HOME}:{ACCOUNT}", _of_resource(*right))


@pytest.mark.parametrize("right", UNUSED, ids="-".join)
def test_and_nothing_else(ready: Kube, right: tuple[str, str, str, str]) -> None:
    assert not allowed(ready, f"system:serviceaccount:{HOME}:{ACCOUNT}", _of_resource(*right))


@pytest.mark.parametrize(
    ("who", "path", "expected"),
    [
        (f"{SCRAPER}:prometheus", "/metrics", True),
        (f"{SCRAPER}:prometheus", "/debug/pprof", False),
        (f"{SCRAPER}:default", "/metrics", False),
        (f"{HOME}:{ACCOUNT}", "/metrics", False),
    ],
)
def test_who_may_read_the_metrics(ready: Kube, who: str, path: str, expected: bool) -> None:
    asked = {"nonResourceAttributes": {"path": path, "verb": "get"}}
    assert allowed(ready, f"system:serviceaccount:{who}", asked) is expected


def test_the_namespace_takes_the_controllers_pods_and_no_others(ready: Kube) -> None:
    """The admission of Pod Security enforces what the label says."""
    (found,) = [body for body in controller() if body["kind"] == "Deployment"]
    template = found["spec"]["template"]

    def made(spec: Object) -> Any:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": HOME}, "spec": spec}
        return ready.request("POST", f"/api/v1/namespaces/{HOME}/pods", params={"dryRun": "All"}, body=pod)

    assert made(template["spec"])["metadata"]["name"] == "x"
    with pytest.raises(KubeError, match="violates PodSecurity"):
        made({"containers": [{"name": "a", "image": "b"}]})


def test_the_api_server_takes_hostile_names_in_keys_and_values(ready: Kube) -> None:
    """As the ConfigMap of classes has them: what comes back is what was meant."""
    given = levels()
    targets = dict.fromkeys(('a"b: #\n${X}', "~", "модель"), given.classes[0].targets["default/default"])
    hostile = levels(given.classes[0], type(given.classes[0])("Odd", 2, targets))
    fleet = working(*served("chat"), variant(), given=hostile, namespace="serving")
    (body,) = [each for each in fleet.objects if each["metadata"]["name"] == "service-classes-config"]
    stored = ready.apply(body, manager=MANAGER, dry_run=True)["data"]
    assert [entry["model"] for entry in yaml.safe_load(stored["odd.yaml"])["data"]] == sorted(targets)


def _of_resource(group: str, resource: str, verb: str, namespace: str) -> Object:
    kind, _, rest = resource.partition("/")
    named = kind == "leases" and rest
    attributes = {"group": group, "resource": kind, "verb": verb, "namespace": namespace}
    attributes |= {"name": rest} if named else {"subresource": rest}
    return {"resourceAttributes": {key: value for key, value in attributes.items() if value}}


def allowed(kube: Kube, user: str, asked: Object) -> bool:
    """Ask the API server's own authorizer, as the controller does for who reads its metrics."""
    namespace = user.split(":")[2]
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": groups, **asked},
    }
    found = kube.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body=review)
    return bool(found["status"]["allowed"])


def test_a_token_of_the_controller_is_that_user(ready: Kube, cluster: Running) -> None:
    """So that the reviews above are about what really happens."""
    path = f"{ready.path('v1', 'ServiceAccount', ACCOUNT, HOME)}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = ready.request("POST", path, body=request)["status"]["token"]
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    with Kube.from_kubeconfig(yaml.safe_dump(config)) as account:
        assert isinstance(list(account.list("llmd.ai/v1alpha1", "VariantAutoscaling", "serving")), list)
        with pytest.raises(KubeError, match="secrets is forbidden"):
            list(account.list("v1", "Secret", HOME))
