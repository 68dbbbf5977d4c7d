"""Labels of nodes: which of them the cloud sets, and what those say of a node."""

import functools
from collections.abc import Mapping

from .clouds import cleared_with_clouds, clouds

KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
"""Domains of labels that kubelet and the cloud provider set on nodes, whichever cloud it is."""


def is_set_by_cloud(label: str) -> bool:
    """Tell whether a label of nodes comes from the cloud, whether or not anybody asks for it."""
    domain = label.rpartition("/")[0]
    return any(domain == known or domain.endswith(f".{known}") for known in _domains())


@cleared_with_clouds
@functools.cache
def capacity_labels() -> tuple[str, ...]:
    """Return the labels of nodes that say how they are bought, of every cloud."""
    return tuple(dict.fromkeys(label for each in clouds().values() for label in each.capacity_labels))


def capacity_in(labels: Mapping[str, str]) -> str:
    """Return how nodes are bought, where labels say so, such as ``spot`` or ``capacity-block``; else empty."""
    found = next((labels[key] for key in capacity_labels() if key in labels), "")
    return found.lower().replace("_", "-")


def type_named_by_cloud(labels: Mapping[str, str]) -> str | None:
    """Return the instance type that labels of a cloud name, beside the label of Kubernetes; None without them."""
    return next(filter(None, (each.named_type(labels) for each in clouds().values())), None)


@cleared_with_clouds
@functools.cache
def _domains() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*KUBERNETES_DOMAINS, *(d for each in clouds().values() for d in each.label_domains))))
