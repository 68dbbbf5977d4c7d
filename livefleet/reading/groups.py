"""Groups of nodes, as they are played."""

from collections.abc import Iterable

from components.fleet.cloud_providers import default_provider
from components.fleet.nodes.groups import NodeGroupDemand
from components.fleet.prices import Buying
from components.plan.costs.prices import Prices
from components.resources.serving.simulated_nodes import simulated_count

from ..fleet import ServedGroup

_PRICES = Prices(default_provider().prices.region)


def served_groups(groups: Iterable[NodeGroupDemand]) -> tuple[ServedGroup, ...]:
    """Return the groups of nodes of a plan."""
    return tuple(map(_group, groups))


def _group(group: NodeGroupDemand) -> ServedGroup:
    price = _PRICES.node((group.instance_type,), Buying.ON_DEMAND)
    return ServedGroup(
        name=group.name,
        instance_type=group.instance_type,
        labels=dict(group.labels),
        least=group.nodes,
        # More than there are Node objects cannot be played.
        most=min(group.max_nodes, simulated_count(group)),
        usd_per_hour=None if isinstance(price, str) else float(price.usd),
    )
