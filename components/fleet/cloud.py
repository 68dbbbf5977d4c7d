"""Protocols through which the plan uses a cloud.

A :class:`CloudProvider` describes a cloud in general: its prices, the charts that its nodes need, and the effect of
updates on its resources. A :class:`Cloud` is one environment on it: its region, its nodes, and the checks that only
this cloud can make. ``components/clouds`` lists the providers.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..contract.problems import Problem
from .downloads import Download
from .images import PullThroughCache
from .instances import DescribedType, Instance
from .load_balancers import BalancerSeconds, LoadBalancers
from .nodes.groups import NodeGroupDemand
from .nodes.policy import NodePolicy, Reservation
from .nodes.replacement import NodeReplacement, NodeSource
from .objects import Object
from .prices import PriceList
from .rendered import Fleet
from .transitions import Need, RefusedChange, Store, Transition

_Path = tuple[str | int, ...]


class NodeDisk(Protocol):
    """A node disk that is billed by size and performance."""

    @property
    def gib(self) -> int:
        """Size in GiB."""

    @property
    def throughput(self) -> int | None:
        """Throughput in MiB/s; None for the included throughput."""

    @property
    def iops(self) -> int | None:
        """Provisioned IOPS; None for the included IOPS."""


class NodePlan(Protocol):
    """A node group as the cloud will create it."""

    @property
    def name(self) -> str:
        """Stable name, which depends only on the demand."""

    @property
    def id(self) -> str:
        """Name that changes with every property that requires a new node group."""

    @property
    def demand(self) -> NodeGroupDemand:
        """The demand of the models."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """The requested instance type, then its alternatives."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Availability zones of its nodes."""

    @property
    def minimum(self) -> int:
        """Minimum size."""

    @property
    def maximum(self) -> int:
        """Maximum size, which costs, checks and quotas use."""

    @property
    def existing(self) -> Sequence[str]:
        """Names of the existing node groups that it stands for, which are not created; empty for a new one."""

    @property
    def longest_update(self) -> int:
        """Seconds of an update of the group that replaces all its nodes, at most; 0 if no update does that."""

    @property
    def disk(self) -> NodeDisk | None:
        """The disk of each node; None if it is not billed separately."""

    @property
    def held(self) -> Sequence[Reservation]:
        """Reserved capacity that is billed whether or not it is used; empty if nodes are billed by use."""

    @property
    def node_labels(self) -> Mapping[str, str]:
        """All known labels of its nodes."""

    @property
    def sources(self) -> Sequence[NodeSource]:
        """The resources that its nodes come from; empty if the stack does not own them."""

    @property
    def replacement(self) -> NodeReplacement | None:
        """How its nodes are replaced one after another; None if unknown."""


class ResourceUpdates(Protocol):
    """Effects of updates on resources of a cloud's Pulumi provider; empty results if no source documents them."""

    def replaced_fields(
        self, type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Return the fields of a resource whose change replaces it.

        Args:
            type_token: Type of the resource.
            before: Its inputs before, because the change of some fields replaces it under a condition only.
            after: Its inputs after.
        """

    def known_arguments(self, type_token: str) -> frozenset[str] | None:
        """Return the arguments of a resource whose effect is known; None if the type is unknown.

        An update of an unknown type, or of an unknown argument, may replace the resource.
        """

    def replacing_provider_input(self, type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
        """Return the changed input of the Pulumi provider that replaces a resource; empty if none does.

        Args:
            type_token: Type of the resource.
            before: Inputs of its provider before.
            after: Inputs of its provider after.
        """

    def order_free_fields(self, type_token: str) -> tuple[str, ...]:
        """Return the list fields of a resource whose order is irrelevant."""

    def renewed_outputs(self, type_token: str) -> Mapping[str, tuple[str, ...]]:
        """Return the outputs that an in-place update changes, each with the fields that cause it."""

    def rolling_fields(self, type_token: str) -> tuple[str, ...]:
        """Return the fields of a resource whose change replaces the nodes that are created from it."""

    def update_effects(self, type_token: str) -> Mapping[str, str]:
        """Return what else an update of a resource in place does, by the field that changes."""

    def rolling_on_removal(self, type_token: str) -> tuple[str, ...]:
        """Return those of the rolling fields that list what nodes may have: only nodes with a removed value go."""

    def deletes_first(self, type_token: str, inputs: Mapping[str, Any]) -> bool:
        """Return whether a replacement deletes the old resource first, unless the program says otherwise."""


class ResourceTransitions(Protocol):
    """Rules about changes of a cloud's deployed resources."""

    def needs(self, type_token: str) -> tuple[Need, ...]:
        """Return the fields through which a resource needs another one for as long as it exists."""

    def store(self, type_token: str) -> Store | None:
        """Return what is lost with a resource; None if it has no data."""

    def removal(self, type_token: str, id_: str) -> str:
        """Return what a retained resource costs, and how to delete it; empty if unknown."""

    def refusals(self, transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
        """Yield the changes that the cloud refuses, or that destroy what is still in use.

        Args:
            transitions: All resources of both revisions, also unchanged ones.
        """


class ImageCaching(Protocol):
    """The rules of a cloud's registry service for caching other registries."""

    @property
    def account_pattern(self) -> str:
        """Regular expression for account IDs in settings."""

    def problems(self, registries: Iterable[str], prefix: str, account: str | None) -> Iterator[tuple[_Path, str]]:
        """Yield path and reason of each cache setting that the service would reject."""

    def region_problem(self, region: str) -> str:
        """Return why a region does not support caches; empty if it does."""

    def cache(self, region: str, account: str, registries: Iterable[str], prefix: str) -> PullThroughCache:
        """Return the cache that settings describe."""


class Cloud(Protocol):
    """One environment on a cloud. Checks that depend on unknown facts are skipped."""

    @property
    def provider(self) -> "CloudProvider":
        """The cloud."""

    @property
    def region(self) -> str:
        """Region of the environment; empty if unknown."""

    @property
    def existing(self) -> bool:
        """Whether the cluster exists already; otherwise the stack creates it."""

    @property
    def owns_nodes(self) -> bool:
        """Whether this environment creates all nodes of the cluster."""

    @property
    def node_policy(self) -> NodePolicy | None:
        """Settings of nodes; None if the environment does not create them."""

    @property
    def system_types(self) -> tuple[str, ...]:
        """Instance types of the untainted nodes for system pods."""

    @property
    def general_nodes(self) -> Instance | None:
        """The largest node type for pods that select no instance type, besides the system nodes; None if unknown."""

    @property
    def alternatives(self) -> Mapping[str, tuple[str, ...]]:
        """Alternative instance types, by instance type."""

    @property
    def tolerations(self) -> tuple[Object, ...]:
        """Tolerations that model pods need, besides those for accelerators."""

    @property
    def tolerates_devices(self) -> bool:
        """Whether the API server adds tolerations for the extended resources that a pod requests."""

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have fast network interfaces even if no pod requests them."""

    @property
    def given(self) -> tuple[str, ...]:
        """Facts about the cloud that come from the settings, because no table has them."""

    @property
    def network(self) -> tuple[str, ...]:
        """Known address ranges of the private network."""

    @property
    def addresses(self) -> int | None:
        """Number of public addresses that all nodes share; None if unknown, 0 without internet access."""

    @property
    def image_cache(self) -> PullThroughCache | None:
        """The registry that caches images; None if images are pulled directly."""

    def adapted(self, fleet: Fleet, seconds: BalancerSeconds | None = None) -> Fleet:
        """Return the fleet adapted to this environment, such as with internal load balancers.

        Args:
            fleet: The rendered fleet.
            seconds: Timeouts of load balancers; None for the cloud's defaults.
        """

    def plan_nodes(self, fleet: Fleet, file: str) -> tuple[tuple[NodePlan, ...], list[Problem]]:
        """Return the node groups of a fleet, and the problems of nodes and cluster.

        Args:
            fleet: The rendered fleet.
            file: File of the settings, for messages.
        """

    def check_volumes(self, fleet: Fleet, others: Sequence[str], file: str) -> Iterator[Problem]:
        """Report claims that the cluster cannot provision, so that their pods would stay Pending.

        Args:
            fleet: The rendered fleet.
            others: Descriptions of further claims, such as those of charts.
            file: File of the settings, for messages.
        """

    def check_balancers(
        self, fleet: Fleet, groups: Sequence[NodePlan], *, every_model: bool, gateway: bool
    ) -> Iterator[Problem]:
        """Report nodes that load balancers may not reach.

        Args:
            fleet: The rendered fleet.
            groups: The node groups.
            every_model: Whether every model has a load balancer.
            gateway: Whether a gateway has one.
        """

    def check_scaling(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report node settings that have no effect because the stack installs no controller for them.

        Args:
            groups: The node groups.
            installed: Names of the installed charts.
            file: File of the settings, for messages.
        """

    def check_charts(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Report charts that do not work with the nodes and add-ons of the environment.

        Args:
            groups: The node groups.
            installed: Names of the installed charts.
            file: File of the settings, for messages.
        """

    def check_image_cache(self, file: str) -> Iterator[Problem]:
        """Report what prevents nodes from pulling through the image cache."""

    def check_reach(self, downloads: Sequence[Download], charts: Collection[str], file: str) -> Iterator[Problem]:
        """Report what nodes and pods download or call, and cannot reach.

        Args:
            downloads: Images, through the image cache if there is one, and weights.
            charts: Names of the installed charts.
            file: File of the settings, for messages.
        """

    def charts_for_models(self, fleet: Fleet) -> Iterator[tuple[str, str]]:
        """Yield the charts that models need only on this cloud, each with the resource that needs it."""

    def cost_notes(self, groups: Iterable[NodeGroupDemand]) -> Iterator[str]:
        """Yield notes about the costs of node groups on this cloud."""

    def image_passes_gateway(self, reference: str) -> bool:
        """Return whether an image is pulled through a NAT gateway."""

    def weights_pass_gateway(self, address: str) -> bool:
        """Return whether weights at this address are downloaded through a NAT gateway."""


class CloudProvider(Protocol):
    """A cloud in general, independent of an environment."""

    @property
    def name(self) -> str:
        """Its name in settings, such as ``aws``."""

    @property
    def title(self) -> str:
        """Its name in messages, such as ``AWS``."""

    @property
    def regions(self) -> re.Pattern[str]:
        """Pattern of its region names."""

    @property
    def prices(self) -> PriceList:
        """Its price list."""

    @property
    def updates(self) -> ResourceUpdates:
        """Effects of updates on its resources."""

    @property
    def network_title(self) -> str:
        """Its name for a private network, such as ``VPC``."""

    @property
    def transitions(self) -> ResourceTransitions:
        """Rules about changes of its deployed resources."""

    @property
    def balancers(self) -> LoadBalancers | None:
        """Its load balancers; None if a cluster creates them without annotations."""

    @property
    def spot_notice_seconds(self) -> int | None:
        """Seconds between the notice and the end of a spot instance; None if unknown."""

    @property
    def node_images(self) -> Mapping[str, frozenset[str]]:
        """Capabilities that each node image includes, by image name. The first image is the default."""

    @property
    def caching(self) -> ImageCaching | None:
        """The rules of its registry service; None if that cannot cache other registries."""

    def node_charts(self, group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
        """Yield the charts that its nodes need for cloud-specific devices, each with the reason."""

    def described_type(self, described: DescribedType) -> Instance:
        """Return an instance type that no table has, with what its nodes offer to pods."""

    def range_problem(self, cidr: str) -> str:
        """Return why an address range is invalid for a private network; empty if it is valid."""

    def existing(self, region: str, cidr: str | None, cache: PullThroughCache | None) -> Cloud:
        """Return the environment of an existing cluster, whose nodes the stack does not manage.

        Args:
            region: Its region; empty if unknown.
            cidr: Address range of its private network; None if unknown.
            cache: The registry that caches images, if any.
        """
