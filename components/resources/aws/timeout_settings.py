"""Settings of the timeouts of AWS resources, shared by programs and stacks."""

from ...plan.section import Section
from ...plan.sections.timeouts import Duration


class AwsTimeoutSettings(Section):
    """How long an update waits for single AWS resources before it fails, instead of the computed times."""

    cluster: Duration | None = None
    """Timeout of the EKS cluster, each add-on and the bastion. Default: those of the provider."""
    node_groups: Duration | None = None
    """Timeout of each node group, and of the deletion of a Karpenter pool, such as 3h. Default: for updates of node
    groups, the longest time in which EKS replaces all their nodes, with a margin; otherwise those of the provider."""
    network: Duration | None = None
    """Timeout of each network resource, such as a NAT gateway. Default: those of the provider."""
    storage: Duration | None = None
    """Timeout of each file system and mount target. Default: those of the provider."""
