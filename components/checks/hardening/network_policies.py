"""NetworkPolicies for the pods of the models.

A pod that no policy selects accepts every connection; one that a policy selects accepts only what some policy allows.
So each workload gets policies that select only its own pods: this denies everything else by default, without
affecting other pods in the namespace. The network plugin must enforce policies; otherwise they have no effect.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...fleet.cloud_facts import credential_agents
from ...fleet.endpoints import Endpoint, Router
from ...fleet.objects import Key, Object, new_object
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload, by_set

NETWORK_POLICY = "NetworkPolicy"
_GROUP = ".group"
"""Suffix of the name of the policy for a group."""
_NAMESPACE_NAME = "kubernetes.io/metadata.name"
_PROXIES = {
    "app.kubernetes.io/component": "proxy",
    "app.kubernetes.io/managed-by": "envoy-gateway",
    "app.kubernetes.io/name": "envoy",
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """Peers that may connect to the models.

    Attributes:
        gateway_namespace: Namespace of the gateway's proxies; None without a gateway.
        gateway_pods: Labels of the proxies; empty for every pod in that namespace.
        monitoring_namespace: Namespace of Prometheus; None without one.
        metrics_port: Port of the metrics; None if it is the serving port, as for every shipped engine.
        clients: Labels of the namespaces whose pods may call models directly, as alternatives. None, the default,
            allows every pod in the cluster: without a front door there is no other access.
            If empty, no pod is allowed.
        cidrs: Ranges outside the cluster that may call models directly: the sources of connections and health checks
            of load balancers, as pods see them.
        only_balanced: Whether ``cidrs`` may only call models whose own Service requests a load balancer.
        restrict_egress: Whether pods may only connect to DNS (53), HTTPS (443), the node's credential agent, and
            within their group. Weights cannot be downloaded over plain HTTP then.
    """

    gateway_namespace: str | None = None
    gateway_pods: Mapping[str, str] = field(default_factory=lambda: dict(_PROXIES))
    monitoring_namespace: str | None = "monitoring"
    metrics_port: int | None = None
    clients: tuple[Mapping[str, str], ...] | None = None
    cidrs: tuple[str, ...] = ()
    only_balanced: bool = False
    restrict_egress: bool = False

    def __post_init__(self) -> None:
        """Reject ranges that the API server would reject."""
        for cidr in self.cidrs:
            try:
                ipaddress.ip_network(cidr)
            except ValueError as error:
                raise ValueError(f"cidrs: {cidr!r} is not a network such as 10.0.0.0/16: {error}") from None


def network_policies(fleet: Fleet, allowed: Allowed) -> tuple[Object, ...]:
    """Return the policies of every set of pods, with or without an endpoint, ordered by namespace and name."""
    endpoints = [endpoint for _, endpoint in fleet.endpoints]
    served = _workloads_of(endpoints)
    balanced = (
        _workloads_of(endpoint for endpoint in endpoints if endpoint.has_own_balancer)
        if allowed.only_balanced
        else served
    )
    routers = dict[tuple[str, str], list[tuple[int, Router]]]()
    for position, (place, router) in enumerate(_routers_of(endpoints)):
        routers.setdefault(place, []).append((position, router))
    unbalanced = replace(allowed, cidrs=())
    # Workloads behind a router accept connections only from the router and the monitoring.
    routed = replace(unbalanced, gateway_namespace=None, clients=())
    sets = sorted(by_set(workload for _, workload in fleet.workloads).items(), key=lambda pair: pair[0])
    reached = frozenset[tuple[str, str]]().union(*(endpoint.backend_keys for endpoint in endpoints))
    # Groups of reached workloads: their policies cover further roles, which are scraped as well.
    grouped = (workload for _, parts in sets for workload in parts if workload.group)
    guarded = {
        (workload.namespace, _frozen(workload.group)) for workload in grouped if workload.backend_keys & reached
    }
    policies: list[Object] = []
    for _, parts in sets:
        names, first = set[tuple[str, str]]().union(*(workload.backend_keys for workload in parts)), parts[0]
        indexed = sorted((pair for place in names for pair in routers.get(place, ())), key=lambda pair: pair[0])
        before = [router for _, router in indexed]
        if names & served:
            policies += _of_workload(first, allowed if names & balanced else unbalanced, before)
        elif before or (first.namespace, _frozen(first.group)) in guarded:
            policies += _of_workload(first, routed, before)
        else:
            # Without an endpoint, the gateway does not route here; only direct clients may connect.
            policies += _of_workload(first, replace(unbalanced, gateway_namespace=None), ())
    return tuple(policies)


def guards_of(workload: Workload) -> tuple[Key, ...]:
    """Return the keys of the policies that a workload may have: of its front, and of its group."""
    return tuple((NETWORK_POLICY, workload.namespace, f"{workload.set_name}{suffix}") for suffix in ("", _GROUP))


def _frozen(labels: Mapping[str, str] | None) -> frozenset[tuple[str, str]]:
    return frozenset((labels or {}).items())


def _workloads_of(endpoints: Iterable[Endpoint]) -> set[tuple[str, str]]:
    """Return namespace and name of the workloads, or sets of pods, that serve endpoints without a router."""
    return {
        (backend.namespace, backend.workload)
        for endpoint in endpoints
        for backend in endpoint.backends
        if not backend.router
    }


def _routers_of(endpoints: Iterable[Endpoint]) -> list[tuple[tuple[str, str], Router]]:
    """Return the routers of endpoints, with namespace and name of the workloads behind them."""
    return [
        ((endpoint.namespace, workload), backend.router)
        for endpoint in endpoints
        for backend in endpoint.backends
        if backend.router
        for workload in backend.router.workloads
    ]


def _of_workload(workload: Workload, allowed: Allowed, routers: Iterable[Router]) -> list[Object]:
    front, group = workload.selector, workload.group
    peers: list[Object] = []
    for router in routers:
        peer = {**_namespace(router.namespace), "podSelector": {"matchLabels": dict(router.pods)}}
        if peer not in peers:
            peers.append(peer)
    callers = [*([(peers, workload.port)] if peers else ()), *_callers(allowed, workload.port)]
    ingress = [{"from": sources, "ports": [_tcp(port)]} for sources, port in callers]
    if group is None:
        return [_policy(workload, "", front, ingress, _egress(None, allowed))]
    inside: Object = {"podSelector": {"matchLabels": group}}
    return [
        _policy(workload, "", front, ingress, None),
        _policy(workload, _GROUP, group, [{"from": [inside]}], _egress(inside, allowed)),
    ]


def _callers(allowed: Allowed, serving: int) -> list[tuple[list[Object], int]]:
    """Return the peers that may connect to each port. Probes come from the node, to which policies do not apply."""
    callers = []
    if allowed.gateway_namespace:
        proxies: Object = {"podSelector": {"matchLabels": dict(allowed.gateway_pods)}} if allowed.gateway_pods else {}
        callers.append(([{**_namespace(allowed.gateway_namespace), **proxies}], serving))
    if allowed.monitoring_namespace:
        callers.append(([_namespace(allowed.monitoring_namespace)], allowed.metrics_port or serving))
    clients = ({},) if allowed.clients is None else allowed.clients
    direct: list[Object] = [{"namespaceSelector": {"matchLabels": dict(row)} if row else {}} for row in clients]
    direct += [{"ipBlock": {"cidr": cidr}} for cidr in allowed.cidrs]
    if direct:
        callers.append((direct, serving))
    return callers


def _namespace(name: str) -> Object:
    return {"namespaceSelector": {"matchLabels": {_NAMESPACE_NAME: name}}}


def _egress(group: Object | None, allowed: Allowed) -> list[Object] | None:
    """Return the egress rules; None for unrestricted egress."""
    if not allowed.restrict_egress:
        return None
    rules: list[Object] = [
        # To any address: a DNS cache on the node has a link-local one.
        {"ports": [{"protocol": "UDP", "port": 53}, _tcp(53)]},
        {"ports": [_tcp(443)]},
        *({"to": [{"ipBlock": {"cidr": cidr}}], "ports": [_tcp(80)]} for cidr in credential_agents()),
    ]
    return [*rules, {"to": [group]}] if group else rules


def _tcp(port: int) -> Object:
    return {"protocol": "TCP", "port": port}


def _policy(
    workload: Workload, suffix: str, labels: Mapping[str, str], ingress: list[Object], egress: list[Object] | None
) -> Object:
    spec: Object = {
        "podSelector": {"matchLabels": dict(labels)},
        "policyTypes": ["Ingress"] if egress is None else ["Ingress", "Egress"],
        "ingress": ingress,
    }
    if egress is not None:
        spec["egress"] = egress
    # Names of workloads contain no dot, so the suffix prevents collisions.
    name = f"{workload.set_name}{suffix}"
    return new_object("networking.k8s.io/v1", NETWORK_POLICY, name, workload.namespace, spec)
