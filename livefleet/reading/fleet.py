"""Build the ``LiveFleet`` of a stack from its plan."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from components.checks.front_door.words import Exposure
from components.fleet.cloud_providers import default_provider
from components.fleet.nodes.groups import NodeGroupDemand
from components.fleet.objects import is_core_service, key_of
from components.fleet.prices import Buying
from components.plan.costs.prices import Prices
from components.resources.serving.simulated_nodes import simulated_count

from ..fleet import LiveFleet, Object, ServedGroup
from .autoscalers import at_rest, reads_simulated_metrics
from .endpoints import served_endpoints
from .workloads import served_workloads

if TYPE_CHECKING:
    from components.plan.plan import Plan

_PRICES = Prices(default_provider().prices.region)


def fleet_of(stack: str, planned: "Plan") -> LiveFleet:
    """Return the simulated fleet of a plan."""
    with planned.environment.with_types():
        return _fleet_of(stack, planned)


def _fleet_of(stack: str, planned: "Plan") -> LiveFleet:
    return LiveFleet(
        stack=stack,
        workloads=served_workloads(planned),
        endpoints=served_endpoints(planned),
        groups=served_groups(planned.groups),
        autoscalers=_autoscalers_by_workload(planned),
        monitors=planned.chain.monitors,
        rules=dict(planned.chain.adapter_rules),
        door=_door_objects(planned),
        at_rest=at_rest(planned),
    )


def _autoscalers_by_workload(planned: "Plan") -> dict[str, tuple[str, str]]:
    """Return namespace and name of each HorizontalPodAutoscaler that reads a serving metric, by its workload."""
    by_workload = {}
    for _, scaler in planned.fleet.autoscalers:
        if reads_simulated_metrics(planned, scaler):
            _, namespace, name = scaler.target
            by_workload[f"{namespace}/{name}"] = (namespace, scaler.name)
    return dict(sorted(by_workload.items()))


def _door_objects(planned: "Plan") -> tuple[Object, ...]:
    """Return the objects of the gateway, with the Services and the planned Secrets that they reference."""
    if planned.environment.door.expose != Exposure.GATEWAY or not planned.door.objects:
        return ()
    services = [body for body in planned.fleet.objects if is_core_service(body)]
    referenced = {("Secret", *key) for key in planned.door.secrets}
    secrets = [body for body in planned.others if key_of(body) in referenced]
    return (*planned.door.objects, *services, *secrets)


def served_groups(groups: Iterable[NodeGroupDemand]) -> tuple[ServedGroup, ...]:
    """Return the node groups of a plan."""
    served = []
    for group in groups:
        price = _PRICES.node((group.instance_type,), Buying.ON_DEMAND)
        served.append(
            ServedGroup(
                name=group.name,
                instance_type=group.instance_type,
                labels=dict(group.labels),
                least=group.nodes,
                # The live fleet cannot use more nodes than there are Node objects.
                most=min(group.max_nodes, simulated_count(group)),
                usd_per_hour=None if isinstance(price, str) else float(price.usd),
            )
        )
    return tuple(served)
