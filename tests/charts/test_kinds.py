"""The objects that the shipped environments register are what the pinned charts' kinds take."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from components.checks.front_door.door import front_door
from components.contract.kinds import Kind as OurKind
from components.families import kinds, operator_objects
from components.families.family import OperatorSite
from components.plan.prerequisites.charts import charts
from tests.charts.environments import ENVIRONMENTS, WITH_CLIENTS, WITH_KEDA, custom_objects
from tests.charts.rendering import Rendered
from tests.charts.schemas import Kind, kind_of, problems, schemas
from tests.checks.front_door.doors import PUBLIC
from tests.checks.front_door.routed import ROUTER, backend, endpoints

Render = Callable[..., Rendered]
Object = dict[str, Any]


@pytest.fixture(scope="module")
def served(rendered: Render) -> dict[Kind, Object]:
    """The schemas of the kinds of every chart that has some; all copies must be at hand."""
    return schemas(rendered(name) for name, pin in charts().items() if pin.crds)


KINDS_OF: dict[str, set[str]] = {
    "dev": set(),
    "staging": {"NodePool", "EC2NodeClass", "Gateway", "Certificate", "PodMonitor", "PrometheusRule"},
    "prod": {"LeaderWorkerSet", "GatewayClass", "SecurityPolicy", "AIGatewayRoute", "PodMonitor"},
    WITH_KEDA: {"ScaledObject"},
    WITH_CLIENTS: {"EnvoyProxy", "ClientTrafficPolicy", "BackendTrafficPolicy"},
}
"""Some of what each environment must have, so that an empty one proves nothing."""


@pytest.mark.parametrize("stack", ENVIRONMENTS)
def test_what_environments_register_is_what_the_kinds_take(stack: str, served: Mapping[Kind, Object]) -> None:
    found = custom_objects(stack)
    assert KINDS_OF[stack] <= {body["kind"] for body in found}
    refused = [
        f"{body['kind']}/{body['metadata']['name']}: {problem}"
        for body in found
        for problem in (problems(served[kind_of(body)], body) if kind_of(body) in served else ["no chart brings it"])
    ]
    assert refused == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"podMetricsEndpoint": []}, "podMetricsEndpoint"),
        ({"podMetricsEndpoints": [{"portt": "http"}]}, "portt"),
        ({"podMetricsEndpoints": "http"}, "podMetricsEndpoints"),
    ],
)
def test_what_a_kind_does_not_take_is_found(change: Object, said: str, rendered: Render) -> None:
    kind = ("monitoring.coreos.com/v1", "PodMonitor")
    schema = schemas([rendered("prometheus")])[kind]
    body: Object = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "m"}, "spec": {"selector": {}}}
    assert not list(problems(schema, body))
    (problem,) = problems(schema, {**body, "spec": {**body["spec"], **change}})
    assert said in problem


def test_the_monitor_of_what_no_chart_installs_is_what_the_kind_takes(rendered: Render) -> None:
    found = operator_objects("wva", OperatorSite(scraper="monitoring", monitor_labels={"team": "ml"}))
    (body,) = [each for each in found if each["kind"] == "ServiceMonitor"]
    assert list(problems(schemas([rendered("prometheus")])[kind_of(body)], body)) == []


CHARTED = [kind for kind in kinds() if any(kind.group in pin.crds for pin in charts().values())]
"""The others have no chart: what is installed for them has our own definitions (objects.yaml)."""


@pytest.mark.parametrize("kind", CHARTED, ids=lambda kind: kind.title)
def test_kinds_of_the_contract_are_served_by_the_chart_that_brings_them(kind: OurKind, rendered: Render) -> None:
    """Name, scope and version, so that an operator takes what realization ``operator`` hands it."""
    (chart,) = [name for name, pin in charts().items() if kind.group in pin.crds]
    crd = rendered(chart).one("CustomResourceDefinition", kind.crd_name)["spec"]
    assert (crd["names"]["kind"], crd["scope"]) == (kind.kind, kind.scope)
    assert kind.version in [version["name"] for version in crd["versions"] if version["served"]]


@pytest.mark.parametrize("chart", ["prometheus", "gpu-operator", "llmaz"])
def test_charts_kinds_take_what_the_charts_make_of_our_values(chart: str, rendered: Render) -> None:
    """A value that is handed on unread ends up in one of these."""
    known = schemas([rendered(chart)])
    own = [body for body in rendered(chart).objects if kind_of(body) in known]
    assert own
    assert [problem for body in own for problem in problems(known[kind_of(body)], body)] == []


def test_rules_of_the_gateway_are_what_its_routes_take(rendered: Render) -> None:
    """Headers of every kind, weights, another name at the engine, and a router elsewhere."""
    known = schemas([rendered("ai-gateway-crds"), rendered("envoy-gateway")])
    on = {"x-tier": ("exact", "gold"), "x-user": ("prefix", "a.b"), "x-lang": ("regex", "^de|fr$")}
    backends = (backend("a", 1, 70, served_name="Qwen/Qwen3"), backend("b", 1, 0, router=ROUTER))
    made = [*front_door(endpoints({"on": on, "backends": backends}, {}), PUBLIC).objects]
    checked = [body for body in made if kind_of(body) in known]
    assert {"AIGatewayRoute", "AIServiceBackend", "Backend"} <= {body["kind"] for body in checked}
    assert [problem for body in checked for problem in problems(known[kind_of(body)], body)] == []
