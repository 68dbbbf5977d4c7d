"""Checks of node groups that exist, whether or not a stack owns them.

The settings of an instance type describe its existing groups. A pod that selects something else
would stay Pending, because the stack creates no other nodes of that type.
"""

from collections.abc import Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....fleet.nodes.policy import TypePolicy
from ..names import ACCELERATOR_LABEL
from .plan import NodeEnvironment, NodeGroupPlan

_FOR_CREATED = (("placement_group", "placementGroup"), ("ami_id", "amiId"))
"""Settings of an instance type that take effect only where its nodes are created."""


def check_existing(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report requirements of models that the existing groups of an instance type do not meet."""
    place = environment.place
    for name, rule in environment.nodes.types.items():
        for attribute, key in _FOR_CREATED if rule.existing_groups else ():
            if getattr(rule, attribute):
                reason = f"has no effect on the existing groups {', '.join(rule.existing_groups)}; remove it"
                yield place.problem(("types", name, key), reason)
    for group in groups:
        rule = environment.nodes.of(group.node.name)
        for lacking in _lacking(group, rule, environment) if group.existing else ():
            reason = (
                f"models need nodes {group.name} {lacking}; change the model, use other groups, or remove the "
                "setting to have the nodes created"
            )
            key = "ownedGroups" if environment.owned.get(group.node.name) else "existingGroups"
            path = ("types", group.node.name, key)
            yield place.problem(path, reason, rule=RuleId.NODES_PLACEMENT)


def _lacking(group: NodeGroupPlan, rule: TypePolicy, environment: NodeEnvironment) -> Iterator[str]:
    names, place = ", ".join(group.existing), environment.place
    described = rule.capacity or environment.nodes.capacity
    if group.demand.capacity != described:
        yield f"with capacity {group.demand.capacity}, but {place.key('capacity')} of {names} is {described}"
    zone = group.demand.zone
    if zone and rule.zones and zone not in rule.zones:
        yield f"in zone {zone}, but {place.key('zones')} of {names} are {', '.join(rule.zones)}"
    missing = [
        f"{key}: {value}"
        for key, value in group.labels.items()
        if key != ACCELERATOR_LABEL and rule.labels.get(key) != value
    ]
    if missing:
        yield f"with {', '.join(missing)}, which labels of {names} do not have"
    if group.interfaces and not rule.efa:
        yield f"with EFA; set {place.key('efa')} if {names} have it"
