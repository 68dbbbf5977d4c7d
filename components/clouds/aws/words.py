"""Options of clusters on AWS and of their nodes."""

from ...contract.words import Word


class Provisioner(Word):
    """What launches the nodes."""

    MANAGED = "managed"
    """EKS managed node groups, which the Cluster Autoscaler sizes."""
    KARPENTER = "karpenter"
    """Karpenter, within the limits of its pools."""


class NodeImage(Word):
    """Operating system image of the nodes."""

    AL2023 = "al2023"
    BOTTLEROCKET = "bottlerocket"
    """Includes NVIDIA's device plugin."""

    @property
    def brings(self) -> frozenset[str]:
        """Capabilities that the image includes, in the terms of charts, which therefore need no chart."""
        return frozenset({"nvidia.com/gpu"}) if self is NodeImage.BOTTLEROCKET else frozenset()


class NatGateways(Word):
    """How private subnets reach the internet."""

    ONE = "one"
    PER_ZONE = "per-zone"
    NONE = "none"
    """No access: nodes start only if interface endpoints provide all services that they need."""


class Traffic(Word):
    """Which connections flow logs record."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"
    ALL = "all"


class Support(Word):
    """What happens when standard support for a Kubernetes version ends."""

    STANDARD = "standard"
    """EKS upgrades the control plane."""
    EXTENDED = "extended"
    """The cluster keeps its version for another year, at a higher price."""


class Throughput(Word):
    """How the throughput of an EFS file system is bought."""

    ELASTIC = "elastic"
    """Scales with use and is billed per gigabyte."""
    BURSTING = "bursting"
    """In proportion to the stored data, included in the price of storage."""
    PROVISIONED = "provisioned"
    """A fixed rate, billed by the hour."""


class LustreDeployment(Word):
    """How an FSx for Lustre file system keeps its data."""

    PERSISTENT_2 = "persistent-2"
    """Replicated; a file server that fails is replaced within minutes."""
    SCRATCH_2 = "scratch-2"
    """Not replicated: if a file server fails, its data is lost."""


class ServiceLinkedRole(Word):
    """Where a service-linked role of the account comes from."""

    EXISTING = "existing"
    """It exists, or is created outside this stack: an account has at most one."""
    CREATE = "create"
    """The stack creates it, and keeps it in the account when the stack is destroyed."""
