"""Whether the pods of a chart may run on the nodes of our groups, by the rules of the Kubernetes scheduler."""

from collections.abc import Mapping
from typing import Any

from components.clouds.aws.nodes.labels import cloud_labels, own_labels
from components.clouds.aws.words import Provisioner
from components.fleet.instances import Instance
from components.fleet.nodes.groups import NodeGroupDemand
from components.fleet.nodes.policy import Capacity
from components.fleet.placement import taints

PROVISIONERS = tuple(Provisioner)
Object = dict[str, Any]


def labels(node: Instance, provisioner: Provisioner) -> dict[str, str]:
    """The labels that a node of a group has when it joins, without anything that is discovered later."""
    known = cloud_labels(node, Capacity.ON_DEMAND, "us-east-1a", "us-east-1", provisioner)
    demand = NodeGroupDemand("g", node.name, 1, {}, taints(node.name))
    return {**known, **own_labels(demand, node, known)}


def tolerated(pod: Object, node: Instance) -> bool:
    """Whether a pod tolerates every taint of a node of this type."""
    found = pod.get("tolerations") or []
    return all(any(_tolerates(toleration, taint) for toleration in found) for taint in taints(node.name))


def _tolerates(toleration: Object, taint: Mapping[str, str]) -> bool:
    if toleration.get("effect", taint["effect"]) != taint["effect"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return bool(toleration.get("key", taint["key"]) == taint["key"])
    return (toleration.get("key"), toleration.get("value", "")) == (taint["key"], taint["value"])


def selected(pod: Object, of: Mapping[str, str]) -> bool:
    """Whether a pod's node selector and required affinity take a node with these labels."""
    if any(of.get(key) != value for key, value in (pod.get("nodeSelector") or {}).items()):
        return False
    required = ((pod.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return not required or any(
        all(_matches(expression, of) for expression in term["matchExpressions"])
        for term in required["nodeSelectorTerms"]
    )


def _matches(expression: Object, of: Mapping[str, str]) -> bool:
    value, operator = of.get(expression["key"]), expression["operator"]
    known = {
        "Exists": value is not None,
        "DoesNotExist": value is None,
        "In": value in expression.get("values", ()),
        "NotIn": value not in expression.get("values", ()),
    }
    return known[operator]
