"""Who makes nodes when pods wait for them: the Cluster Autoscaler or Karpenter, never both on the same nodes."""

from typing import Any, Required, TypedDict

import pulumi

from .chart import ChartComponent


class ClusterAutoscalerArgs(TypedDict):
    """Arguments of ClusterAutoscaler."""

    cluster_name: str
    """Name of the EKS cluster; groups are found by tags that hold it."""
    region: str
    """AWS region."""


class ClusterAutoscaler(ChartComponent):
    """Sizes the node groups. Its rights come with the service account's Pod Identity (see Identities)."""

    def __init__(self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("cluster-autoscaler", name, cluster_autoscaler_values(args), opts)


def cluster_autoscaler_values(args: ClusterAutoscalerArgs) -> dict[str, Any]:
    """Return the chart's values. Model pods keep caches on local disks; that alone must not keep a node."""
    return {
        "fullnameOverride": "cluster-autoscaler",
        "cloudProvider": "aws",
        "awsRegion": args["region"],
        "autoDiscovery": {"clusterName": args["cluster_name"]},
        "rbac": {"serviceAccount": {"name": "cluster-autoscaler"}},
        "extraArgs": {
            "expander": "least-waste",
            "skip-nodes-with-local-storage": False,
            "scale-down-unneeded-time": "10m",
        },
    }


class KarpenterArgs(TypedDict, total=False):
    """Arguments of Karpenter."""

    cluster_name: Required[str]
    """Name of the EKS cluster."""
    interruption_queue: Required[pulumi.Input[str]]
    """Name of the queue of notices: KarpenterAccess.queue_name."""


class Karpenter(ChartComponent):
    """Makes nodes for waiting pods, as its pools allow. Its rights come with its Pod Identity (see Identities).

    Runs on nodes that it did not make: two of them at least.
    """

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("karpenter", name, karpenter_values(args), opts)


def karpenter_values(args: KarpenterArgs) -> dict[str, Any]:
    """Return the chart's values."""
    return {
        "settings": {"clusterName": args["cluster_name"], "interruptionQueue": args["interruption_queue"]},
        "serviceAccount": {"name": "karpenter"},
        "replicas": 2,
    }
