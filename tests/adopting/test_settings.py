"""The settings of the stack: the release of each API is that of the cluster."""

from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds, releases_of
from workbench.adopting.settings import fleet_values, releases_to_set
from workbench.inspecting.snapshot import ClusterSnapshot

SERVICE = ("inference.llmkube.dev/v1alpha1", "InferenceService")
NEWER = "v0.9.19"


def service(**spec: Any) -> dict[str, Any]:
    api_version, kind = SERVICE
    metadata = {"name": "chat", "namespace": "models"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"modelRef": "chat", **spec}}


def definitions(release: str) -> tuple[dict[str, Any], ...]:
    of_family = (kind.at(release) for kind in kinds() if kind.releases.family == "llmkube")
    return tuple(crd(kind) for kind in of_family if kind.exists)


@pytest.mark.parametrize(
    ("release", "expected"), [(NEWER, {"llmkube": NEWER}), (releases_of("llmkube").contract, {})]
)
def test_the_release_follows_the_definitions_of_the_cluster(release: str, expected: dict[str, str]) -> None:
    snapshot = ClusterSnapshot((service(),), definitions=definitions(release))
    assert releases_to_set(snapshot, [service()]) == expected


@pytest.mark.parametrize(
    # spec.suspend exists since v0.9.11 (defilantech/LLMKube, config/crd/bases of that release).
    ("spec", "is_set"),
    [({}, False), ({"suspend": True}, True)],
)
def test_without_definitions_it_follows_the_fields_that_are_used(spec: dict[str, Any], *, is_set: bool) -> None:
    releases = releases_to_set(ClusterSnapshot((service(**spec),)), [service(**spec)])
    assert bool(releases) == is_set
    assert set(releases.values()) <= set(releases_of("llmkube").names[-1:])


def test_only_families_with_resources_get_a_release() -> None:
    releases = {"llmkube": NEWER, "kthena": "v1.0.0"}
    assert fleet_values([service()], (), releases)["releases"] == {"llmkube": NEWER}
    assert "releases" not in fleet_values([], (), releases)
