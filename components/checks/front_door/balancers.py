"""Load balancers of models: allowed clients, and the source addresses that pods see."""

import dataclasses
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...contract.problems import Problem
from ...fleet.endpoints import Endpoint
from ...fleet.load_balancers import LoadBalancers, default_load_balancers
from ...fleet.objects import Object
from ...fleet.rendered import Fleet
from .report import Report
from .settings import Door

_EXAMPLE = "10.0.0.0/16"


@dataclass(frozen=True, slots=True)
class Balancing:
    """Load balancers of an environment.

    Attributes:
        clients: Ranges that may connect to the load balancer of a model; empty for no restriction.
        sources: Source ranges of connections and health checks as pods see them; empty if irrelevant.
        keep_addresses: Whether nodes must preserve the client's address, because network policies match it.
        proxy_protocol: Whether load balancers send the gateway the client's address by PROXY protocol.
        balancers: Properties of the load balancers, and their annotations.
    """

    clients: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    keep_addresses: bool = False
    proxy_protocol: bool = False
    balancers: LoadBalancers = dataclasses.field(default_factory=default_load_balancers)


def source_ranges(ranges: Sequence[str]) -> Object:
    """Return the part of a Service's spec that restricts the clients of its load balancer.

    The cloud enforces it; kube-proxy drops other connections at the nodes (Service API,
    ``loadBalancerSourceRanges``).
    """
    return {"loadBalancerSourceRanges": list(ranges)} if ranges else {}


def balanced_spec(spec: Object, balancing: Balancing) -> Object:
    """Return the spec of a model's Service of type LoadBalancer, restricted to the allowed clients.

    With the default policy ``Cluster``, nodes hide the client's address (Kubernetes, "Preserving the client
    source IP").
    """
    local = {"externalTrafficPolicy": "Local"} if balancing.keep_addresses else {}
    return {**spec, "type": "LoadBalancer", **local, **source_ranges(balancing.clients)}


def guarded(fleet: Fleet, balancing: Balancing) -> Fleet:
    """Restrict load balancers that models define themselves to the allowed clients."""

    def restricted(endpoint: Endpoint) -> Endpoint:
        if endpoint.body is None or not endpoint.has_own_balancer:
            return endpoint
        return replace(endpoint, body={**endpoint.body, "spec": balanced_spec(endpoint.body["spec"], balancing)})

    items = (
        replace(item, endpoints=tuple(map(restricted, item.endpoints)))
        if any(endpoint.has_own_balancer for endpoint in item.endpoints)
        else item
        for item in fleet.rendered
    )
    return replace(fleet, rendered=tuple(items))


def check_ranges(door: Door, file: str) -> list[Problem]:
    """Reject invalid or repeated CIDR ranges, even if nothing is exposed."""
    report = Report(file)
    for field, ranges in (("clientCidrs", door.client_cidrs), ("balancerCidrs", door.balancer_cidrs)):
        for index, text in enumerate(ranges):
            reason = _range_problem(text) or (
                f"{text!r} is listed twice; remove one" if text in ranges[:index] else ""
            )
            if reason:
                report.error(f"{field}[{index}]", reason)
    return report.problems


def _range_problem(text: str) -> str:
    """Explain why a CIDR range is invalid; the API server accepts only the canonical form."""
    try:
        network = str(ipaddress.ip_network(text))
    except ValueError:
        return f"must be an address range whose host bits are zero, such as {_EXAMPLE}, found {text!r}"
    return "" if network == text else f"must be written as {network}, found {text!r}"
