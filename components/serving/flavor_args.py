"""Flavors as arguments: the one type for models that are declared in a program and for the nodes made for them."""

from collections.abc import Iterator, Mapping
from typing import Any, Required, TypedDict


class FlavorArgs(TypedDict, total=False):
    """A kind of accelerator node."""

    name: Required[str]
    """Name of the flavor; a resource that claims the model may name it."""
    limits: dict[str, Any]
    """Accelerators of one pod, such as nvidia.com/gpu: 4, as numbers or as text."""
    node_selector: dict[str, str]
    """Labels of the nodes, beside their instance type."""
    params: dict[str, str]
    """INSTANCE-TYPE names the EC2 instance type; TP and PP say how a replica spreads over accelerators and nodes."""


def flavors_or_manifests(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong where nodes follow from flavors or from manifests, and from one of the two alone."""
    if args.get("flavors") and args.get("manifests"):
        yield "manifests", "cannot be combined with flavors; give one of the two"
    elif not args.get("flavors") and not args.get("manifests"):
        yield "flavors", "is required unless manifests are given; list the kinds of nodes"
