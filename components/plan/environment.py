"""Where models run: known facts and settings. Checks that need an unknown fact are skipped."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..checks.front_door.balancers import Balancing
from ..checks.front_door.settings import Door
from ..checks.hardening.settings import Hardening
from ..checks.memory.workloads.known import KnownShapes
from ..checks.metrics.chain import MetricSettings
from ..families import are_operated
from ..fleet.instances import Instance, instances_beside
from ..fleet.load_balancers import default_load_balancers
from ..fleet.options import BoundClaim, Options
from ..fleet.timeouts import Waits
from ..fleet.words import OtherKinds

if TYPE_CHECKING:
    from ..contract.problems import Problem
    from ..fleet.cloud import Cloud
    from ..fleet.images import PullThroughCache
    from .costs.prices import OwnPrices
    from .prerequisites.needed import ClusterFacts


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment, with the facts that are known about it.

    Attributes:
        options: Options for rendering resources.
        metrics: Settings for collecting metrics.
        cluster: Facts about the cluster; None if unknown: then nothing is installed.
        install: Whether prerequisites of the models are installed.
        storage_gib: Size of Prometheus' volume; None without one.
        watched: Whether models are monitored, with alerts and a dashboard.
        door: Access for clients outside the cluster.
        hardening: Security and availability settings of pods.
        network_policies: Whether only gateway and monitoring may connect to the models.
        scraper: Namespace of an existing Prometheus; None if not set.
        adapter_config_map: Namespace and name of a ConfigMap with the rules for an existing adapter; None for none.
        cloud: The cloud with its nodes; None without one.
        simulated: Whether all nodes are simulated, exactly as the models need them.
        claims: Claims to create in every namespace of models, each bound to a PersistentVolume.
        other_kinds: Handling of objects whose kind belongs to no family.
        shapes: Shapes of models in addition to the catalog.
        ignore: Rules to ignore in findings about the settings, each with the reason.
        file: File of the settings, for messages.
        waits: What updates wait for, and for how long.
        prices: Prices that take precedence over the shipped ones; None without.
        price_problems: Problems of the file with these prices.
        types: Instance types that the settings describe, by name, because no table has them.
    """

    options: Options = field(default_factory=Options)
    metrics: MetricSettings = field(default_factory=MetricSettings)
    cluster: "ClusterFacts | None" = None
    install: bool = False
    storage_gib: int | None = None
    watched: bool = False
    door: Door = field(default_factory=Door)
    hardening: Hardening = field(default_factory=Hardening)
    network_policies: bool = False
    scraper: str | None = None
    adapter_config_map: str | None = None
    cloud: "Cloud | None" = None
    simulated: bool = False
    claims: tuple[BoundClaim, ...] = ()
    other_kinds: OtherKinds = OtherKinds.ERROR
    shapes: KnownShapes = field(default_factory=KnownShapes)
    ignore: Mapping[str, str] = field(default_factory=dict)
    file: str = "<program>"
    waits: Waits = field(default_factory=Waits)
    prices: "OwnPrices | None" = None
    price_problems: "tuple[Problem, ...]" = ()
    types: Mapping[str, Instance] = field(default_factory=dict)

    def with_types(self) -> AbstractContextManager[None]:
        """Know the instance types of this environment, for whoever computes with its plan."""
        return instances_beside(self.types)

    @property
    def given(self) -> tuple[str, ...]:
        """Facts that come from the settings, because no table has them."""
        types = (f"instance types {', '.join(self.types)} (instanceTypes)",) if self.types else ()
        return (*types, *(self.cloud.given if self.cloud else ()))

    @property
    def operated(self) -> bool:
        """Whether an operator creates the pods."""
        return are_operated(self.options)

    @property
    def knows_nodes(self) -> bool:
        """Whether all nodes are created for the models or for the cluster itself."""
        return self.simulated or (self.cloud is not None and self.cloud.owns_nodes)

    @property
    def image_cache(self) -> "PullThroughCache | None":
        """The pull-through cache for images; None without one."""
        return self.cloud.image_cache if self.cloud else None

    @property
    def present(self) -> frozenset[str]:
        """Names of charts that the cluster already has."""
        return self.cluster.present if self.cluster else frozenset()

    @property
    def balancing(self) -> Balancing:
        """How load balancers forward connections.

        Those of a cloud may connect to pods from their own addresses in its private network. Elsewhere nodes forward
        connections, which keep the client's address with the policy Local; for a load balancer that hides it
        nevertheless, its ranges are configured.
        """
        door = self.door
        network = self.cloud.network if self.cloud else ()
        clients = door.client_cidrs or network
        balancers = (self.cloud.provider.balancers if self.cloud else None) or default_load_balancers()
        if self.cloud and self.cloud.provider.balancers and balancers.own_addresses:
            return Balancing(clients, door.balancer_cidrs or network, proxy_protocol=True, balancers=balancers)
        sources = tuple(dict.fromkeys((*clients, *door.balancer_cidrs)))
        return Balancing(clients, sources, keep_addresses=self.network_policies, balancers=balancers)
