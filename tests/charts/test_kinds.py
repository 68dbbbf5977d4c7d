"""The objects that the shipped environments register are what the pinned charts' kinds take."""

import datetime
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pulumi.runtime import mocks

from components.api.kinds import KINDS
from components.api.kinds import Kind as OurKind
from components.catalog.charts import charts
from tests.charts.rendering import Rendered
from tests.charts.schemas import Kind, kind_of, problems, schemas
from tests.components.aws_mock import Aws
from tests.recorded import Recorded
from tests.stacks.shipped import ON_AWS, ROOT, Clock, run, settings_of

Render = Callable[..., Rendered]
Object = dict[str, Any]
BUILT_IN = ("v1", "apps/v1", "autoscaling/v2", "batch/v1", "policy/v1")
BUILT_IN_GROUPS = ("networking.k8s.io", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io")
WITH_KEDA = "staging with keda"
"""Every environment that is shipped has the adapter."""


@pytest.fixture
def at_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datetime, "datetime", Clock)


@pytest.fixture(scope="module")
def served(rendered: Render) -> dict[Kind, Object]:
    """The schemas of the kinds of every chart that has some; all copies must be at hand."""
    return schemas(rendered(name) for name, pin in charts().items() if pin.crds)


class WithIds(Aws):
    """Gives subnets ids as AWS does: kinds are particular about them."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == "aws:ec2/subnet:Subnet":
            id_ = f"subnet-{hashlib.sha256(args.name.encode()).hexdigest()[:17]}"
        return id_, {**outputs, "id": id_}


def environment(stack: str) -> Recorded:
    if stack != WITH_KEDA:
        return run(stack, WithIds())
    said = settings_of("staging")["prerequisites"]
    return run("staging", WithIds(), prerequisites={**said, "adapter": "keda"})


def custom_objects(recorded: Recorded) -> list[Object]:
    """What is of no kind that Kubernetes has itself; charts have kinds of their own inside."""
    found = [
        dict(entry.inputs) for entry in recorded.graph if "apiVersion" in entry.inputs and "kind" in entry.inputs
    ]
    return [body for body in found if body["apiVersion"] not in BUILT_IN and _group(body) not in BUILT_IN_GROUPS]


def _group(body: Object) -> str:
    return str(body["apiVersion"]).partition("/")[0]


@pytest.mark.usefixtures("at_the_moment")
@pytest.mark.parametrize(
    ("stack", "kinds"),
    [
        ("dev", set()),
        ("staging", {"NodePool", "EC2NodeClass", "Gateway", "Certificate", "PodMonitor", "PrometheusRule"}),
        ("prod", {"LeaderWorkerSet", "GatewayClass", "SecurityPolicy", "AIGatewayRoute", "PodMonitor"}),
        (WITH_KEDA, {"ScaledObject"}),
    ],
)
def test_what_environments_register_is_what_the_kinds_take(
    stack: str, kinds: set[str], served: Mapping[Kind, Object]
) -> None:
    found = custom_objects(environment(stack))
    assert kinds <= {body["kind"] for body in found}
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
    body = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "m"}, "spec": {"selector": {}}}
    assert not list(problems(schema, body))
    (problem,) = problems(schema, {**body, "spec": {**body["spec"], **change}})  # type: ignore[dict-item]
    assert said in problem


def test_every_shipped_environment_is_looked_at() -> None:
    assert set(ON_AWS) == {"dev", "staging", "prod"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.title)
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
