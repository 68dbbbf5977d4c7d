"""Nodes that existing load balancers cannot reach, in zones that were added after the load balancers were created."""

from collections.abc import Collection, Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.demand import PodDemand
from ....fleet.nodes.groups import lands_on
from ....fleet.nodes.policy import NodePolicy
from ....fleet.rendered import Fleet
from .plan import NodeEnvironment, NodeGroupPlan


def check_balanced_zones(
    fleet: Fleet,
    groups: Iterable[NodeGroupPlan],
    environment: NodeEnvironment,
    control_plane: Collection[str],
    system: Iterable[str],
    *,
    every_model: bool,
    gateway: bool,
) -> Iterator[Problem]:
    """Warn about nodes in added zones on which targets of load balancers may run.

    The load balancer controller selects subnets when it creates a load balancer and does not change them
    (kubernetes-sigs/aws-load-balancer-controller, pull request 2129). AWS sends no traffic to targets in other zones
    (Elastic Load Balancing user guide, "Availability Zones and load balancer nodes").

    Args:
        fleet: The rendered fleet.
        groups: The node groups.
        environment: Node settings.
        control_plane: Zones of the control plane, which exist from the start; empty if the settings have none.
        system: Zones of the system nodes.
        every_model: Whether each model has a load balancer.
        gateway: Whether a gateway's proxies run on nodes without taints.
    """
    if not control_plane:
        return
    place = environment.place
    balanced = [
        item
        for item in fleet.rendered
        if any(endpoint.has_own_balancer for endpoint in item.endpoints) or (every_model and item.endpoints)
    ]
    anywhere = [item.title for item in balanced if any(not demand.choices for demand in item.pods)]
    proxies = ["the proxies of the gateway"] if gateway else []
    nodes = [("the system nodes", system, "cluster.systemZones", [*anywhere, *proxies])]
    if environment.pools.general:
        nodes.append(("nodes of the general pool", environment.zones, place.path("zones"), [*anywhere, *proxies]))
    for group in groups:
        titles = [i.title for i in balanced if any(_may_land(group, demand, environment.nodes) for demand in i.pods)]
        path = place.path("types", group.node.name, "zones")
        nodes.append((f"nodes {group.name}", group.zones, path, [*titles, *([] if group.taints else proxies)]))
    for name, zones, path, targets in nodes:
        added = [zone for zone in zones if zone not in control_plane]
        if added and targets:
            reason = (
                f"{name} may be in {', '.join(added)}, where {', '.join(targets)} may be a target of a load "
                "balancer. One that was created before this zone was added sends no traffic there: set zones of the "
                f"control plane ({', '.join(control_plane)}), or create the load balancer again"
            )
            yield Problem(
                file=place.file, path=path, reason=reason, severity=Severity.WARNING, rule=RuleId.NODES_UNBALANCED
            )


def _may_land(group: NodeGroupPlan, demand: PodDemand, policy: NodePolicy) -> bool:
    if not demand.choices:
        return not group.taints
    nodes = group.demand
    return any(lands_on(choice, nodes.labels, nodes.capacity, policy) for choice in demand.choices)
