"""What the plan needs of a cloud: the protocols behind which each cloud keeps what only it knows.

A :class:`CloudProvider` is what is true of a cloud everywhere: its prices, the charts that its nodes need, what an
update does to its resources. A :class:`Cloud` is one environment on it: where models run, what its nodes are, and the
checks that only this cloud can make. ``components/clouds`` lists the providers.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..contract.problems import Problem
from .images import PullThroughCache
from .instances import Instance
from .load_balancers import BalancerSeconds, LoadBalancers
from .nodes.groups import NodeGroupDemand
from .nodes.policy import NodePolicy, Reservation
from .objects import Object
from .prices import PriceList
from .rendered import Fleet

_Path = tuple[str | int, ...]


class NodeDisk(Protocol):
    """The disk of a node that the cloud bills by its size and by what it can do."""

    @property
    def gib(self) -> int:
        """Its size."""

    @property
    def throughput(self) -> int | None:
        """In MiB/s; None for what every disk can do."""

    @property
    def iops(self) -> int | None:
        """Operations a second; None for what every disk can do."""


class NodePlan(Protocol):
    """One node group as a cloud is going to make it."""

    @property
    def name(self) -> str:
        """Stable name; the same for the same need in every run."""

    @property
    def id(self) -> str:
        """Name that changes with everything that only a new node group can have."""

    @property
    def demand(self) -> NodeGroupDemand:
        """What models need of it."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """First the one that models ask for, then what may be taken instead."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Availability zones of its nodes."""

    @property
    def minimum(self) -> int:
        """Nodes that stay."""

    @property
    def maximum(self) -> int:
        """Nodes that there may be: what costs, checks and quotas count with."""

    @property
    def disk(self) -> NodeDisk | None:
        """The disk of each node; None where it costs nothing of its own."""

    @property
    def held(self) -> Sequence[Reservation]:
        """Reserved capacity that is paid for whether or not nodes use it; empty where nodes are paid for by use."""


class ResourceUpdates(Protocol):
    """What an update does to resources of a cloud's Pulumi provider; nothing where no source says it."""

    def replaced_fields(self, type_token: str) -> tuple[str, ...]:
        """Return the fields of a resource that only a new one can have."""

    def order_free_fields(self, type_token: str) -> tuple[str, ...]:
        """Return the lists of a resource whose order has no meaning."""

    def renewed_outputs(self, type_token: str) -> Mapping[str, tuple[str, ...]]:
        """Return the outputs of a resource that an update in place changes, each with the fields that do it."""

    def rolling_fields(self, type_token: str) -> tuple[str, ...]:
        """Return the fields of a resource whose change replaces the nodes that are made of it."""

    def deletes_first(self, type_token: str, inputs: Mapping[str, Any]) -> bool:
        """Whether a replacement deletes a resource before the new one is there, unless the program says otherwise."""


class ImageCaching(Protocol):
    """The rules of a cloud's registry service for caching other registries."""

    @property
    def account_pattern(self) -> str:
        """Regular expression of the account that settings name."""

    def problems(self, registries: Iterable[str], prefix: str, account: str | None) -> Iterator[tuple[_Path, str]]:
        """Yield what the service would refuse of the settings of a cache, by path of the setting."""

    def region_problem(self, region: str) -> str:
        """Say that a region has no caches; empty if it has."""

    def cache(self, region: str, account: str, registries: Iterable[str], prefix: str) -> PullThroughCache:
        """Return the cache that settings describe."""


class Cloud(Protocol):
    """One environment on a cloud, as far as it is known. What is not known is not checked."""

    @property
    def provider(self) -> "CloudProvider":
        """The cloud."""

    @property
    def region(self) -> str:
        """Region of the environment; empty if it is not known."""

    @property
    def existing(self) -> bool:
        """Whether the cluster is there already; otherwise it is made with the models."""

    @property
    def owns_nodes(self) -> bool:
        """Whether there are no nodes but those that are made for the models and for the cluster itself."""

    @property
    def node_policy(self) -> NodePolicy | None:
        """What settings say about nodes; None where others make them."""

    @property
    def system_types(self) -> tuple[str, ...]:
        """Instance types of the nodes without taints on which the cluster's own pods run."""

    @property
    def general_nodes(self) -> Instance | None:
        """The largest nodes that there may be for pods which name no instance type, beside those of the system."""

    @property
    def alternatives(self) -> Mapping[str, tuple[str, ...]]:
        """Further instance types that pods may run on instead, by instance type."""

    @property
    def tolerations(self) -> tuple[Object, ...]:
        """What the models' pods must tolerate of their nodes, beside the taints of accelerators."""

    @property
    def tolerates_devices(self) -> bool:
        """Whether the API server adds tolerations for the extended resources that a pod requests."""

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have their fast network interfaces whether or not a pod asks for them."""

    @property
    def network(self) -> tuple[str, ...]:
        """Address ranges of the private network, as far as they are known."""

    @property
    def addresses(self) -> int | None:
        """How many addresses on the internet all nodes share; None if that is not known, 0 without a way there."""

    @property
    def image_cache(self) -> PullThroughCache | None:
        """The registry that images are pulled through; None where they are pulled from where they are."""

    def adapted(self, fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
        """Return the fleet as it runs here, such as with load balancers inside the private network.

        Args:
            fleet: What is rendered.
            seconds: What load balancers are told of time; None for the cloud's defaults.
        """

    def plan_nodes(self, fleet: Fleet, file: str) -> tuple[tuple[NodePlan, ...], list[Problem]]:
        """Return the node groups of a fleet, and what is wrong with them or with the cluster.

        Args:
            fleet: What is rendered.
            file: File of the settings, for messages.
        """

    def check_volumes(self, fleet: Fleet, others: Sequence[str], file: str) -> Iterator[Problem]:
        """Report claims that the cluster cannot provision, so that their pods would stay Pending.

        Args:
            fleet: What is rendered.
            others: Who else asks for a volume, in words.
            file: File of the settings, for messages.
        """

    def check_balancers(
        self, fleet: Fleet, groups: Sequence[NodePlan], *, every_model: bool, gateway: bool
    ) -> Iterator[Problem]:
        """Report nodes that load balancers may not reach.

        Args:
            fleet: What is rendered.
            groups: The node groups.
            every_model: Whether every model has a load balancer.
            gateway: Whether a gateway has one.
        """

    def check_scaling(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report settings of nodes that have no effect, because nothing that is installed here keeps them.

        Args:
            groups: The node groups.
            installed: Names of the charts that are installed with the models.
            file: File of the settings, for messages.
        """

    def check_image_cache(self, file: str) -> Iterator[Problem]:
        """Report what keeps nodes from pulling through the image cache."""

    def charts_for_models(self, fleet: Fleet) -> Iterator[tuple[str, str]]:
        """Yield the charts that models need on this cloud alone, each with the resource that needs it."""

    def cost_notes(self, groups: Iterable[NodeGroupDemand]) -> Iterator[str]:
        """Yield what a reader of costs has to know of node groups on this cloud."""

    def image_passes_gateway(self, reference: str) -> bool:
        """Whether an image is pulled through a NAT gateway of the network."""

    def weights_pass_gateway(self, address: str) -> bool:
        """Whether weights at an address are fetched through a NAT gateway of the network."""


class CloudProvider(Protocol):
    """A cloud, whatever runs on it."""

    @property
    def name(self) -> str:
        """Its name in settings, such as ``aws``."""

    @property
    def title(self) -> str:
        """Its name in messages, such as ``AWS``."""

    @property
    def regions(self) -> re.Pattern[str]:
        """What names of its regions look like."""

    @property
    def prices(self) -> PriceList:
        """Its prices."""

    @property
    def updates(self) -> ResourceUpdates:
        """What updates do to its resources."""

    @property
    def network_title(self) -> str:
        """What it calls a private network, such as ``VPC``."""

    @property
    def balancers(self) -> LoadBalancers | None:
        """Its load balancers; None where a cluster makes them without being told how."""

    @property
    def node_images(self) -> Mapping[str, frozenset[str]]:
        """By name in settings, the images of nodes and what each brings, as charts name what they provide.

        The first one is the default.
        """

    @property
    def caching(self) -> ImageCaching | None:
        """The rules of its registry service; None if that caches no other registries."""

    def node_charts(self, group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
        """Yield the charts that make usable what only its nodes have, each with what needs it."""

    def range_problem(self, cidr: str) -> str:
        """Say what is wrong with the address range of a private network; empty if nothing is."""

    def existing(self, region: str, cidr: str | None, cache: PullThroughCache | None) -> Cloud:
        """Return the environment of a cluster that is there already, and whose nodes others make.

        Args:
            region: Its region; empty if it is not known.
            cidr: Address range of its private network; None if it is not known.
            cache: The registry that images are pulled through.
        """
