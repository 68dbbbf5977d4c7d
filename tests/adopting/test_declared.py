"""The declared part of live objects."""

from typing import Any

import pytest

from tests.adopting.support import deployment, service
from workbench.adopting.declared import declared, missing_parts


def live(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    metadata = {"uid": "1", "generation": 3, "resourceVersion": "9", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {**body, "metadata": {**body["metadata"], **metadata}, "status": {"replicas": 1}, **changes}


def test_what_the_server_added_is_left_out() -> None:
    body = deployment("chat", "models")
    served = live(body)
    served["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "4"}
    served["spec"] = {
        **body["spec"],
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": {
            "metadata": {"creationTimestamp": None, **body["spec"]["template"]["metadata"]},
            "spec": {**body["spec"]["template"]["spec"], "dnsPolicy": "ClusterFirst", "securityContext": {}},
        },
    }
    assert declared(served) == body


def test_values_other_than_the_defaults_stay() -> None:
    body = deployment("chat", "models")
    body["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}}
    body["spec"]["template"]["spec"]["dnsPolicy"] = "Default"
    result = declared(live(body))
    assert result["spec"]["strategy"] == {"rollingUpdate": {"maxSurge": 1}}
    assert result["spec"]["template"]["spec"]["dnsPolicy"] == "Default"


@pytest.mark.parametrize("scaled", [True, False])
def test_replicas_of_an_autoscaler_are_not_declared(scaled: bool) -> None:
    result = declared(live(deployment("chat", "models", 7)), scaled=scaled)
    assert result["spec"].get("replicas") == (None if scaled else 7)


@pytest.mark.parametrize(("address", "kept"), [("10.0.0.7", None), ("None", "None")])
def test_assigned_addresses_are_not_declared(address: str, kept: str | None) -> None:
    body = service("chat", "models")
    body["spec"] |= {"clusterIP": address, "clusterIPs": [address], "ipFamilies": ["IPv4"]}
    body["spec"]["ports"][0]["nodePort"] = 30000
    spec = declared(live(body))["spec"]
    assert spec.get("clusterIP") == kept
    assert "clusterIPs" not in spec
    assert spec["ports"] == [{"port": 80, "targetPort": 8000}]


def test_fields_that_only_controllers_own_are_not_declared() -> None:
    body = deployment("chat", "models")
    body["metadata"]["annotations"] = {"injected": "1", "mine": "2"}
    owned: dict[str, Any] = {"f:metadata": {"f:annotations": {".": {}, "f:injected": {}}}}
    kept: dict[str, Any] = {"f:metadata": {"f:annotations": {"f:mine": {}}}}
    served = live(body)
    served["metadata"]["managedFields"] = [
        {"manager": "sidecar-controller", "operation": "Update", "fieldsV1": owned},
        {"manager": "kubectl", "operation": "Update", "fieldsV1": kept},
    ]
    assert declared(served)["metadata"]["annotations"] == {"mine": "2"}


@pytest.mark.parametrize(
    ("part", "whole", "fits"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": {}}, {}, True),
        ({"a": {"b": 1}}, {}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, True),
        ({"cpu": "2000m"}, {"cpu": "2"}, True),
        ({"cpu": 1}, {"cpu": "1"}, True),
        ({"image": "a:1"}, {"image": "a:2"}, False),
    ],
)
def test_a_part_of_a_whole(part: Any, whole: Any, fits: bool) -> None:
    assert (list(missing_parts(part, whole)) == []) is fits


def test_differences_name_the_field() -> None:
    assert list(missing_parts({"a": [{"b": 1}]}, {"a": [{"b": 2}]})) == [("a[0].b", 1, 2)]
