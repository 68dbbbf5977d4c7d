"""The words that say how a cluster on AWS and its nodes are made."""

from ...contract.words import Word


class Provisioner(Word):
    """What launches the nodes."""

    MANAGED = "managed"
    """EKS, as managed node groups that the Cluster Autoscaler sizes."""
    KARPENTER = "karpenter"
    """Karpenter, as its pools allow."""


class NodeImage(Word):
    """Operating system image of the nodes."""

    AL2023 = "al2023"
    BOTTLEROCKET = "bottlerocket"
    """Brings NVIDIA's device plugin."""

    @property
    def brings(self) -> frozenset[str]:
        """What needs no chart on these nodes, as charts name what they provide."""
        return frozenset({"nvidia.com/gpu"}) if self is NodeImage.BOTTLEROCKET else frozenset()


class NatGateways(Word):
    """How private subnets reach the internet."""

    ONE = "one"
    PER_ZONE = "per-zone"
    NONE = "none"
    """Not at all: nodes start only if they reach what they need through interface endpoints."""


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
    """More time, for more money."""


class Throughput(Word):
    """How the throughput of an EFS file system is bought."""

    ELASTIC = "elastic"
    """As much as is used, paid by the gigabyte."""
    BURSTING = "bursting"
    """In proportion to what is stored, included in its price."""
    PROVISIONED = "provisioned"
    """A fixed rate, paid by the hour."""


class LustreDeployment(Word):
    """How an FSx for Lustre file system keeps its data."""

    PERSISTENT_2 = "persistent-2"
    """Replicated; a file server that fails is replaced within minutes."""
    SCRATCH_2 = "scratch-2"
    """Kept once: what was on a file server that fails is gone."""


class ServiceLinkedRole(Word):
    """Where a service-linked role of the account comes from."""

    EXISTING = "existing"
    """It is there already, or the account's owner makes it: an account has one, whatever stacks it has."""
    CREATE = "create"
    """The stack makes it, and leaves it in the account when it goes."""
