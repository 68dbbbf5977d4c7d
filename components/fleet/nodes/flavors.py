"""Node groups for flavors that no model claims yet."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..demand import PodDemand
from .groups import NodeGroupDemand, groups_of
from .policy import NodePolicy
from .wishes import Wish

MOST_NODES_UNCLAIMED = 10
"""Maximum size of a group without a setting: there are no models whose pods could be counted."""
_DEFAULT = NodePolicy()


def flavor_groups(
    flavors: Sequence[PodDemand], policy: NodePolicy = _DEFAULT, nodes: int = 0
) -> tuple[NodeGroupDemand, ...]:
    """Return the node groups of flavors, which are in order of preference.

    Args:
        flavors: What each asks of nodes.
        policy: What the environment says about nodes.
        nodes: How many nodes each group has at rest.
    """
    names = [group.name for flavor in flavors for group in groups_of([flavor], policy)]
    return tuple(
        replace(
            group,
            nodes=nodes,
            max_nodes=MOST_NODES_UNCLAIMED,
            rank=names.index(group.name),
            level=len(names) - 1 - names.index(group.name),
        )
        for group in groups_of(flavors, policy)
    )


def flavor_wishes(flavors: Sequence[PodDemand]) -> Iterator[Wish]:
    """Yield the kind of node that each flavor stands for."""
    for flavor in flavors:
        for choice in flavor.choices:
            if choice.chosen_by:
                yield Wish(choice.chosen_by.origin, flavor, choice)
