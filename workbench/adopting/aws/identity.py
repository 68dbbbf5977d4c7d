"""Whether the cluster of a kubeconfig is the one that AWS describes."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from components.contract.texts.printable import printable
from toolkit.kubeconfig import ClusterEntry

from ...errors import WorkbenchError
from .inventory import FoundCluster

_HTTPS = 443
_CLUSTER = "aws:eks/cluster:Cluster"


def check_same_cluster(cluster: FoundCluster, entry: ClusterEntry, source: str) -> str:
    """Check that a kubeconfig leads to a cluster on AWS: to its endpoint, or to a server with its CA.

    A tunnel or a proxy has another address, but the same CA, which EKS creates for each cluster.

    Args:
        cluster: The cluster on AWS.
        entry: The cluster of the kubeconfig.
        source: What describes the cluster on AWS.

    Returns:
        A note if the source states neither endpoint nor CA; otherwise empty.

    Raises:
        WorkbenchError: it is another cluster.
    """
    own, described = entry.authority.strip(), _decoded(cluster.authority)
    if not (cluster.endpoint or described):
        return (
            f"not checked: whether {entry.server}, cluster {entry.name} of the kubeconfig, is the EKS cluster "
            f"{cluster.name}, because {source} states neither its endpoint nor its CA certificate; compare with `aws "
            f"eks describe-cluster --name {cluster.name}`, or use --aws"
        )
    if (cluster.endpoint and _address(cluster.endpoint) == _address(entry.server)) or (own and own == described):
        return ""
    raise WorkbenchError(
        printable(
            f"--kubeconfig: cluster {entry.name} at {entry.server} is not the EKS cluster {cluster.name} in "
            f"{cluster.region or 'AWS'} at {cluster.endpoint or 'an unknown endpoint'}: neither the address nor the "
            "CA certificate is the same; select its context with --context, or write the kubeconfig with `aws eks "
            f"update-kubeconfig --name {cluster.name}`"
        )
    )


def existing_cluster(cluster: FoundCluster, entry: ClusterEntry) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the outputs of the EKS cluster that the program of a stack reads, by type and id.

    What the source does not state is taken from the kubeconfig, which leads to the same cluster.
    """
    authority = cluster.authority or base64.b64encode(entry.authority).decode()
    return {
        (_CLUSTER, cluster.name): {
            "name": cluster.name,
            "endpoint": cluster.endpoint or entry.server,
            "certificateAuthority": {"data": authority},
            "vpcConfig": {"vpcId": cluster.vpc_id, "clusterSecurityGroupId": cluster.security_group},
        }
    }


def _decoded(authority: str) -> bytes:
    try:
        return base64.b64decode(authority, validate=True).strip()
    except (binascii.Error, ValueError):
        return b""


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    try:
        return (parts.hostname or "").lower(), parts.port or _HTTPS
    except ValueError:  # not a port
        return url, 0
