"""Checks of the nodes for CoreDNS and the controllers of a cluster."""

from collections.abc import Iterator, Sequence

from ....contract.problems import MOST_HINTS
from ....fleet.instances import instance
from ....fleet.nodes.fit import DESCRIBED_TYPES, nearest_types
from ..facts.eks import limits
from ..words import NodeImage

DEFAULT_TYPES = ("m7i.large",)


def system_problems(types: Sequence[str], count: int, image: str, most: int | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, by argument of the Cluster."""
    if image not in list(NodeImage):
        yield "image", f"must be one of {', '.join(NodeImage)}, found {image!r}"
    for number, name in enumerate(types):
        if instance(name) is None:
            hint = nearest_types(name) if number < MOST_HINTS else ""
            yield (
                "system_instance_types",
                f"unknown instance type {name!r}{hint or '; check its name'}; {DESCRIBED_TYPES}",
            )
    known = [node for node in map(instance, types) if node]
    if len({node.arch for node in known}) > 1:
        archs = ", ".join(f"{node.name} is {node.arch}" for node in known)
        yield "system_instance_types", f"mixed architectures in one group: {archs}"
    if any(node.accelerators for node in known):
        yield (
            "system_instance_types",
            "system pods do not need accelerators; use general-purpose types, such as m7i.large",
        )
    for node in known:
        if not node.allocatable_memory:
            yield (
                "system_instance_types",
                f"{node.name} has {node.memory_gib:f} GiB, which the node itself needs, so that no pod fits; use a "
                "larger type, such as m7i.large",
            )
    if not types:
        yield "system_instance_types", "name at least one, such as m7i.large"
    if count < 1:
        yield "system_nodes", f"must be at least 1, found {count}"
    if count > limits().nodes_per_group:
        yield "system_nodes", f"must be at most {limits().nodes_per_group}, found {count}"
    if most is not None and not count <= most <= limits().nodes_per_group:
        yield (
            "system_nodes_max",
            f"must be from system_nodes ({count}) to {limits().nodes_per_group}, found {most}",
        )
