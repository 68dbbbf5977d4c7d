"""The table of charts, held against lws-hpa spec 2.1 and the specs of the operators."""

import pytest

from components.families import kinds
from components.families.kthena import names
from components.plan.prerequisites.charts import EXCLUSIVE, ChartValue, chart_values, charts, known, providers_of
from components.resources.prerequisites.operators import ROUTER_SERVICE


@pytest.mark.parametrize(
    ("name", "chart", "version", "namespace"),
    [
        ("metrics-server", "metrics-server", "3.13.1", "kube-system"),
        ("prometheus", "kube-prometheus-stack", "88.5.3", "monitoring"),
        ("prometheus-adapter", "prometheus-adapter", "5.3.0", "monitoring"),
        ("keda", "keda", "2.21.0", "keda"),
        ("nvidia-device-plugin", "nvidia-device-plugin", "0.20.0", "nvidia-device-plugin"),
        ("dcgm-exporter", "dcgm-exporter", "4.8.2", "monitoring"),
        ("gpu-operator", "gpu-operator", "v26.7.0", "gpu-operator"),
        ("karpenter", "oci://public.ecr.aws/karpenter/karpenter", "1.15.1", "kube-system"),
        ("cluster-autoscaler", "cluster-autoscaler", "9.59.0", "kube-system"),
        ("load-balancer-controller", "aws-load-balancer-controller", "3.5.0", "kube-system"),
        ("envoy-gateway", "oci://docker.io/envoyproxy/gateway-helm", "v1.9.0", "envoy-gateway-system"),
        ("ai-gateway", "oci://docker.io/envoyproxy/ai-gateway-helm", "v1.1.0", "envoy-ai-gateway-system"),
        ("leader-worker-set", "oci://registry.k8s.io/lws/charts/lws", "0.10.0", "lws-system"),
        ("llmaz", "oci://registry-1.docker.io/inftyai/llmaz", "0.0.10", "llmaz-system"),
        ("llmkube", "llmkube", "0.8.7", "llmkube-system"),
        ("kthena", "oci://ghcr.io/volcano-sh/charts/kthena", "v0.1.0", "kthena-system"),
        ("kthena-router", "oci://ghcr.io/volcano-sh/charts/kthena", "v0.1.0", "kthena-system"),
        ("volcano", "volcano", "1.15.0", "volcano-system"),
    ],
)
def test_coordinates(name: str, chart: str, version: str, namespace: str) -> None:
    pin = charts()[name]
    assert (pin.chart, pin.version, pin.namespace) == (chart, version, namespace)


def test_every_chart_can_be_found_and_is_pinned() -> None:
    for pin in charts().values():
        assert bool(pin.repo) != pin.chart.startswith("oci://"), pin.name
        assert pin.version[0].isdigit() or pin.version[0] == "v", pin.name
        assert pin.stage >= 1


def test_whatever_is_needed_is_provided_by_some_chart() -> None:
    for pin in charts().values():
        for thing in pin.needs:
            assert providers_of(thing), (pin.name, thing)


def test_needs_have_no_circles() -> None:
    def above(name: str, seen: tuple[str, ...] = ()) -> None:
        assert name not in seen, seen
        for thing in charts()[name].needs:
            for other in providers_of(thing):
                above(other, (*seen, name))

    for name in charts():
        above(name)


def test_exclusive_things_are_provided_by_somebody() -> None:
    assert all(providers_of(thing) for thing in EXCLUSIVE)
    assert providers_of("external.metrics.k8s.io") == ("prometheus-adapter", "keda")
    assert providers_of("nvidia.com/gpu") == ("nvidia-device-plugin", "gpu-operator")


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("kthena", {"workload.serving.volcano.sh"}),
        ("kthena-router", {"networking.serving.volcano.sh"}),
        ("llmaz", {"llmaz.io", "inference.llmaz.io"}),
        ("llmkube", {"federation.llmkube.dev", "inference.llmkube.dev"}),
        ("keda", {"keda.sh", "eventing.keda.sh"}),
        ("metrics-server", set()),
    ],
)
def test_api_groups_that_charts_bring(name: str, groups: set[str]) -> None:
    """Groups of the contract, and of the kinds' own specs."""
    assert set(charts()[name].crds) == groups


def test_every_kind_of_the_contract_is_brought_by_one_chart_or_what_stands_for_one() -> None:
    for kind in kinds():
        assert len([name for name, pin in known().items() if kind.group in pin.crds]) == 1, kind.title


def test_value_types_are_known_words() -> None:
    words = {word for pin in charts().values() for word in pin.values.values()}
    assert words <= {"bool", "int", "str", "list", "dict"}


def test_a_value_is_known_with_its_default_and_what_it_is_for() -> None:
    """lws-hpa spec 2.2: GPU feature discovery is off by default."""
    found = chart_values()["nvidia-device-plugin"].by_path["gfd.enabled"]
    assert found == ChartValue("bool", found.why, default=False)
    assert charts()["nvidia-device-plugin"].values["gfd.enabled"] == "bool"


def test_a_value_that_a_chart_hands_on_names_who_reads_it() -> None:
    found = chart_values()["cluster-autoscaler"].by_path["extraArgs.expander"]
    assert (found.default, found.schema) == (None, "flags of cluster-autoscaler")


def test_llmkubes_monitor_comes_after_the_kind_of_monitors() -> None:
    assert "monitors" in charts()["llmkube"].needs
    assert providers_of("monitors") == ("prometheus",)


def test_kthenas_controllers_are_added_to_the_router_that_is_there() -> None:
    """Two releases of one chart: with the same name each would be an edit of the other."""
    router, operator = charts()["kthena-router"], charts()["kthena"]
    assert (router.chart, router.version, router.namespace) == (operator.chart, operator.version, operator.namespace)
    assert router.release != operator.release
    assert not set(router.crds) & set(operator.crds)
    assert operator.needs == ("certificates", "kthena-router")
    assert router.needs == ()


def test_no_release_has_the_name_of_another_in_its_namespace() -> None:
    named = [(pin.namespace, pin.release) for pin in charts().values()]
    assert len(named) == len(set(named))


def test_the_words_of_the_family_are_those_of_the_charts() -> None:
    assert (names.ROUTER, names.VOLCANO) == ("kthena-router", "volcano")
    assert {names.ROUTER, names.VOLCANO, names.OPERATOR} <= set(charts())
    host = f"{ROUTER_SERVICE}.{charts()[names.ROUTER].namespace}.svc"
    assert (host, charts()[names.OPERATOR].namespace) == (names.ROUTER_HOST, names.CONTROLLER_NAMESPACE)
