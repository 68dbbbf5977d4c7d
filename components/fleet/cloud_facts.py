"""Facts that each registered cloud provides, and queries about node labels."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from .clouds import cleared_with_clouds, clouds
from .instances import Instance
from .load_balancers import LoadBalancers

KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
"""Domains of labels that the kubelet and the cloud provider set on nodes of every cloud."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts:
    """Facts about one cloud.

    Attributes:
        instances: Its instance types; all that have accelerators are among them.
        general: Further types, without accelerators, by name. A lazy mapping keeps short
            commands fast.
        fabrics: Display names of its fast network interfaces, by extended resource.
        accelerators: Extended resources of its accelerators, or of parts of them, besides those of the instances.
        label_domains: Domains of labels that the cloud, or its node provisioner, sets on nodes.
        capacity_labels: Node labels whose value is the purchase option, such as ``SPOT``. The first that is set wins.
        named_type: Returns the instance type that labels of the cloud name, in addition to the Kubernetes label; None
            if they name none.
        load_balancers: Its load balancers; None if a cluster creates them without annotations.
        credential_agents: Address ranges at which nodes serve cloud credentials, on port 80.
    """

    instances: Iterable[Instance]
    general: Mapping[str, Instance] = field(default_factory=dict)
    fabrics: Mapping[str, str] = field(default_factory=dict)
    accelerators: tuple[str, ...] = ()
    label_domains: tuple[str, ...] = ()
    capacity_labels: tuple[str, ...] = ()
    named_type: Callable[[Mapping[str, str]], str | None] = lambda _: None
    load_balancers: LoadBalancers | None = None
    credential_agents: tuple[str, ...] = ()


def credential_agents() -> tuple[str, ...]:
    """Return the address ranges at which nodes of any cloud serve credentials."""
    return tuple(dict.fromkeys(cidr for facts in clouds().values() for cidr in facts.credential_agents))


def is_set_by_cloud(label: str) -> bool:
    """Return whether the cloud sets a node label, whether or not a node group asks for it."""
    domain = label.rpartition("/")[0]
    return any(domain == known or domain.endswith(f".{known}") for known in _label_domains())


@cleared_with_clouds
@functools.cache
def capacity_labels() -> tuple[str, ...]:
    """Return the node labels of every cloud whose value is the purchase option."""
    return tuple(dict.fromkeys(label for facts in clouds().values() for label in facts.capacity_labels))


def capacity_in(labels: Mapping[str, str]) -> str:
    """Return the purchase option that labels select, such as ``spot`` or ``capacity-block``; empty for none."""
    value = next((labels[key] for key in capacity_labels() if key in labels), "")
    return value.lower().replace("_", "-")


def type_named_by_cloud(labels: Mapping[str, str]) -> str | None:
    """Return the instance type that labels of any cloud name; the Kubernetes label is not considered."""
    return next(filter(None, (facts.named_type(labels) for facts in clouds().values())), None)


@cleared_with_clouds
@functools.cache
def _label_domains() -> tuple[str, ...]:
    domains = (domain for facts in clouds().values() for domain in facts.label_domains)
    return tuple(dict.fromkeys((*KUBERNETES_DOMAINS, *domains)))
