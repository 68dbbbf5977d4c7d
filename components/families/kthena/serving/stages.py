"""Prefill and decode among the roles of a ModelServing, and whether they can talk to one another."""

from collections.abc import Mapping

from ....contract.findings.collector import Findings
from ....engines.pairs.checks import handover_rule
from ....engines.pairs.faults import Side, pair_faults
from ....engines.pairs.reading import transfer_of
from ....engines.pairs.rows import Stage
from ....fleet.instances import fabrics, instance
from ....fleet.placement import requests_of
from .roles import RolePods

_PAIR = (Stage.PREFILL, Stage.DECODE)


def stages_of(roles: list[RolePods]) -> Mapping[str, Stage]:
    """Return what roles do that do not answer by themselves, by the name of the role.

    The names tell where they are those of a pair: what the command lines say otherwise is wrong then. Elsewhere these
    tell.
    """
    found: dict[str, Stage] = {}
    for role in roles:
        transfer = transfer_of(role.server.line)
        if transfer and transfer.role in _PAIR:
            found[role.name] = transfer.role
    named = {role.name.lower(): role.name for role in roles}
    if all(stage in named for stage in _PAIR):
        found |= {named[stage]: stage for stage in _PAIR}
    return found


def check_pairs(roles: list[RolePods], findings: Findings) -> None:
    """Report prefill that cannot hand over its cache to decode, or hardly."""
    if len(roles) < len(_PAIR):
        return
    stages = stages_of(roles)
    givers = [role for role in roles if stages.get(role.name) is Stage.PREFILL]
    takers = [role for role in roles if stages.get(role.name) is Stage.DECODE]
    seen = set()
    for giver in givers:
        for taker in takers:
            for fault in pair_faults(_side(giver), _side(taker)):
                path = (giver if fault.role is Stage.PREFILL else taker).line_path
                if (path, fault.reason) not in seen:
                    findings.record(path, fault.reason, fault.severity, handover_rule(fault.severity))
                seen.add((path, fault.reason))


def _side(role: RolePods) -> Side:
    variables = {each["name"]: str(each.get("value") or "") for each in role.container.get("env") or ()}
    return Side(role.server.line, _has_efa(role), variables, is_whole=not role.container.get("envFrom"))


def _has_efa(role: RolePods) -> bool | None:
    """Tell whether the nodes of a role have fast network interfaces; None where the nodes are not known."""
    if not fabrics().keys().isdisjoint(requests_of(role.entry.spec)):
        return True
    nodes = [instance(choice.instance_type or "") for choice in role.entry.choices]
    if not nodes or None in nodes:
        return None
    return all(node.fabric_interfaces > 0 for node in nodes if node)
