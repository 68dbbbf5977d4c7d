"""The controller of variants, which no chart installs: a component by itself, and its arguments."""

from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.families import operator_objects
from components.families.family import OperatorSite
from components.fleet.levels import ServiceLevels, VariantController
from components.fleet.objects import key_of
from components.plan.prerequisites.charts import charts, known, providers_of
from components.resources.prerequisites.variants import VariantAutoscaler
from components.resources.serving.arguments import InvalidArguments, whole_numbers
from tests.recorded import Recorded, deploy

URL = "https://prometheus.monitoring.svc:9090"
NAMESPACE = "inferno-autoscaler-system"
COMPONENT = "inference-platform:index:VariantAutoscaler::wva"


def made(**args: Any) -> Recorded:
    def program() -> None:
        provider = pulumi_kubernetes.Provider("p", kubeconfig="k")
        given: Any = {"prometheus_url": URL, **args}
        component = VariantAutoscaler("wva", given, pulumi.ResourceOptions(providers=[provider]))
        pulumi.export("namespace", component.namespace)
        pulumi.export("version", component.version)

    return deploy(program)


def bodies(recorded: Recorded) -> list[dict[str, Any]]:
    return [dict(each.inputs) for each in recorded.graph if "kind" in each.inputs]


def test_it_is_a_prerequisite_like_a_chart() -> None:
    pin = known()["wva"]
    assert (pin.chart, pin.namespace, pin.kubernetes, pin.crds) == ("", NAMESPACE, "1.32", ("llmd.ai",))
    assert pin.needs == ("prometheus", "monitors")
    assert providers_of("wva") == ("wva",)
    assert set(known()) == {*charts(), "wva"}


def test_objects_and_outputs() -> None:
    recorded = made()
    levels = ServiceLevels(controller=VariantController(URL))
    account = "kube-prometheus-stack-prometheus"
    wanted = operator_objects("wva", OperatorSite(levels, scraper="monitoring", account=account))
    found = {key_of(body): body for body in bodies(recorded)}
    assert found == {key_of(body): whole_numbers(body) for body in wanted}
    assert recorded.exports == {"namespace": NAMESPACE, "version": "c0f645c"}


def test_each_object_comes_after_the_one_before() -> None:
    """So that the pods find account, rights and settings, and nobody meets a kind that is not there."""
    recorded = made()
    children = [each for each in recorded.graph if each.parent == COMPONENT]
    assert {len(each.dependencies) for each in children} == {0, 1}
    (first,) = [each for each in children if not each.dependencies]
    assert first.inputs["kind"] == "Namespace"
    after = {each.dependencies[0]: each for each in children if each.dependencies}
    order, each = [], first
    while each is not None:
        order.append(each.inputs["kind"])
        each = after.get(each.key)  # type: ignore[assignment]
    assert len(order) == len(children)
    assert order.index("CustomResourceDefinition") == 1
    for before in ("ServiceAccount", "ClusterRoleBinding", "RoleBinding", "ConfigMap"):
        assert order.index(before) < order.index("Deployment")


def test_what_it_is_told() -> None:
    found = {
        (body["kind"], body["metadata"]["name"]): body
        for body in bodies(
            made(
                insecure_skip_verify=True,
                scale_to_zero=True,
                interval="30s",
                image="i:1",
                scraper_account="",
                scraper_namespace="observability",
                network_policy=True,
                create_namespace=False,
                scrape_interval="20s",
                monitor_labels={"team": "ml"},
            )
        )
    }
    kinds = [kind for kind, _ in found]
    assert "Namespace" not in kinds
    assert "NetworkPolicy" in kinds
    (settings,) = [body["data"] for (kind, _), body in found.items() if kind == "ConfigMap"]
    assert settings == {
        "PROMETHEUS_BASE_URL": URL,
        "PROMETHEUS_TLS_INSECURE_SKIP_VERIFY": "true",
        "WVA_SCALE_TO_ZERO": "true",
        "GLOBAL_OPT_INTERVAL": "30s",
    }
    subject = found["ClusterRoleBinding", "inferno-autoscaler-metrics-reader"]["subjects"][0]
    assert subject["name"] == "system:serviceaccounts:observability"
    (monitor,) = [body for (kind, _), body in found.items() if kind == "ServiceMonitor"]
    assert monitor["metadata"]["labels"]["team"] == "ml"
    assert monitor["spec"]["endpoints"][0]["interval"] == "20s"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"prometheus_url": ""}, "prometheus_url: is required, and must be an https URL"),
        ({"prometheus_url": None}, "prometheus_url: is required, and must be an https URL"),
        ({"prometheus_url": "http://prometheus:9090"}, "prometheus_url: must be an https URL"),
        ({"interval": "0s"}, "interval: must be a duration above zero"),
        ({"ca_secret": "A b"}, "ca_secret: "),
        ({"intervall": "60s"}, "intervall: unknown argument; did you mean 'interval'?"),
        ({"insecure_skip_verify": "perhaps"}, "insecure_skip_verify: "),
    ],
)
def test_what_is_wrong_is_named(args: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidArguments) as error:
        made(**args)
    assert f"wva: {expected}" in str(error.value)
