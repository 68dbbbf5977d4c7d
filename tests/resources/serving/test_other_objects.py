"""Objects of other APIs in a fleet: below one component, after what they need, under names of their own."""

from typing import Any

import pytest

from tests.recorded import Recorded
from tests.resources.serving.manifests import CHAT, PROVIDER, fleet
from workbench.engine.values import Secret

OTHERS = "inference-platform:index:OtherObjects::fleet-others"
MODELS = "kubernetes:core/v1:Namespace::fleet-models"
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token"},
    "data": {"a": "cGxhaW4="},
    "stringData": {"t": "hunter2"},
}
ROUTE: dict[str, Any] = {
    "apiVersion": "aigateway.envoyproxy.io/v1alpha1",
    "kind": "AIGatewayRoute",
    "metadata": {"name": "all", "namespace": "models"},
    "spec": {"rules": []},
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "aigatewayroutes.aigateway.envoyproxy.io"},
    "spec": {},
}
KEY_OF_SECRET = "kubernetes:core/v1:Secret::fleet-others-secret-models/token"
KEY_OF_ROUTE = "kubernetes:aigateway.envoyproxy.io/v1alpha1:AIGatewayRoute::fleet-others-aigatewayroute-models/all"


def passed(*documents: dict[str, Any], **args: Any) -> Recorded:
    return fleet([*CHAT, *documents], other_kinds="apply", **args)


@pytest.mark.parametrize("preview", [False, True])
def test_the_graph(preview: bool) -> None:
    graph = passed(ROUTE, SECRET, DEFINITION, preview=preview)
    assert graph[OTHERS].dependencies == (MODELS,)
    kind, name = "apiextensions.k8s.io/v1:CustomResourceDefinition", DEFINITION["metadata"]["name"]
    definition = f"kubernetes:{kind}::fleet-others-customresourcedefinition-{name}"
    for key in (KEY_OF_SECRET, KEY_OF_ROUTE, definition):
        assert graph[key].parent == OTHERS
        assert graph[key].provider == PROVIDER
        assert graph[key].dependencies == (() if key == definition else (definition,))
    assert graph[KEY_OF_ROUTE].inputs == ROUTE


def test_values_of_a_secret_are_secret() -> None:
    entry = passed(SECRET)[KEY_OF_SECRET]
    assert entry.inputs["data"] == {"a": Secret("cGxhaW4=")}
    assert entry.inputs["stringData"] == {"t": Secret("hunter2")}


def keys(graph: Recorded) -> set[str]:
    return {entry.key for entry in graph.graph}


def test_names_depend_on_the_object_alone() -> None:
    alone = keys(passed(ROUTE))
    more = keys(passed({**SECRET, "metadata": {"name": "all", "namespace": "team"}}, SECRET, ROUTE))
    assert alone <= more
    assert KEY_OF_ROUTE in alone


def test_a_namespace_has_its_name_whether_or_not_models_run_in_it() -> None:
    given = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models", "labels": {"team": "a"}}}
    with_models, without = passed(given), passed({**given, "metadata": {"name": "team"}})
    assert with_models[MODELS].inputs["metadata"]["labels"] == {"team": "a"}
    assert keys(with_models) == keys(fleet(CHAT))
    assert without["kubernetes:core/v1:Namespace::fleet-team"].parent == "inference-platform:index:ModelFleet::fleet"


def test_skipped_they_leave_no_trace() -> None:
    assert keys(fleet([*CHAT, SECRET, ROUTE], other_kinds="skip")) == keys(fleet(CHAT))


def test_an_object_stays_itself_in_another_version_of_its_api() -> None:
    """Otherwise the new one would be created, and the old one, which is the same, deleted."""
    (key,) = (key for key in keys(passed(ROUTE)) if "AIGatewayRoute" in key)
    later = {**ROUTE, "apiVersion": "aigateway.envoyproxy.io/v1beta1"}
    (entry,) = (e for e in passed(later).graph if e.inputs.get("kind") == "AIGatewayRoute")
    assert key.partition("::")[0] in {alias.type for alias in entry.registration.aliases}
    assert entry.type not in {alias.type for alias in entry.registration.aliases}
    assert {alias.type for alias in passed(SECRET)[KEY_OF_SECRET].registration.aliases} == {""}


DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "models"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.29", "resources": {"requests": {"cpu": "1"}}}]},
        },
    },
}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def test_replicas_that_a_written_autoscaler_owns_are_left_alone() -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "models"},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 4, "metrics": [CPU]},
    }
    key = "kubernetes:apps/v1:Deployment::fleet-others-deployment-models/web"
    assert passed(DEPLOYMENT)[key].registration.ignore_changes == ()
    graph = passed(DEPLOYMENT, scaler)
    assert graph[key].registration.ignore_changes == ("spec.replicas",)
    assert graph[key].inputs["spec"]["replicas"] == 3
    # It is created once, and no component stands for it.
    assert [each for each in keys(graph) if "HorizontalPodAutoscaler" in each] == [
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler::fleet-others-horizontalpodautoscaler-models/web"
    ]
