"""The toy cloud as the plan sees it: no more than the protocols ask for."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.fleet.cloud import Cloud, CloudProvider, NodePlan
from components.fleet.downloads import Download
from components.fleet.images import PullThroughCache
from components.fleet.instances import DescribedType, Instance
from components.fleet.nodes.groups import NodeGroupDemand, node_groups
from components.fleet.nodes.policy import NodePolicy, Reservation
from components.fleet.nodes.replacement import NodeReplacement, NodeSource
from components.fleet.objects import Object
from components.fleet.prices import Buying, DiskRate, Flat, Per, Quote, fixed_quote
from components.fleet.rendered import Fleet
from components.fleet.transitions import Need, RefusedChange, Store, Transition

REGION = "toyland-1"
SOURCE = "toys.example/prices"
_USD = {"toy-small": Decimal(2), "toy-large": Decimal(7)}


class ToyPrices:
    """On-demand prices of both types, and one item that no other cloud sells."""

    region = REGION
    items: ClassVar[Mapping[str, Per]] = {Flat.LOAD_BALANCER.value: Per.HOUR, "marbles": Per.MONTH}
    disk = DiskRate()
    spot_source = ""

    def quoted(self, region: str, instance_type: str, buying: str) -> Quote | None:
        """Return a price on demand."""
        usd = _USD.get(instance_type) if (region, buying) == (REGION, Buying.ON_DEMAND) else None
        return None if usd is None else fixed_quote(usd, "2026-11-01", SOURCE)

    def spot(self, region: str, instance_type: str, on_demand: Quote | None) -> None:
        """Return nothing: there is no spot market."""

    def flat(self, region: str, item: str) -> Quote | None:
        """Return the price of a load balancer."""
        known = (region, item) == (REGION, Flat.LOAD_BALANCER)
        return fixed_quote(Decimal("0.5"), "2026-11-01", SOURCE) if known else None


class ToyUpdates:
    """Only the box of a node group needs a new one."""

    def replaced_fields(
        self, type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Return the one field."""
        return ("box",) if type_token == "toy:index:Nodes" else ()

    def known_arguments(self, type_token: str) -> frozenset[str] | None:
        """Return the arguments of a node group."""
        return frozenset({"box", "size"}) if type_token == "toy:index:Nodes" else None

    def replacing_provider_input(self, type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
        """Return that none does."""
        return ""

    def order_free_fields(self, type_token: str) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def renewed_outputs(self, type_token: str) -> Mapping[str, tuple[str, ...]]:
        """Return nothing."""
        return {}

    def rolling_fields(self, type_token: str) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def update_effects(self, type_token: str) -> Mapping[str, str]:
        """Return nothing."""
        return {}

    def rolling_on_removal(self, type_token: str) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def deletes_first(self, type_token: str, inputs: Mapping[str, Any]) -> bool:
        """Return that nothing does."""
        return False


class ToyTransitions:
    """No node of this cloud shrinks."""

    def store(self, type_token: str) -> Store | None:
        return None

    def needs(self, type_token: str) -> tuple[Need, ...]:
        """Return that nothing needs anything."""
        return ()

    def removal(self, type_token: str, id_: str) -> str:
        """Return that nothing is known."""
        return ""

    def refusals(self, transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
        """Refuse fewer nodes."""
        for change in transitions:
            before, after = ((inputs or {}).get("size", 0) for inputs in (change.before, change.after))
            if change.type == "toy:index:Nodes" and change.before and change.after and after < before:
                reason = f"found {after} after {before}; restore {before}"
                yield RefusedChange(RuleId.CHANGE_REFUSED, "nodes.size", reason, change.title, "size")


class Toy:
    """The toy cloud."""

    name = "toy"
    title = "Toyland"
    regions = re.compile(r"toyland-\d")
    prices = ToyPrices()
    updates = ToyUpdates()
    transitions = ToyTransitions()
    network_title = "sandbox"
    balancers = None
    spot_notice_seconds = None
    node_images: ClassVar[Mapping[str, frozenset[str]]] = {"wood": frozenset({"nvidia.com/gpu"})}
    caching = None

    def node_charts(self, group: NodeGroupDemand) -> Iterator[tuple[str, str]]:
        """Yield the metrics server, which its large nodes need."""
        if group.instance_type == "toy-large":
            yield "metrics-server", f"nodes {group.name}"

    def described_type(self, described: DescribedType) -> Instance:
        """Return a type whose nodes offer all that they have."""
        return Instance(
            name=described.name,
            family=described.name,
            vcpu=described.vcpu,
            memory_gib=described.memory_gib,
            arch=described.arch,
            allocatable_cpu=Decimal(described.vcpu),
            allocatable_memory=described.memory_gib * 2**30,
        )

    def range_problem(self, cidr: str) -> str:
        """Say that its networks have one range alone."""
        return "" if cidr == "10.7.0.0/16" else f"must be 10.7.0.0/16, found {cidr!r}"

    def existing(self, region: str, cidr: str | None, cache: PullThroughCache | None) -> Cloud:
        """Return an environment whose nodes others make."""
        return ToyEnvironment(region, existing=True, node_policy=None, network=(cidr,) if cidr else ())


TOY: CloudProvider = Toy()


def provider() -> CloudProvider:
    """Return the toy cloud."""
    return TOY


@dataclass(frozen=True)
class ToyDisk:
    """A disk without a rate of its own."""

    gib: int = 100
    throughput: int | None = None
    iops: int | None = None


@dataclass(frozen=True)
class ToyGroup:
    """A node group: twice the nodes that the models need at rest, and never less than one."""

    demand: NodeGroupDemand
    zones: tuple[str, ...] = ("toyland-1a",)
    minimum: int = 1
    disk: ToyDisk | None = None
    held: tuple[Reservation, ...] = ()
    existing: tuple[str, ...] = ()
    sources: tuple[NodeSource, ...] = ()
    replacement: NodeReplacement | None = None
    longest_update: int = 0

    @property
    def name(self) -> str:
        """The name of the need."""
        return self.demand.name

    @property
    def id(self) -> str:
        """The same: nothing is replaced."""
        return self.demand.name

    @property
    def instance_types(self) -> tuple[str, ...]:
        """The one that models ask for."""
        return (self.demand.instance_type,)

    @property
    def maximum(self) -> int:
        """Twice what is needed."""
        return 2 * self.demand.nodes

    @property
    def node_labels(self) -> Mapping[str, str]:
        """Those of the demand."""
        return self.demand.labels


@dataclass(frozen=True)
class ToyEnvironment:
    """One environment of the toy cloud; its rule: a region has so many large nodes and no more."""

    region: str = REGION
    existing: bool = False
    node_policy: NodePolicy | None = field(default_factory=NodePolicy)
    network: tuple[str, ...] = ("10.7.0.0/16",)
    given: tuple[str, ...] = ()
    most_large: int = 1
    system_types: tuple[str, ...] = ()
    general_nodes: Instance | None = None
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tolerations: tuple[Object, ...] = ()
    efa_types: frozenset[str] = frozenset()
    addresses: int | None = None
    image_cache: PullThroughCache | None = None

    provider: ClassVar[CloudProvider] = TOY
    tolerates_devices: ClassVar[bool] = True

    @property
    def owns_nodes(self) -> bool:
        """Whether all nodes are made here."""
        return not self.existing

    def adapted(self, fleet: Fleet, seconds: object = None) -> Fleet:
        """Return the fleet as it is."""
        return fleet

    def plan_nodes(self, fleet: Fleet, file: str) -> tuple[tuple[NodePlan, ...], list[Problem]]:
        """Return a group for each need, and a finding for more large nodes than the region has."""
        if self.node_policy is None:
            return (), []
        groups = tuple(ToyGroup(demand) for demand in node_groups(fleet, self.node_policy))
        large = sum(group.demand.nodes for group in groups if group.demand.instance_type == "toy-large")
        problems = []
        if large > self.most_large:
            reason = f"{REGION} has {self.most_large} nodes of type toy-large, and the models need {large}"
            problems.append(Problem(file=file, path="nodes", reason=reason, rule=RuleId.NODES_PENDING))
        return groups, problems

    def check_volumes(self, fleet: Fleet, others: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield nothing."""
        return iter(())

    def check_balancers(
        self, fleet: Fleet, groups: Sequence[NodePlan], *, every_model: bool, gateway: bool
    ) -> Iterator[Problem]:
        """Yield nothing."""
        return iter(())

    def check_scaling(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Yield nothing."""
        return iter(())

    def check_image_cache(self, file: str) -> Iterator[Problem]:
        """Yield nothing."""
        return iter(())

    def check_charts(self, groups: Sequence[NodePlan], installed: Collection[str], file: str) -> Iterator[Problem]:
        """Yield nothing: every chart works with toys."""
        yield from ()

    def check_reach(self, downloads: Sequence[Download], charts: Collection[str], file: str) -> Iterator[Problem]:
        """Yield nothing: toys are reached by hand."""
        yield from ()

    def charts_for_models(self, fleet: Fleet) -> Iterator[tuple[str, str]]:
        """Yield nothing."""
        return iter(())

    def cost_notes(self, groups: Iterable[NodeGroupDemand]) -> Iterator[str]:
        """Yield a note of its own."""
        yield "Toys are never returned."

    def image_passes_gateway(self, reference: str) -> bool:
        """Return that all images come from the internet."""
        return True

    def weights_pass_gateway(self, address: str) -> bool:
        """Return that all weights come from the internet."""
        return True
