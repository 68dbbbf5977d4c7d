"""What each registered cloud tells the fleet."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from .clouds import clouds
from .instances import Instance
from .load_balancers import LoadBalancers


def _names_no_type(_: Mapping[str, str]) -> None:
    """Return no instance type: the labels of the cloud name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts:
    """What the fleet has to know of one cloud.

    Attributes:
        instances: Its instance types.
        fabrics: By extended resource of its fast network interfaces, what users call them.
        label_domains: Domains of the labels that the cloud, or what launches its nodes, sets on nodes.
        capacity_labels: Labels of nodes whose value says how they are bought, such as ``SPOT``. The first counts.
        named_type: Returns the instance type that labels of the cloud name, beside the label that Kubernetes has for
            it; None where they name none.
        load_balancers: Its load balancers; None where a cluster makes them without being told how.
        credential_agents: Address ranges under which every node gives out credentials of the cloud, on port 80.
    """

    instances: Iterable[Instance]
    fabrics: Mapping[str, str] = field(default_factory=dict)
    label_domains: tuple[str, ...] = ()
    capacity_labels: tuple[str, ...] = ()
    named_type: Callable[[Mapping[str, str]], str | None] = _names_no_type
    load_balancers: LoadBalancers | None = None
    credential_agents: tuple[str, ...] = ()


def credential_agents() -> tuple[str, ...]:
    """Return where nodes give out credentials, of every cloud."""
    return tuple(dict.fromkeys(cidr for each in clouds().values() for cidr in each.credential_agents))
