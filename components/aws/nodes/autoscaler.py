"""How the Cluster Autoscaler knows a node group without nodes (aws-gpu spec 9)."""

from collections.abc import Mapping

from ...nodes.groups import NodeGroupDemand, offered_by
from ...nodes.instances import instance

_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


def autoscaler_tags(group: NodeGroupDemand, labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the tags by which the Cluster Autoscaler knows a group without nodes (aws-gpu spec 9).

    Args:
        group: The group.
        labels: All labels that its nodes will carry, where they are more than the pods ask for.
    """
    node = instance(group.instance_type)
    offered = offered_by(group.instance_type, efa=group.efa)
    extended = {key: str(amount) for key, amount in offered.items() if "/" in key} if node else {}
    return {
        **{f"{_TEMPLATE}/label/{key}": value for key, value in (labels or group.labels).items()},
        **{f"{_TEMPLATE}/taint/{t['key']}": f"{t['value']}:{t['effect']}" for t in group.taints},
        **{f"{_TEMPLATE}/resources/{key}": amount for key, amount in extended.items()},
    }
