"""Load balancers of a cloud: the annotations of their Services and the settings that they support."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from .clouds import clouds


class BalancerSeconds(NamedTuple):
    """Timeouts of a load balancer, in seconds.

    Attributes:
        deregistration: How long a deregistered target keeps draining.
        idle: How long listeners keep idle connections open.
    """

    deregistration: int
    idle: int


class Annotations(Protocol):
    """Returns the annotations that make the cloud create a load balancer for a Service."""

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
            internal: Whether the address is in the private network.
            proxy_protocol: Whether the load balancer announces the client address by PROXY protocol.
            seconds: Timeouts; None for the cloud's defaults.
            tcp_ports: Service ports with TCP listeners; the timeouts of TLS listeners may be fixed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancers:
    """The load balancers of a cloud.

    Attributes:
        title: The cloud's name for one, for messages.
        controller: Name of the chart that creates them for Services.
        annotations: Returns the annotations of a Service that gets one.
        idle_seconds: Minimum, default and maximum idle timeout of listeners, in seconds.
        longest_deregistration: Maximum time that a target may drain, in seconds.
        late_seconds: Seconds during which new connections still arrive at a deregistered target.
        registration: How long it takes to register a target, for messages.
        node_drain_seconds: Seconds that the cloud allows for draining a node when an update replaces it.
        node_drain: When that happens, and what happens to pods that take longer, for messages; contains
            ``{seconds}``.
        certificate_form: Format of certificate references, for messages.
        is_certificate: Returns whether a text is a certificate reference.
        certificate_annotations: Returns the annotations that terminate TLS on port 443 with a certificate.
        readiness_gates: Namespace labels that make pods wait until load balancers can reach them before they are
            Ready; empty if that is not supported.
        own_addresses: Whether they connect to pods from addresses of their own in the private network, so that pods
            can learn client addresses only by PROXY protocol.
        internet: Whether they are public unless a Service says otherwise.
        ipv4_only: Whether they only have IPv4 addresses.
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

    Environments without a cloud, such as the simulated cluster, get the same annotations as the cloud would, so that
    both render alike; annotations without a controller have no effect.

    Raises:
        LookupError: No registered cloud has load balancers.
    """
    for cloud in clouds().values():
        if cloud.load_balancers:
            return cloud.load_balancers
    raise LookupError("no registered cloud has load balancers; register one in components/__init__.py")
