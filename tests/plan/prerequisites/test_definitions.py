"""The definitions that are applied before a chart: of its release, and only where Helm would not update them."""

from typing import Any

import pytest

from components.plan.prerequisites.charts import charts
from components.plan.prerequisites.definitions import definitions_of

Object = dict[str, Any]
NETWORKING = ["modelservers.networking.serving.volcano.sh", "modelroutes.networking.serving.volcano.sh"]
WORKLOAD = [
    f"{plural}.workload.serving.volcano.sh"
    for plural in ("modelboosters", "modelservings", "autoscalingpolicies", "autoscalingpolicybindings")
]
LLMAZ = ["openmodels.llmaz.io", *(f"{p}.inference.llmaz.io" for p in ("backendruntimes", "playgrounds", "services"))]


# Which charts have a crds folder, and what is in it: charts/kthena of volcano-sh/kthena, chart of InftyAI/llmaz, and
# charts/llmkube of defilantech/LLMKube, whose definitions are templates.
@pytest.mark.parametrize(
    ("name", "version", "names"),
    [
        ("kthena-router", "v0.1.0", NETWORKING),
        ("kthena", "v0.1.0", WORKLOAD),
        ("kthena", "v0.4.0", WORKLOAD),
        ("kthena", "v1.0.0", WORKLOAD[:-1]),
        ("llmaz", "0.0.6", LLMAZ),
        ("llmaz", "0.0.10", LLMAZ),
        ("llmkube", "0.9.19", []),
        ("cert-manager", "v1.18.2", []),
        ("kthena", "v9.9.9", []),
    ],
)
def test_the_definitions_of_a_version(name: str, version: str, names: list[str]) -> None:
    found = definitions_of(charts()[name], version)
    assert sorted(body["metadata"]["name"] for body in found) == sorted(names)


def schema_of(name: str, version: str, plural: str) -> Object:
    (body,) = (b for b in definitions_of(charts()[name], version) if b["spec"]["names"]["plural"] == plural)
    properties: Object = body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    return properties


def test_they_are_of_the_release() -> None:
    assert "backend" not in schema_of("kthena", "v0.1.0", "modelboosters")
    assert "backends" not in schema_of("kthena", "v0.2.0", "modelboosters")
    assert "homogeneousTarget" not in schema_of("kthena", "v0.4.0", "autoscalingpolicies")
    assert "homogeneousTarget" in schema_of("kthena", "v1.0.0", "autoscalingpolicies")


def test_the_pinned_version_has_those_of_its_own_release() -> None:
    """The contract's release is installed by the chart of v0.1.0, which has one field more."""
    backends = schema_of("kthena", charts()["kthena"].version, "modelboosters")["backends"]
    assert "schedulerName" in backends["items"]["properties"]


def test_fields_of_definitions_that_helm_created_are_taken_over() -> None:
    for body in definitions_of(charts()["kthena"], "v0.2.0"):
        assert body["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}
