"""The requests that the provider sends for a node group that is there already.

hashicorp/terraform-provider-aws, internal/service/eks/node_group.go: resourceNodeGroupUpdate; ForceNew in the schema.
"""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models import shapes
from tests.clouds.aws.requests.plan import Request

FIXED = (
    *("amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "nodeGroupName", "nodeGroupNamePrefix"),
    *("nodeRoleArn", "remoteAccess", "subnetIds"),
)
"""Inputs of which a change needs another group."""
_VERSION = ("launchTemplate", "releaseVersion", "version")
_CONFIG = ("labels", "scalingConfig", "taints", "updateConfig", "nodeRepairConfig")


def replaced(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    other = any(before.get(key) != after.get(key) for key in FIXED)
    return other or before["launchTemplate"]["id"] != after["launchTemplate"]["id"]


def updates(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Request]:
    """Return the requests of an update, in their order.

    Args:
        before: The state: what was last read of the group.
        after: What the program says, with what is ignored as in the state.

    Raises:
        AssertionError: a request is none that EKS knows.
    """
    changed = {key for key in (*_VERSION, *_CONFIG) if before.get(key) != after.get(key)}
    which = {"clusterName": after["clusterName"], "nodegroupName": after["nodeGroupName"]}
    requests = []
    if changed & set(_VERSION):
        params = {**which, "force": after.get("forceUpdateVersion", False), "launchTemplate": after["launchTemplate"]}
        params |= {key: after[key] for key in ("releaseVersion", "version") if key in changed and after.get(key)}
        requests.append(Request("eks", "UpdateNodegroupVersion", params))
    if changed & set(_CONFIG):
        params = {**which, "labels": _labels(before.get("labels", {}), after.get("labels", {}))}
        # All three sizes, whichever of them differs.
        params |= {key: after[key] for key in ("scalingConfig", "updateConfig", "nodeRepairConfig") if key in changed}
        params |= _taints(before.get("taints", []), after.get("taints", []))
        requests.append(Request("eks", "UpdateNodegroupConfig", params))
    for request in requests:
        assert shapes.problems(request.service, request.operation, request.params) == []
    return requests


def _taints(before: list[dict[str, str]], after: list[dict[str, str]]) -> dict[str, Any]:
    there = {(taint["key"], taint["effect"]) for taint in after}
    added = [taint for taint in after if taint not in before]
    removed = [taint for taint in before if (taint["key"], taint["effect"]) not in there]
    payload = {"addOrUpdateTaints": added, "removeTaints": removed}
    return {"taints": {key: found for key, found in payload.items() if found}} if added or removed else {}


def _labels(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    added = {key: value for key, value in after.items() if before.get(key) != value}
    removed = [key for key in before if key not in after]
    return {
        **({"addOrUpdateLabels": added} if added else {}),
        **({"removeLabels": removed} if removed else {}),
    }
