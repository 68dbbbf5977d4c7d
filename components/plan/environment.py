"""What is known about the place where models run, and what is wanted there. What is not known is not checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..checks.front_door.balancers import Balancing
from ..checks.front_door.settings import Door
from ..checks.hardening.workloads import Hardening
from ..checks.memory.workloads.known import KnownShapes
from ..checks.metrics.chain import MetricSettings
from ..families import are_operated
from ..fleet.cloud import Cloud
from ..fleet.images import PullThroughCache
from ..fleet.load_balancers import default_load_balancers
from ..fleet.options import BoundClaim, Options
from ..fleet.words import OtherKinds
from .prerequisites.needed import ClusterFacts


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment, as far as it is known.

    Attributes:
        options: How resources are rendered.
        metrics: How metrics are collected and handed to autoscalers.
        cluster: What is known of the cluster; None where nothing is, and nothing is installed then.
        install: Whether what models need in the cluster is installed.
        storage_gib: Size of Prometheus' volume; None without one.
        watched: Whether models are watched: an alert rule and a dashboard beside what is scraped.
        door: How clients outside the cluster reach the models.
        hardening: What is asked of pods.
        network_policies: Whether only gateway and monitoring reach the models.
        scraper: Namespace of a Prometheus that is there already, where it is named.
        cloud: The nodes, and what else only their cloud knows; None without one.
        simulated: Whether all nodes are simulated: those that the models need, and no others.
        claims: Claims that are made in every namespace of models, each bound to a PersistentVolume.
        other_kinds: What becomes of objects whose kinds are of no family.
        shapes: What is known of the models' weights and layers, beside the catalog.
        ignore: Rules whose findings of the settings do not count, each with the reason.
        file: File of the settings, for messages.
    """

    options: Options = field(default_factory=Options)
    metrics: MetricSettings = field(default_factory=MetricSettings)
    cluster: ClusterFacts | None = None
    install: bool = False
    storage_gib: int | None = None
    watched: bool = False
    door: Door = field(default_factory=Door)
    hardening: Hardening = field(default_factory=Hardening)
    network_policies: bool = False
    scraper: str | None = None
    cloud: Cloud | None = None
    simulated: bool = False
    claims: tuple[BoundClaim, ...] = ()
    other_kinds: OtherKinds = OtherKinds.ERROR
    shapes: KnownShapes = field(default_factory=KnownShapes)
    ignore: Mapping[str, str] = field(default_factory=dict)
    file: str = "<program>"

    @property
    def operated(self) -> bool:
        """Whether an operator makes the pods."""
        return are_operated(self.options)

    @property
    def knows_nodes(self) -> bool:
        """Whether there are no nodes but those that are made for the models and for the cluster itself."""
        return self.simulated or (self.cloud is not None and self.cloud.owns_nodes)

    @property
    def image_cache(self) -> PullThroughCache | None:
        """The registry that images are pulled by way of; None where they are pulled from where they are."""
        return self.cloud.image_cache if self.cloud else None

    @property
    def present(self) -> frozenset[str]:
        """Names of charts whose work is done already."""
        return self.cluster.present if self.cluster else frozenset()

    @property
    def balancing(self) -> Balancing:
        """What load balancers do here.

        Those of a cloud may connect to pods from their own addresses in its private network. Elsewhere nodes pass
        connections on, which keep the client's address if nodes are told to; a load balancer that hides it all the
        same has named ranges.
        """
        door = self.door
        network = self.cloud.network if self.cloud else ()
        clients = door.client_cidrs or network
        balancers = (self.cloud.provider.balancers if self.cloud else None) or default_load_balancers()
        if self.cloud and self.cloud.provider.balancers and balancers.own_addresses:
            return Balancing(clients, door.balancer_cidrs or network, proxy_protocol=True, balancers=balancers)
        sources = tuple(dict.fromkeys((*clients, *door.balancer_cidrs)))
        return Balancing(clients, sources, keep_addresses=self.network_policies, balancers=balancers)
