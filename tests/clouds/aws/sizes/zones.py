"""A network, a control plane and node groups in their zones: what EC2 and EKS refuse when zones are edited.

- EC2 refuses a subnet whose range overlaps another's (InvalidSubnet.Conflict), and to delete one in which there are
  network interfaces (DependencyViolation; EC2 API, "Error codes").
- EKS has interfaces in the subnets of a control plane, and takes others only in exactly the zones of the creation
  (EKS user guide, "VPC requirements and considerations"; the message is quoted in public reports of it).
- Nodes, interface endpoints, NAT gateways, mount targets and instances have interfaces in their subnets.
- Pulumi creates and updates in the order of the dependencies, creates replacements first unless told otherwise, and
  deletes at the end, against the order of the dependencies. It refuses to delete or replace what is protected before
  it does anything.
"""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.clouds.aws.facts.updates import deletes_first
from tests.clouds.aws.sizes.account import RefusedError
from tests.clouds.aws.sizes.provider import FIXED
from tests.recorded import Entry, Recorded
from tests.resources.aws.aws_mock import Aws
from workbench.engine.diff import ignored

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
SUBNET = "aws:ec2/subnet:Subnet"
_WITH_INTERFACES = {
    CLUSTER: "vpcConfig.subnetIds",
    GROUP: "subnetIds",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "subnetIds",
    "aws:ec2/natGateway:NatGateway": "subnetId",
    "aws:efs/mountTarget:MountTarget": "subnetId",
    "aws:ec2/instance:Instance": "subnetId",
}
_REPLACES = {
    GROUP: FIXED,
    SUBNET: ("availabilityZone", "cidrBlock", "vpcId"),
    "aws:ec2/natGateway:NatGateway": ("subnetId", "allocationId"),
    "aws:efs/mountTarget:MountTarget": ("subnetId",),
    "aws:ec2/instance:Instance": ("subnetId",),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ("subnetId",),
}
"""Inputs of which a change needs another resource: ForceNew in hashicorp/terraform-provider-aws."""


class ProtectedError(Exception):
    """What Pulumi says of something protected that an update would delete or replace; nothing has been done."""


class NumberedSubnets(Aws):
    """A subnet in another place is another subnet, with an ID of its own."""

    def new_resource(self, args: Any) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        return (subnet_id(args.inputs) if args.typ == SUBNET else id_), outputs


def subnet_id(inputs: Mapping[str, Any]) -> str:
    return f"subnet-{inputs['availabilityZone']}-{inputs['cidrBlock']}"


@dataclass
class Resource:
    """Something that is there."""

    entry: Entry
    inputs: Mapping[str, Any]

    @property
    def subnets(self) -> list[str]:
        """Subnets in which it has network interfaces."""
        found: Any = self.inputs
        for key in _WITH_INTERFACES.get(self.entry.type, "none").split("."):
            found = found.get(key, [])
        return [found] if isinstance(found, str) else list(found)


@dataclass
class Zones:
    """What is there, by logical name, and what updates did to node groups.

    Attributes:
        zones: Of the control plane, as at its creation.
        replaced: Node groups that the last update replaced.
        lost: Node groups that went before there was another for their pods.
    """

    there: dict[str, Resource] = field(default_factory=dict)
    leaving: list[Resource] = field(default_factory=list)
    zones: frozenset[str] = frozenset()
    replaced: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)

    def update(self, graph: Recorded) -> None:
        """Bring everything to what a program says.

        Raises:
            ProtectedError: Pulumi refuses the update as a whole.
            RefusedError: AWS refuses a request.
        """
        self.replaced = set()
        wanted = {entry.key: entry for entry in graph.graph if entry.type.startswith("aws:")}
        inputs = {key: self._inputs(entry) for key, entry in wanted.items()}
        others = {key for key in wanted if key in self.there and self._is_replaced(wanted[key], inputs[key])}
        gone = self.there.keys() - wanted.keys()
        held = sorted(key for key in others | gone if self.there[key].entry.registration.protect)
        if held:
            raise ProtectedError(f"{', '.join(held)} cannot be deleted or replaced because it is protected")
        for entry in _in_order(wanted):
            self._bring(entry, inputs[entry.key], replaced=entry.key in others)
        self.leaving += [self.there.pop(key) for key in sorted(gone)]
        while self.leaving:
            self._delete(self._next())

    def _inputs(self, entry: Entry) -> Mapping[str, Any]:
        before = self.there.get(entry.key)
        if before is None:
            return entry.inputs
        kept: Mapping[str, Any] = ignored(before.inputs, entry.inputs, entry.registration.ignore_changes)
        return kept

    def _is_replaced(self, entry: Entry, inputs: Mapping[str, Any]) -> bool:
        before = self.there[entry.key].inputs
        return any(before.get(key) != inputs.get(key) for key in _REPLACES.get(entry.type, ()))

    def _bring(self, entry: Entry, inputs: Mapping[str, Any], *, replaced: bool) -> None:
        before = self.there.get(entry.key)
        if before and replaced:
            # A replacement is made of what the program says: nothing of the old one is kept.
            inputs = entry.inputs
            if entry.type == GROUP:
                self.replaced.add(entry.name)
            stated = entry.registration.delete_before_replace
            if deletes_first(entry.type, inputs) if stated is None else stated:
                del self.there[entry.key]
                self._delete(before)
            else:
                self.leaving.append(before)
        elif before and entry.type == CLUSTER:
            self._check_update(before.inputs, inputs)
        made = Resource(entry, inputs)
        self._check_subnets(made)
        if before is None or replaced:
            self._check_creation(made)
        self.there[entry.key] = made

    def _check_creation(self, made: Resource) -> None:
        others = [*self.there.values(), *self.leaving]
        if made.entry.type == CLUSTER:
            self.zones = self._zones_of(made.subnets)
            if len(self.zones) < 2:
                raise RefusedError(
                    "InvalidParameterException: Subnets specified must be in at least two different AZs"
                )
        if made.entry.type == SUBNET:
            mine = ipaddress.ip_network(made.inputs["cidrBlock"])
            for other in others:
                if other.entry.type == SUBNET and mine.overlaps(ipaddress.ip_network(other.inputs["cidrBlock"])):
                    raise RefusedError(f"InvalidSubnet.Conflict: The CIDR '{mine}' conflicts with another subnet")
        if made.entry.type == GROUP:
            names = [other.inputs["nodeGroupName"] for other in others if other.entry.type == GROUP]
            if made.inputs["nodeGroupName"] in names:
                raise RefusedError(f"ResourceInUseException: NodeGroup already exists: {names}")

    def _check_update(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """EKS API, UpdateClusterConfig."""
        asked = after["vpcConfig"]["subnetIds"]
        if before["vpcConfig"]["subnetIds"] == asked:
            return
        zones = self._zones_of(asked)
        if zones != self.zones:
            found, fixed = (",".join(sorted(each)) for each in (zones, self.zones))
            raise RefusedError(
                f"InvalidParameterException: Provided subnets belong to the AZs '{found}'. But they should belong to "
                f"the exact set of AZs '{fixed}' in which subnets were provided during cluster creation."
            )

    def _check_subnets(self, made: Resource) -> None:
        missing = [subnet for subnet in made.subnets if subnet not in self._subnets()]
        if missing:
            raise RefusedError(f"InvalidSubnetID.NotFound: {', '.join(missing)}, of {made.entry.key}")

    def _zones_of(self, subnets: list[str]) -> frozenset[str]:
        return frozenset(self._subnets()[subnet] for subnet in subnets)

    def _subnets(self) -> dict[str, str]:
        """Return the zone of every subnet that there is."""
        found = [each.inputs for each in (*self.there.values(), *self.leaving) if each.entry.type == SUBNET]
        return {subnet_id(inputs): inputs["availabilityZone"] for inputs in found}

    def _next(self) -> Resource:
        """Take what no other that is leaving depends on."""
        for each in self.leaving:
            users = [other for other in self.leaving if each.entry.key in other.entry.dependencies]
            if not users:
                self.leaving.remove(each)
                return each
        raise AssertionError("dependencies go in a circle")

    def _delete(self, gone: Resource) -> None:
        if gone.entry.type == SUBNET:
            id_ = subnet_id(gone.inputs)
            users = [each.entry.key for each in (*self.there.values(), *self.leaving) if id_ in each.subnets]
            if users:
                raise RefusedError(
                    f"DependencyViolation: The subnet '{id_}' has dependencies and cannot be deleted: {users}"
                )
        if gone.entry.type == GROUP and gone.entry.key not in self.there:
            self.lost.add(gone.entry.name)


def _in_order(wanted: Mapping[str, Entry]) -> Iterator[Entry]:
    """Yield what other resources need before these."""
    seen: set[str] = set()

    def visit(key: str) -> Iterator[Entry]:
        if key in wanted and key not in seen:
            seen.add(key)
            for needed in wanted[key].dependencies:
                yield from visit(needed)
            yield wanted[key]

    for key in wanted:
        yield from visit(key)
