"""Load balancers before models: who may connect to them, and from which addresses pods see their connections."""

import dataclasses
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...contract.problems import Problem
from ...fleet.endpoints import Endpoint
from ...fleet.load_balancers import LoadBalancers, default_load_balancers
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from .report import Report
from .settings import Door

_EXAMPLE = "10.0.0.0/16"


@dataclass(frozen=True, slots=True)
class Balancing:
    """What the load balancers of an environment do.

    Attributes:
        clients: Ranges that may connect to the load balancer of a model; empty for whoever reaches it.
        sources: Ranges from which pods see connections and health checks come; empty where nobody looks.
        keep_addresses: Whether nodes must pass connections on with the client's address, because policies look at it.
        proxy_protocol: Whether the gateway is told the client's address ahead of each connection.
        balancers: What the load balancers are, and what Services tell them.
    """

    clients: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    keep_addresses: bool = False
    proxy_protocol: bool = False
    balancers: LoadBalancers = dataclasses.field(default_factory=default_load_balancers)


def source_ranges(ranges: Sequence[str]) -> Object:
    """Return the part of a Service's spec that says who may connect to its load balancer.

    Kubernetes leaves it to the cloud, and kube-proxy drops the rest at the nodes (Service API,
    ``loadBalancerSourceRanges``).
    """
    return {"loadBalancerSourceRanges": list(ranges)} if ranges else {}


def balanced_spec(spec: Object, balancing: Balancing) -> Object:
    """Return the spec of a model's Service of type LoadBalancer, open to clients alone.

    With the policy ``Cluster``, the default, nodes hide the client's address (Kubernetes, "Preserving the client
    source IP").
    """
    local = {"externalTrafficPolicy": "Local"} if balancing.keep_addresses else {}
    return {**spec, "type": "LoadBalancer", **local, **source_ranges(balancing.clients)}


def guarded(fleet: Fleet, balancing: Balancing) -> Fleet:
    """Return the fleet with the load balancers that models ask for by themselves open to clients alone."""
    return replace(fleet, rendered=tuple(_guarded(item, balancing) for item in fleet.rendered))


def _guarded(item: Rendered, balancing: Balancing) -> Rendered:
    if not any(endpoint.has_own_balancer for endpoint in item.endpoints):
        return item
    return replace(item, endpoints=tuple(_guarded_endpoint(each, balancing) for each in item.endpoints))


def _guarded_endpoint(endpoint: Endpoint, balancing: Balancing) -> Endpoint:
    if endpoint.body is None or not endpoint.has_own_balancer:
        return endpoint
    return replace(endpoint, body={**endpoint.body, "spec": balanced_spec(endpoint.body["spec"], balancing)})


def check_ranges(door: Door, file: str) -> list[Problem]:
    """Report ranges that are none, or that a cloud would not take as they are written; also of a closed door."""
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
    """Say why a text is no range; the API server takes a network as it is usually written, and nothing near it."""
    try:
        network = str(ipaddress.ip_network(text))
    except ValueError:
        return f"must be an address range whose host bits are zero, such as {_EXAMPLE}, found {text!r}"
    return "" if network == text else f"must be written as {network}, found {text!r}"
