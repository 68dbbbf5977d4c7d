"""Managed node groups that existed before a stack and that it owns under their own names.

EKS cannot change subnets, role, types, image type, disk or SSH access of a group, and a replacement under the same
name would have to delete the group and its nodes first. A digest of each of these properties, taken at the adoption,
tells an edit of one without asking AWS.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ....contract.problems import Problem
from ....fleet.nodes.policy import RESERVED
from ....fleet.placement import taints
from ..words import Provisioner
from .labels import capacity_type

if TYPE_CHECKING:
    from .plan import NodeEnvironment

API_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
"""Effects of taints in the EKS API, by their spelling in Kubernetes."""
_DIGEST = 4
"""Hexadecimal digits per property; the engine rejects the replacement of an imported group in any case."""


@dataclass(frozen=True, slots=True)
class FixedProperties:
    """The properties of a node group that no update changes, in the order of their digests.

    Attributes:
        ami_type: Empty if EKS reports none.
        disk_gib: None if the launch template sets the disk.
        instance_types: Empty if the launch template sets the type.
        launch_template_id: Empty without one.
        ssh_key: Name of an EC2 key pair; empty without SSH access by the node group.
        ssh_security_groups: IDs of security groups that may use SSH.
        size: Minimum, maximum and desired size at the adoption. Only an autoscaler changes them: an update of one
            would send the desired size of the adoption too.
    """

    ami_type: str
    capacity_type: str
    disk_gib: int | None
    instance_types: tuple[str, ...]
    launch_template_id: str
    node_role_arn: str
    ssh_key: str
    ssh_security_groups: tuple[str, ...]
    subnets: tuple[str, ...]
    size: tuple[int, int, int]

    def digests(self) -> dict[str, str]:
        """Return a short digest of each property."""
        return {
            each.name: hashlib.sha256(json.dumps(getattr(self, each.name)).encode()).hexdigest()[:_DIGEST]
            for each in fields(self)
        }

    @property
    def checksum(self) -> str:
        """The digests of all properties in one text."""
        return "-".join(self.digests().values())

    def changed_since(self, checksum: str) -> list[str]:
        """Return the properties that differ from those of a checksum; all of them if it is malformed."""
        recorded = checksum.split("-")
        current = self.digests()
        if len(recorded) != len(current):
            return list(current)
        return [name for (name, digest), before in zip(current.items(), recorded, strict=True) if digest != before]


@dataclass(frozen=True, slots=True)
class OwnedGroup:
    """A node group that a stack owns under its own name.

    Attributes:
        fixed: What no update changes.
        checksum: Digests of ``fixed`` at the adoption.
        labels: All labels of the group, also those that no model selects.
        taints: All taints, in the spelling of Kubernetes.
        tags: All tags, in addition to those of the stack.
        launch_template_version: Empty without a launch template.
        update: ``maxUnavailable``, ``maxUnavailablePercentage`` and ``updateStrategy``, as far as they are set.
        version: Kubernetes version; empty to leave it as it is.
        release: Release of the image; empty to leave it as it is.
        retain: Whether the group stays when it leaves the stack.
    """

    name: str
    fixed: FixedProperties
    checksum: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    launch_template_version: str = ""
    update: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    release: str = ""
    retain: bool = True

    def nodes_at_once(self, nodes: int) -> int:
        """Return how many of some nodes an update may make unavailable at once; one by default."""
        share = int(self.update.get("max_unavailable_percentage") or 0)
        return max(1, int(self.update.get("max_unavailable") or nodes * share // 100))


def check_owned(environment: "NodeEnvironment") -> Iterator[Problem]:
    """Report owned groups that an update would replace, and those that their type does not describe."""
    place = environment.place
    names = [group.name for groups in environment.owned.values() for group in groups]
    for type_, groups in environment.owned.items():
        for index, group in enumerate(groups):
            path = ("types", type_, "ownedGroups", index)
            if environment.provisioner != Provisioner.MANAGED:
                reason = f"{group.name} is a managed node group; set provisioner: managed, or remove the group"
                yield place.problem(path, reason)
            if names.count(group.name) > 1:
                yield place.problem((*path, "name"), f"{group.name} is listed more than once; remove one of them")
            for name in group.fixed.changed_since(group.checksum):
                yield place.problem((*path, "fixed", _camel(name)), _replacing(group, name))
            for below, reason in _contradictions(type_, group, environment):
                yield place.problem((*path, *below), reason)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _replacing(group: OwnedGroup, name: str) -> str:
    """Return what an edit of a fixed property would do, and the safe way."""
    edited = f"is {json.dumps(getattr(group.fixed, name))}, and was another value when {group.name} was adopted"
    restored = "Restore the former value, from version control or with `workbench adopt --own node-groups`"
    if name == "size":
        return (
            f"{edited}. No update of the stack changes the size of an owned group: an autoscaler does, or `aws eks "
            f"update-nodegroup-config`. {restored}; minNodes and maxNodes of the type are the bounds that plans use"
        )
    return (
        f"{edited}. EKS cannot change it in place: the group, with its nodes and their pods, would have to be "
        f"deleted before another gets its name. {restored}. To move to other nodes, remove the group from "
        "ownedGroups, which leaves it as it is; let the stack create nodes of the type, or of another type; and "
        "delete the group when no pod of a model runs there"
    )


def _contradictions(
    type_: str, group: OwnedGroup, environment: "NodeEnvironment"
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what plans assume by the settings of the type, and the group does not have."""
    policy, fixed, key = environment.nodes, group.fixed, environment.place.key
    rule = policy.of(type_)
    capacity = rule.capacity or policy.capacity
    types = fixed.instance_types
    if types and types[0] != type_:
        yield ("fixed", "instanceTypes"), f"begins with {types[0]}; move the group to the settings of that type"
    further = [name for name in types[1:] if name not in rule.alternatives]
    if further and capacity not in RESERVED:
        reason = f"has {', '.join(further)}, where pods for {type_} may not run; add them to its {key('spotTypes')}"
        yield ("fixed", "instanceTypes"), reason
    if fixed.capacity_type != capacity_type(capacity):
        reason = f"is {fixed.capacity_type}, but the capacity of {type_} is {capacity}; correct the latter"
        yield ("fixed", "capacityType"), reason
    described = {**policy.further, **rule.labels}
    lacking = [f"{name}: {value}" for name, value in described.items() if group.labels.get(name) != value]
    if lacking:
        yield ("labels",), f"lacks {', '.join(lacking)}, which {type_} has by its settings; make them the same"
    accelerators = {taint["key"] for taint in taints(type_)}
    tolerated = [dict(taint) for taint in policy.taints_of(type_)]
    for taint in group.taints:
        by_accelerator = taint["key"] in accelerators and taint["effect"] != "NoExecute"
        if not by_accelerator and dict(taint) not in tolerated:
            what = f"{taint['key']}={taint['value']}:{taint['effect']}"
            yield ("taints",), f"has {what}, which pods for {type_} do not tolerate; add it to the taints of the type"
