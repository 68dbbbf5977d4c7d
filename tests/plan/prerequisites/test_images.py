"""The images of charts: each chart has its rows, and the values that lead to a cache."""

from typing import Any

import pytest

from components.clouds.aws.images import RegistryCache, upstream
from components.contract.tables import load_table
from components.plan.prerequisites.charts import known
from components.plan.prerequisites.images import chart_images, image_values, uncached_images

HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
CACHE = RegistryCache("123456789012", "us-east-1", ("docker.io", "ghcr.io", "quay.io", "registry.k8s.io"))


def test_the_rows_are_of_the_pinned_versions() -> None:
    """A pin that is raised has its images read again."""
    rows = load_table("components.plan.prerequisites", "chart_images.yaml")
    assert {name: str(row["version"]) for name, row in rows.items()} == {
        name: chart.version for name, chart in known().items()
    }


@pytest.mark.parametrize("chart", sorted(known()))
def test_a_value_leads_to_the_cache_or_there_is_a_reason(chart: str) -> None:
    for each in chart_images()[chart]:
        assert bool(each.path) != bool(each.why), each.image
        assert each.registry not in ("", "docker.io") or each.image.startswith("docker.io/"), (
            "named with its registry"
        )
        if upstream(each.registry) and each.path:
            cache = RegistryCache("123456789012", "us-east-1", (each.registry,))
            assert each.value(cache).startswith(f"{HOST}/{cache.prefix_of(each.registry)}")


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        ("metrics-server", {"image": {"repository": f"{HOST}/kubernetes/metrics-server/metrics-server"}}),
        ("volcano", {"basic": {"image_registry": f"{HOST}/docker-hub"}}),
        ("envoy-gateway", {"global": {"imageRegistry": f"{HOST}/docker-hub"}}),
        (
            "keda",
            {"image": {name: {"registry": f"{HOST}/github"} for name in ("keda", "metricsApiServer", "webhooks")}},
        ),
        # ECR cannot cache nvcr.io.
        ("nvidia-device-plugin", {"nfd": {"image": {"repository": f"{HOST}/kubernetes/nfd/node-feature-discovery"}}}),
        ("dcgm-exporter", {}),
        ("karpenter", {}),
        ("efa-device-plugin", {}),
    ],
)
def test_the_values_of_a_chart(chart: str, values: dict[str, Any]) -> None:
    assert image_values(chart, CACHE) == values


@pytest.mark.parametrize("chart", sorted(known()))
def test_without_a_cache_there_are_no_values(chart: str) -> None:
    assert image_values(chart, None) == {}


def test_what_is_left_out_is_known() -> None:
    assert [each.image for each in uncached_images("nvidia-device-plugin", CACHE)] == [
        "nvcr.io/nvidia/k8s-device-plugin"
    ]
    assert uncached_images("volcano", CACHE) == ()
    assert [each.image for each in uncached_images("neuron-device-plugin", CACHE)] == [
        "public.ecr.aws/neuron/neuron-device-plugin"
    ]
