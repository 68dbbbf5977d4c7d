"""The table of charts, held against lws-hpa spec 2.1 and the specs of the operators."""

import pytest

from components.catalog.charts import EXCLUSIVE, charts, providers_of


@pytest.mark.parametrize(
    ("name", "chart", "version", "namespace"),
    [
        ("metrics-server", "metrics-server", "3.13.1", "kube-system"),
        ("prometheus", "kube-prometheus-stack", "88.5.3", "monitoring"),
        ("prometheus-adapter", "prometheus-adapter", "5.3.0", "monitoring"),
        ("keda", "keda", "2.20.2", "keda"),
        ("nvidia-device-plugin", "nvidia-device-plugin", "0.20.0", "nvidia-device-plugin"),
        ("dcgm-exporter", "dcgm-exporter", "4.8.2", "monitoring"),
        ("gpu-operator", "gpu-operator", "v26.7.0", "gpu-operator"),
        ("karpenter", "oci://public.ecr.aws/karpenter/karpenter", "1.14.1", "kube-system"),
        ("cluster-autoscaler", "cluster-autoscaler", "9.59.0", "kube-system"),
        ("load-balancer-controller", "aws-load-balancer-controller", "3.5.0", "kube-system"),
        ("envoy-gateway", "oci://docker.io/envoyproxy/gateway-helm", "v1.9.0", "envoy-gateway-system"),
        ("ai-gateway", "oci://docker.io/envoyproxy/ai-gateway-helm", "v1.1.0", "envoy-ai-gateway-system"),
        ("leader-worker-set", "oci://registry.k8s.io/lws/charts/lws", "0.10.0", "lws-system"),
        ("llmaz", "oci://registry-1.docker.io/inftyai/llmaz", "0.0.10", "llmaz-system"),
        ("llmkube", "llmkube", "0.8.7", "llmkube-system"),
        ("kthena", "oci://ghcr.io/volcano-sh/charts/kthena", "v0.1.0", "kthena-system"),
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


def test_value_types_are_known_words() -> None:
    kinds = {kind for pin in charts().values() for kind in pin.values.values()}
    assert kinds <= {"bool", "int", "str", "list", "dict"}
