"""Load balancers of a cloud: how a Service asks for one, and what it can be told."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .clouds import clouds


@dataclass(frozen=True, slots=True)
class BalancerSeconds:
    """What a load balancer is told of time, in seconds.

    Attributes:
        deregistration: How long a target that is deregistered counts as draining.
        idle: How long listeners keep connections without data.
    """

    deregistration: int
    idle: int


class Annotations(Protocol):
    """Returns the annotations of a Service that make the cloud put a load balancer before its pods."""

    def __call__(
        self,
        *,
        internal: bool,
        proxy_protocol: bool = False,
        seconds: BalancerSeconds | None = None,
        tcp_ports: Iterable[int] = (),
    ) -> dict[str, str]:
        """Return the annotations.

        Args:
            internal: Whether the address is one of the private network.
            proxy_protocol: Whether the load balancer sends the client's address ahead of each connection.
            seconds: How long targets drain and connections may be silent; None for the cloud's defaults.
            tcp_ports: Ports of the Service with listeners of protocol TCP; those of TLS listeners may be bound to
                other times.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancers:
    """The load balancers of a cloud.

    Attributes:
        title: What the cloud calls one, for messages.
        controller: Name of the chart that makes them for Services.
        annotations: Returns what makes the cloud put one before pods.
        idle_seconds: Shortest, default and longest time that listeners keep connections without data.
        longest_deregistration: Longest time that a target may count as draining, in seconds.
        late_seconds: Seconds for which new connections still arrive at a target that was deregistered.
        registration: How long the registration of a target takes, for messages.
        node_drain_seconds: Seconds that the cloud gives the pods of a node when it replaces the node in an update.
        node_drain: When that is, and what becomes of pods that take longer, for messages; contains ``{seconds}``.
        certificate_form: What references to certificates look like, for messages.
        is_certificate: Returns whether a text is a reference to a certificate.
        certificate_annotations: Returns what makes a load balancer end TLS on port 443 with a certificate.
        readiness_gates: Labels of a namespace whose pods are Ready only when load balancers reach them; empty where
            pods cannot wait for that.
        own_addresses: Whether they connect to pods from addresses of their own in the private network, so that pods
            learn the address of a client from the PROXY protocol alone.
        internet: Whether they are open to the internet unless a Service says otherwise.
        ipv4_only: Whether they have IPv4 addresses alone.
    """

    title: str
    controller: str
    annotations: Annotations
    idle_seconds: tuple[int, int, int]
    longest_deregistration: int
    late_seconds: int
    registration: str
    node_drain_seconds: int
    node_drain: str
    certificate_form: str
    is_certificate: Callable[[str], bool]
    certificate_annotations: Callable[[str], dict[str, str]]
    readiness_gates: Mapping[str, str] = field(default_factory=dict)
    own_addresses: bool = False
    internet: bool = False
    ipv4_only: bool = False


def default_load_balancers() -> LoadBalancers:
    """Return the load balancers of the first cloud that has any.

    Environments without a cloud, such as the simulated cluster, ask for the same ones, so that what is tried out
    there is what a cloud gets; annotations that no controller reads have no effect.

    Raises:
        LookupError: No registered cloud has load balancers.
    """
    for cloud in clouds().values():
        if cloud.load_balancers:
            return cloud.load_balancers
    raise LookupError("no registered cloud has load balancers; register one in components/__init__.py")
