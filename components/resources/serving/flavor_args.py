"""Flavors as arguments: the one type for models that are declared in a program and for the nodes made for them."""

from collections.abc import Iterator, Mapping
from typing import Any, Required, TypedDict


class FlavorArgs(TypedDict, total=False):
    """A flavor: a kind of accelerator node."""

    name: Required[str]
    """Name of the flavor; a resource that claims the model can select it."""
    limits: dict[str, Any]
    """Accelerators of one pod, such as nvidia.com/gpu: 4, as numbers or strings."""
    node_selector: dict[str, str]
    """Labels of the nodes, in addition to their instance type."""
    params: dict[str, str]
    """INSTANCE-TYPE names the EC2 instance type; TP and PP set how a replica is spread over accelerators and
    nodes."""


def flavors_or_manifests(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong where nodes follow from flavors or from manifests, and from one of the two alone."""
    if args.get("flavors") and args.get("manifests"):
        yield "manifests", "cannot be combined with flavors; use one of the two"
    elif not args.get("flavors") and not args.get("manifests"):
        yield "flavors", "is required unless manifests is set; list the flavors of the nodes"
