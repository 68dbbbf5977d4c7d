"""Empty maps and lists that the API server drops are not sent; tests/cluster/models holds this against a real one."""

import copy
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.contract.schema.empty import without_empty
from components.families import kinds

STRUCTS: dict[str, Any] = {
    "emptyDir": {},
    "podSelector": {},
    "securityContext": {},
    "affinity": {},
    "resources": {},
    "selector": {},
}


@pytest.mark.parametrize(
    ("kind", "api_version", "spec", "sent"),
    [
        ("Deployment", "apps/v1", {"tolerations": [], "nodeSelector": {}}, {}),
        ("Deployment", "apps/v1", STRUCTS, STRUCTS),
        ("Service", "v1", {"selector": {}, "ports": []}, {}),
        ("NetworkPolicy", "networking.k8s.io/v1", {"ingress": [{}], "egress": []}, {"ingress": [{}]}),
        ("Deployment", "apps/v1", {"labels": {"a": "", "labels": {}}}, {"labels": {"a": "", "labels": {}}}),
        ("ConfigMap", "v1", {"data": {"empty": ""}}, {"data": {"empty": ""}}),
        ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", {"tolerations": []}, {"tolerations": []}),
        ("Gateway", "gateway.networking.k8s.io/v1", {"listeners": []}, {"listeners": []}),
    ],
)
def test_what_is_sent(kind: str, api_version: str, spec: dict[str, Any], sent: dict[str, Any]) -> None:
    head = {"apiVersion": api_version, "kind": kind}
    value = {**head, "metadata": {"name": "a", "labels": {}, "annotations": {}}, "spec": spec}
    before = copy.deepcopy(value)
    assert without_empty(value) == {**head, "metadata": {"name": "a"}, "spec": sent}
    assert value == before


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.crd_name)
def test_a_definition_has_no_schema_with_empty_properties(kind: Any) -> None:
    def check(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key in ("properties", "required"):
                assert value.get(key) not in ({}, []), f"{path}.{key}"
            for key, inner in value.items():
                check(inner, f"{path}.{key}")

    (version,) = crd(kind)["spec"]["versions"]
    check(version["schema"], "schema")
    assert version["subresources"]["status"] == {}
