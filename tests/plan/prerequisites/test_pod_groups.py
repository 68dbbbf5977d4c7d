"""PodGroups, against Volcano's CustomResourceDefinition at v1.12.2 (installer/helm/chart/volcano/crd/bases)."""

from typing import Any

import pytest

from components.contract.checking import check
from components.contract.schema.crds import crd
from components.plan.prerequisites.pod_groups import POD_GROUP
from tests.fleet.test_on_cluster import established, eventually
from toolkit.kube import Kube, KubeError

Object = dict[str, Any]
SPEC: Object = {
    "minMember": 12,
    "minTaskMember": {"p-0": 2, "p-1": 2, "d-0": 4, "d-1": 4},
    "minResources": {"nvidia.com/gpu": "12", "memory": "8Gi", "cpu": 4},
    "networkTopology": {"mode": "soft", "highestTierAllowed": 2},
    "priorityClassName": "high",
    "queue": "gpus",
}
TYPES = {
    "minMember": "integer",
    "minTaskMember": "object",
    "minResources": "object",
    "networkTopology": "object",
    "priorityClassName": "string",
    "queue": "string",
}
VALID: list[Object] = [SPEC, {}, {"minMember": 0}, {"networkTopology": {}}, {"minMember": -1}]
INVALID: list[Object] = [
    {"minMember": "2"},
    {"minMember": 2**31},
    {"minTaskMember": {"p-0": "2"}},
    {"minResources": {"cpu": "four"}},
    {"networkTopology": {"mode": "firm"}},
    {"queue": 1},
]


def group(spec: Object) -> Object:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "chat-0", "namespace": "default"},
        "spec": spec,
    }


def test_its_definition_is_that_of_the_chart() -> None:
    definition = crd(POD_GROUP)
    assert definition["metadata"]["name"] == "podgroups.scheduling.volcano.sh"
    names = definition["spec"]["names"]
    assert (names["kind"], names["plural"], names["shortNames"]) == (
        "PodGroup",
        "podgroups",
        ["pg", "podgroup-v1beta1"],
    )
    assert definition["spec"]["scope"] == "Namespaced"
    (version,) = definition["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert {name: field["type"] for name, field in spec.items()} == TYPES
    assert spec["queue"]["default"] == "default"
    topology = spec["networkTopology"]["properties"]
    assert (topology["mode"]["default"], topology["highestTierAllowed"]["default"]) == ("hard", 1)
    assert topology["mode"]["enum"] == ["hard", "soft"]


@pytest.mark.parametrize("spec", VALID)
def test_what_the_chart_takes(spec: Object) -> None:
    assert check(group(spec), POD_GROUP)[1] == []


@pytest.mark.parametrize("spec", INVALID)
def test_what_the_chart_refuses(spec: Object) -> None:
    assert check(group(spec), POD_GROUP)[1] != []


def test_the_api_server_agrees(kube: Kube) -> None:
    definition = crd(POD_GROUP)
    kube.apply(definition, manager="test-pod-groups")
    try:
        eventually(lambda: established(kube, definition["metadata"]["name"]))
        kube.forget()
        for spec in VALID:
            kube.apply(group(spec), manager="test-pod-groups", dry_run=True)
        for spec in INVALID:
            with pytest.raises(KubeError):
                kube.apply(group(spec), manager="test-pod-groups", dry_run=True)
    finally:
        kube.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition["metadata"]["name"])
