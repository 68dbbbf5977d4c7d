"""Who may talk to the pods of the models: NetworkPolicies from what was rendered.

A pod that no policy selects takes every connection; one that a policy selects takes only what some policy allows.
So each workload gets policies that select its own pods and nothing else: that denies the rest by default, without
touching pods of others in the same namespace. The network plugin must enforce policies; without one they do nothing.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

from .core_services import core_service
from .llmkube.pods import selector_of
from .types import Fleet, Object, Rendered

_NAMESPACE_NAME = "kubernetes.io/metadata.name"
_GROUP = "leaderworkerset.sigs.k8s.io/name"
_WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
_PROXIES = {
    "app.kubernetes.io/component": "proxy",
    "app.kubernetes.io/managed-by": "envoy-gateway",
    "app.kubernetes.io/name": "envoy",
}
_POD_IDENTITY_AGENT = "169.254.170.23/32"
"""EKS Pod Identity gives out credentials there, on port 80 of every node (EKS user guide, Pod Identity agent)."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Who may connect to the models.

    Attributes:
        gateway_namespace: Namespace of the proxies of the gateway; None without one.
        gateway_pods: Labels of the proxies; empty for every pod of that namespace.
        monitoring_namespace: Namespace of what scrapes metrics; None without one.
        metrics_port: Port of the metrics; None where they are on the serving port, as with every shipped engine.
        clients: Labels of the namespaces whose pods may call models directly, one mapping per alternative. None, the
            default, is every pod of the cluster: without a front door there is no other way in. Empty is nobody.
        cidrs: Addresses outside the cluster that may call models directly, as a load balancer per model needs.
        restrict_egress: Whether pods may open connections only for names (53), HTTPS (443), credentials of the
            node's agent, and within their group. Weights that come over plain HTTP cannot be loaded then.
    """

    gateway_namespace: str | None = None
    gateway_pods: Mapping[str, str] = field(default_factory=lambda: dict(_PROXIES))
    monitoring_namespace: str | None = "monitoring"
    metrics_port: int | None = None
    clients: tuple[Mapping[str, str], ...] | None = None
    cidrs: tuple[str, ...] = ()
    restrict_egress: bool = False

    def __post_init__(self) -> None:
        """Refuse addresses that the API server would refuse."""
        for cidr in self.cidrs:
            try:
                ipaddress.ip_network(cidr)
            except ValueError as error:
                raise ValueError(f"cidrs: {cidr!r} is not a network such as 10.0.0.0/16: {error}") from None


def network_policies(fleet: Fleet, allowed: Allowed) -> tuple[Object, ...]:
    """Return the policies of every served model, by namespace and name."""
    served = sorted((i for i in fleet.rendered if i.endpoint), key=lambda item: (item.namespace, item.workload_name))
    return tuple(policy for item in served for policy in _of_workload(item, allowed))


def _of_workload(item: Rendered, allowed: Allowed) -> list[Object]:
    front = _front_labels(item)
    ingress = [{"from": peers, "ports": [_tcp(port)]} for peers, port in _callers(allowed, _serving_port(item))]
    if item.workload_kind == "Deployment":
        return [_policy(item, "", front, ingress, _egress(None, allowed))]
    group = {_GROUP: item.workload_name}
    inside: Object = {"podSelector": {"matchLabels": group}}
    return [
        _policy(item, "", front, ingress, None),
        _policy(item, ".group", group, [{"from": [inside]}], _egress(inside, allowed)),
    ]


def _front_labels(item: Rendered) -> dict[str, str]:
    """Return the labels of the pods that take requests: those that the workload's Service selects."""
    service = core_service(item.objects)
    if service:
        return dict(service["spec"]["selector"])
    if item.kind == "InferenceService":
        return selector_of(item.workload_name)
    # An operator makes the Service: llmaz spec 2.8, point 3.
    return {_GROUP: item.workload_name, _WORKER_INDEX: "0"}


def _serving_port(item: Rendered) -> int:
    service = core_service(item.objects)
    assert item.endpoint is not None  # noqa: S101  the caller chose those that have one
    port: int = service["spec"]["ports"][0]["targetPort"] if service else item.endpoint.port
    return port


def _callers(allowed: Allowed, serving: int) -> list[tuple[list[Object], int]]:
    """Return who may connect to which port. Probes come from the node itself, which no policy stops."""
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
    """Return what pods may connect to; None leaves it open."""
    if not allowed.restrict_egress:
        return None
    rules: list[Object] = [
        # To any address: a cache of names on the node has a link-local one.
        {"ports": [{"protocol": "UDP", "port": 53}, _tcp(53)]},
        {"ports": [_tcp(443)]},
        {"to": [{"ipBlock": {"cidr": _POD_IDENTITY_AGENT}}], "ports": [_tcp(80)]},
    ]
    return [*rules, {"to": [group]}] if group else rules


def _tcp(port: int) -> Object:
    return {"protocol": "TCP", "port": port}


def _policy(
    item: Rendered, suffix: str, labels: Mapping[str, str], ingress: list[Object], egress: list[Object] | None
) -> Object:
    spec: Object = {
        "podSelector": {"matchLabels": dict(labels)},
        "policyTypes": ["Ingress"] if egress is None else ["Ingress", "Egress"],
        "ingress": ingress,
    }
    if egress is not None:
        spec["egress"] = egress
    # Workloads have no dot in their names, so that no other workload's policy has this one.
    metadata = {"name": f"{item.workload_name}{suffix}", "namespace": item.namespace}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
