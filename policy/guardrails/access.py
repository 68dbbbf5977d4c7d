"""Check which endpoints are reachable from the internet."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .values import UNKNOWN, GuardedResource, Violation, known_texts, violation

CLUSTER = "aws:eks/cluster:Cluster"
_BALANCER = "service.beta.kubernetes.io/aws-load-balancer"
SCHEME = f"{_BALANCER}-scheme"
_INTERNAL = f"{_BALANCER}-internal"
_KIND = f"{_BALANCER}-type"
_RANGES = f"{_BALANCER}-source-ranges"
_INGRESS_SCHEME = "alb.ingress.kubernetes.io/scheme"
_INGRESS_RANGES = "alb.ingress.kubernetes.io/inbound-cidrs"
_PUBLIC = "internet-facing"
_AUTHENTICATION = ("jwt", "apiKeyAuth", "basicAuth", "oidc", "extAuth")
"""Ways to authenticate clients in an Envoy Gateway SecurityPolicy (Envoy Gateway API, SecurityPolicySpec)."""
_CONTROLLED = ("external", "nlb-ip")
"""Load balancer types that the AWS Load Balancer Controller handles; they are internal by default. The cloud provider
handles all others, which are internet-facing (AWS Load Balancer Controller, docs/guide/service/nlb.md)."""


def open_clusters(subject: GuardedResource, widest: int) -> Iterator[Violation]:
    """Report a cluster whose public API endpoint accepts clients from too large ranges.

    Args:
        subject: Any resource.
        widest: The shortest prefix allowed for a range.
    """
    # By default, EKS makes the endpoint public and open to all addresses (EKS API, VpcConfigRequest).
    if subject.type != CLUSTER or subject.at("vpcConfig.endpointPublicAccess") in (False, UNKNOWN):
        return
    path = "vpcConfig.publicAccessCidrs"
    cidrs = subject.at(path)
    step = "set inference-platform:cluster.publicAccessCidrs to the ranges that you connect from, or bastion: true"
    if not cidrs and cidrs is not UNKNOWN:
        yield violation(subject, path, cidrs, f"ranges of /{widest} or smaller", step)
    for cidr in known_texts(cidrs):
        if is_wide(cidr, widest):
            yield violation(subject, path, cidr, f"ranges of /{widest} or smaller", step)


def is_wide(cidr: str, widest: int) -> bool:
    """Whether a range has a shorter prefix than ``widest``, or than twice that for IPv6."""
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return False  # the provider rejects an invalid range
    return network.prefixlen < (widest if network.version == 4 else widest * 2)


def open_balancers(subjects: Sequence[GuardedResource], widest: int, allowed: Sequence[str]) -> Iterator[Violation]:
    """Report internet-facing load balancers that neither restrict nor authenticate their clients.

    Args:
        subjects: All resources of a stack.
        widest: The shortest prefix allowed for a range of clients.
        allowed: Exceptions, each as ``namespace/name``.
    """
    authenticated = set(_authenticated_gateways(subjects))
    gateways_of: dict[str, set[str]] = {}  # by EnvoyProxy, all as namespace/name
    for subject in subjects:
        proxy = subject.at("spec.infrastructure.parametersRef.name")
        if subject.type.endswith(":Gateway") and isinstance(proxy, str):
            gateways_of.setdefault(f"{subject.at('metadata.namespace')}/{proxy}", set()).add(_full_name(subject))
    # A proxy authenticates its clients if all gateways that use it do.
    authenticated |= {proxy for proxy, gateways in gateways_of.items() if gateways <= authenticated}
    for subject in subjects:
        name = _full_name(subject)
        if not subject.type.startswith("kubernetes:") or name in allowed:
            continue
        for path, ranges in _public_balancers(subject):
            wide = [cidr for cidr in ranges if is_wide(cidr, widest)]
            if (wide or not ranges) and name not in authenticated:
                exposure = wide or "open to the internet"
                step = "make it internal, name or authenticate its clients (inference-platform:frontDoor)"
                limit = f"internal, clients in ranges of /{widest} or smaller, or {name} in `allowed`"
                yield violation(subject, path, exposure, limit, step)


def _public_balancers(subject: GuardedResource) -> Iterator[tuple[str, list[str]]]:
    """Yield the path of each public load balancer in a resource, and the ranges of its clients."""
    kind = subject.type.rpartition(":")[2]
    if kind == "Service" and subject.at("spec.type") == "LoadBalancer":
        annotations = _mapping(subject.at("metadata.annotations"))
        if _is_public(annotations, subject.at("spec.loadBalancerClass")):
            yield "spec", _ranges(subject.at("spec.loadBalancerSourceRanges"), annotations.get(_RANGES))
    if kind == "EnvoyProxy":
        service = _mapping(subject.at("spec.provider.kubernetes.envoyService"))
        annotations = _mapping(service.get("annotations"))
        service_type = service.get("type", "LoadBalancer")
        if service and service_type == "LoadBalancer" and _is_public(annotations, service.get("loadBalancerClass")):
            path = "spec.provider.kubernetes.envoyService"
            yield path, _ranges(service.get("loadBalancerSourceRanges"), annotations.get(_RANGES))
    if kind == "Ingress":
        annotations = _mapping(subject.at("metadata.annotations"))
        if annotations.get(_INGRESS_SCHEME) == _PUBLIC:
            yield "metadata.annotations", _ranges(None, annotations.get(_INGRESS_RANGES))


def _is_public(annotations: Mapping[str, Any], controller: object) -> bool:
    scheme = annotations.get(SCHEME)
    if scheme is not None:
        return bool(scheme == _PUBLIC)
    return not (annotations.get(_INTERNAL) == "true" or annotations.get(_KIND) in _CONTROLLED or controller)


def _ranges(field: object, annotation: object) -> list[str]:
    """Return the ranges of clients; empty if all addresses are allowed."""
    if UNKNOWN in (field, annotation):
        # Unknown ranges are no violation in a preview: one address stands for them, since none would mean all.
        return ["0.0.0.0/32"]
    ranges = list(known_texts(field))
    return ranges or [cidr.strip() for text in known_texts(annotation) for cidr in text.split(",") if cidr.strip()]


def _authenticated_gateways(subjects: Iterable[GuardedResource]) -> Iterator[str]:
    """Yield the gateways that authenticate their clients, each as ``namespace/name``."""
    for subject in subjects:
        spec = _mapping(subject.at("spec"))
        if subject.type.endswith(":SecurityPolicy") and any(spec.get(key) for key in _AUTHENTICATION):
            namespace = subject.at("metadata.namespace")
            targets = [*(spec.get("targetRefs") or ()), spec.get("targetRef")]
            yield from (
                f"{namespace}/{target['name']}"
                for target in targets
                if isinstance(target, Mapping) and "name" in target
            )


def _full_name(subject: GuardedResource) -> str:
    return f"{subject.at('metadata.namespace') or 'default'}/{subject.at('metadata.name')}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
