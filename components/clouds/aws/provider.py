"""AWS in general; see :class:`~..fleet.cloud.CloudProvider`."""

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from ...fleet.cloud import Cloud
from ...fleet.images import PullThroughCache
from ...fleet.instances import DescribedType, Instance, instance
from ...fleet.nodes.groups import NodeGroupDemand
from . import transitions
from .facts import updates
from .facts.regions import REGION
from .images import ACCOUNT, RegistryCache, cache_problems, region_problem
from .instances import described_type
from .load_balancers import NETWORK_LOAD_BALANCERS
from .names import EFA_RESOURCE, NEURON_RESOURCE
from .prices.tables import PRICES
from .subnets import CIDR, range_of
from .words import NodeImage


class EcrCaching:
    """The rules of ECR for caching other registries."""

    account_pattern = ACCOUNT.pattern

    def problems(
        self, registries: Iterable[str], prefix: str, account: str | None
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield path and reason of each cache setting that ECR would reject."""
        return cache_problems(registries, prefix, account)

    def region_problem(self, region: str) -> str:
        """Return why a region does not support caches; empty if it does."""
        return region_problem(region)

    def cache(self, region: str, account: str, registries: Iterable[str], prefix: str) -> RegistryCache:
        """Return the cache that settings describe, without duplicate registries."""
        return RegistryCache(account, region, tuple(dict.fromkeys(registries)), prefix)


class Aws:
    """AWS."""

    name = "aws"
    title = "AWS"
    regions = REGION
    prices = PRICES
    updates = updates
    transitions = transitions
    caching = EcrCaching()
    node_images = MappingProxyType({image.value: image.brings for image in NodeImage})
    network_title = "VPC"
    balancers = NETWORK_LOAD_BALANCERS
    # EC2 User Guide, "Spot Instance interruption notices".
    spot_notice_seconds = 120

    def node_charts(self, group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
        """Yield the device plugins of Neuron and EFA, each with the reason."""
        node = instance(group.instance_type)
        if node and node.accelerator_resource == NEURON_RESOURCE:
            yield "neuron-device-plugin", f"nodes {group.name}"
        if group.efa:
            yield "efa-device-plugin", f"{EFA_RESOURCE} on nodes {group.name}"

    def described_type(self, described: DescribedType) -> Instance:
        """Return an instance type that the tables do not have."""
        return described_type(described)

    def range_problem(self, cidr: str) -> str:
        """Return why an address range is invalid for a VPC; empty if it is valid."""
        if range_of(cidr) is None:
            return f"must be the IPv4 range of the VPC, such as {CIDR}, found {cidr!r}"
        return ""

    def existing(self, region: str, cidr: str | None, cache: PullThroughCache | None) -> Cloud:
        """Return the environment of an existing cluster, whose nodes the stack does not manage."""
        # A circular import otherwise; most programs also know the cloud without its node groups.
        from .environment import AwsEnvironment

        return AwsEnvironment(region=region, existing=True, cidr=cidr, image_cache=cache)


AWS = Aws()


def provider() -> Aws:
    """Return AWS."""
    return AWS
