"""AWS, whatever runs on it: see :class:`~..fleet.cloud.CloudProvider`."""

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from ...fleet.cloud import Cloud
from ...fleet.images import PullThroughCache
from ...fleet.instances import instance
from ...fleet.nodes.groups import NodeGroupDemand
from .facts import updates
from .facts.regions import REGION
from .images import ACCOUNT, RegistryCache, cache_problems, region_problem
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
        """Yield what ECR would refuse of a cache's rules, by path of the setting."""
        return cache_problems(registries, prefix, account)

    def region_problem(self, region: str) -> str:
        """Say that a region has no caches; empty if it has."""
        return region_problem(region)

    def cache(self, region: str, account: str, registries: Iterable[str], prefix: str) -> RegistryCache:
        """Return the cache that settings describe; a registry that they list twice is one."""
        return RegistryCache(account, region, tuple(dict.fromkeys(registries)), prefix)


class Aws:
    """AWS."""

    name = "aws"
    title = "AWS"
    regions = REGION
    prices = PRICES
    updates = updates
    caching = EcrCaching()
    node_images = MappingProxyType({image.value: image.brings for image in NodeImage})
    network_title = "VPC"
    balancers = NETWORK_LOAD_BALANCERS

    def node_charts(self, group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
        """Yield the device plugins of Neuron and EFA, each with what needs it."""
        node = instance(group.instance_type)
        if node and node.accelerator_resource == NEURON_RESOURCE:
            yield "neuron-device-plugin", f"nodes {group.name}"
        if group.efa:
            yield "efa-device-plugin", f"{EFA_RESOURCE} on nodes {group.name}"

    def range_problem(self, cidr: str) -> str:
        """Say what is wrong with the range of a VPC; empty if nothing is."""
        if range_of(cidr) is None:
            return f"must be the IPv4 range of the VPC, such as {CIDR}, found {cidr!r}"
        return ""

    def existing(self, region: str, cidr: str | None, cache: PullThroughCache | None) -> Cloud:
        """Return the environment of a cluster that is there already, and whose nodes others make."""
        # The environment imports this module; most programs need none of AWS' node groups to know the cloud.
        from .environment import AwsEnvironment

        return AwsEnvironment(region=region, existing=True, cidr=cidr, image_cache=cache)


AWS = Aws()


def provider() -> Aws:
    """Return AWS."""
    return AWS
