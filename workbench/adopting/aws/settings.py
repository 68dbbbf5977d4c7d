"""The settings of a stack that uses what exists on AWS, and what they do not express."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.clouds.aws.access import account_of
from components.clouds.aws.facts.regions import REGION
from components.clouds.aws.names import ACCELERATOR_LABEL
from components.clouds.aws.nodes.labels import label_problem
from components.clouds.aws.words import Provisioner
from components.contract.texts.printable import printable
from components.fleet.instances import Instance, instance
from components.fleet.nodes.policy import RESERVED, Capacity
from components.fleet.placement import taints

from ...errors import WorkbenchError
from ...inspecting.snapshot import ClusterSnapshot
from .inventory import FoundGroup, FoundReservation, Inventory, Subnet, Taint, Unexpressed
from .pools import node_pools

_CAPACITIES = {
    "ON_DEMAND": Capacity.ON_DEMAND,
    "SPOT": Capacity.SPOT,
    "CAPACITY_BLOCK": Capacity.CAPACITY_BLOCK,
}
_AGENT = "eks-pod-identity-agent"
_LEAST_ZONES = 2
_MOST_NODES = 450
_TOOL_LABELS = "alpha.eksctl.io/"
"""Prefix of the labels with which eksctl finds its own nodes again; models do not select them."""
_PRESENT_ADDONS = {"metrics-server": "metrics-server"}
"""Chart by the EKS add-on with the same content."""


@dataclass(frozen=True, slots=True)
class AwsSettings:
    """Settings of a stack, by key, and what they do not express.

    Attributes:
        ranges: IPv4 CIDR ranges of the VPC; empty if unknown.
        notes: What else owns the node groups that the stack owns.
    """

    values: Mapping[str, Any]
    findings: tuple[Unexpressed, ...]
    ranges: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def aws_settings(
    inventory: Inventory, region: str = "", profile: str = "", snapshot: ClusterSnapshot | None = None
) -> AwsSettings:
    """Return the settings that use a cluster, its network and its nodes with accelerators without owning them.

    Args:
        inventory: What exists.
        region: The region, if the source does not name it.
        profile: AWS CLI profile of the stack.
        snapshot: The objects of the cluster, with its NodePools; None if they are not read.

    Raises:
        WorkbenchError: the source does not determine what the settings require; lists all of it.
    """
    cluster, findings = inventory.cluster, list(inventory.findings)
    region = cluster.region or region
    private = _private_subnets(inventory, region, findings)
    _check_required(inventory, region, private)
    findings += _unusual(inventory)
    types = _Types(inventory, tuple(private))
    for group in sorted(inventory.groups, key=lambda group: (group.title, group.name)):
        types.add(group)
    types.add_pools(node_pools(snapshot, region, inventory.reservations) if snapshot else [])
    types.add_free_reservations()
    findings += types.findings
    roles = sorted({group.role for group in inventory.groups if group.role and not group.reason})
    role = _role(roles, types.roles, findings)
    agent = cluster.addons is not None and _AGENT in cluster.addons
    by_token = cluster.oidc_provider if not agent else ""
    if not agent and not by_token:
        findings.append(
            Unexpressed(
                f"add-on {_AGENT}",
                "not found, nor an IAM OIDC provider; install the add-on, or set cluster.oidcProviderArn, before the "
                "stack installs controllers or reads buckets",
            )
        )
    accounts = {cluster.account, *map(account_of, roles)} - {""}
    present = sorted(_PRESENT_ADDONS[name] for name in cluster.addons or () if name in _PRESENT_ADDONS)
    values: dict[str, Any] = {
        "cloud": "aws",
        "region": region,
        "clusterName": cluster.name,
        "credentials": {
            **({"allowedAccountIds": sorted(accounts)} if accounts else {}),
            **({"profile": profile} if profile else {}),
        },
        "network": {"vpcId": cluster.vpc_id, "privateSubnets": private},
        "cluster": {
            "existing": True,
            **({"version": cluster.version} if cluster.version else {}),
            **({"nodeRoleArn": role} if role else {}),
            **({"oidcProviderArn": by_token} if by_token else {}),
        },
        "gpuNodes": {
            **({"provisioner": str(types.provisioner)} if types.provisioner != Provisioner.MANAGED else {}),
            **({"image": "bottlerocket"} if types.is_bottlerocket else {}),
            **({"types": types.entries} if types.entries else {}),
        },
        "prerequisites": {"install": False, **({"present": present} if present else {})},
    }
    return AwsSettings(
        {key: value for key, value in values.items() if value},
        tuple(dict.fromkeys(findings)),
        inventory.vpc_ranges,
    )


def _check_required(inventory: Inventory, region: str, private: Mapping[str, str]) -> None:
    cluster = inventory.cluster
    missing = [
        f"{what}; {instead}"
        for absent, what, instead in (
            (not cluster.name, "the name of the cluster", "add it"),
            (not region, "the region", "pass --region"),
            (bool(region) and not REGION.fullmatch(region), "a valid region", f"found {region!r}; correct it"),
            (not cluster.vpc_id, "the VPC", "add its ID, or read the cluster with --aws"),
            (
                len(private) < _LEAST_ZONES,
                f"private subnets in two zones (it has {', '.join(private) or 'none'})",
                "add their IDs, zones and routes, or read the cluster with --aws; nodes in public subnets have no "
                "setting",
            ),
        )
        if absent
    ]
    if missing:
        lines = [f"{inventory.source}: does not determine", *(f"  {line}" for line in missing)]
        lines += [f"  {finding}" for finding in inventory.findings]
        raise WorkbenchError("\n".join(map(printable, lines)))


def _private_subnets(inventory: Inventory, region: str, findings: list[Unexpressed]) -> dict[str, str]:
    """Return one private subnet for each zone, those of the control plane first."""
    unknown = [subnet.id for subnet in inventory.subnets if subnet.public is None or not subnet.zone]
    if unknown:
        reason = "neither their zones nor routes and tags tell whether they are private; not used"
        findings.append(Unexpressed(f"subnets {', '.join(unknown)}", reason))
    candidates: dict[str, list[Subnet]] = {}
    for subnet in inventory.subnets:
        if subnet.public is False and subnet.zone:
            candidates.setdefault(subnet.zone, []).append(subnet)
    used = frozenset(inventory.cluster.subnets)
    chosen: dict[str, str] = {}
    for zone, subnets in sorted(candidates.items()):
        if region and not (zone.startswith(region) and len(zone) == len(region) + 1):
            findings.append(
                Unexpressed(f"zone {zone}", "is a local zone or another region's, in which EKS has no control plane")
            )
            continue
        first, *others = sorted(subnets, key=lambda subnet: (subnet.id not in used, subnet.id))
        chosen[zone] = first.id
        if others:
            names = ", ".join(subnet.id for subnet in others)
            reason = f"a stack uses one private subnet in each zone, here {first.id}; others: {names}"
            findings.append(Unexpressed(f"zone {zone}", reason))
    return chosen


def _unusual(inventory: Inventory) -> Iterator[Unexpressed]:
    cluster = inventory.cluster
    if cluster.ip_family == "ipv6":
        reason = "its pods have IPv6 addresses only, but the engines of upstream's runtimes listen on 0.0.0.0"
        yield Unexpressed(f"cluster {cluster.name}", reason)
    if inventory.vpc_ipv6:
        yield Unexpressed(f"VPC {cluster.vpc_id}", "has an IPv6 range, which has no setting for an existing VPC")
    if not cluster.version:
        yield Unexpressed(f"cluster {cluster.name}", "its version is unknown; set cluster.version")


def _role(roles: Sequence[str], of_types: Iterable[str], findings: list[Unexpressed]) -> str:
    """Return the role of the nodes; empty if none is known, so that the stack creates one for its own nodes."""
    first = sorted(filter(None, of_types)) or list(roles)
    if not first:
        reason = "not known; the stack creates one. Set cluster.nodeRoleArn to use that of the existing nodes"
        findings.append(Unexpressed("role of the nodes", reason))
        return ""
    if len(roles) > 1:
        others = ", ".join(role for role in roles if role != first[0])
        findings.append(
            Unexpressed(f"role {first[0]}", f"is used for nodes that the stack creates; others: {others}")
        )
    return first[0]


@dataclass(slots=True)
class _Types:
    """Builds ``gpuNodes.types``."""

    inventory: Inventory
    zones: tuple[str, ...]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    findings: list[Unexpressed] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    provisioner: Provisioner = Provisioner.MANAGED
    """What launches the nodes, which is the same for all types."""
    _claimed: set[str] = field(default_factory=set)
    """IDs of the reservations of node groups."""

    @property
    def is_bottlerocket(self) -> bool:
        """Whether all nodes have this image."""
        return self.images == {"BOTTLEROCKET"}

    def add(self, group: FoundGroup) -> None:
        """Add a node group to the settings of its instance type, or a finding."""
        self.findings += [Unexpressed(group.subject, note) for note in group.notes]
        reason = group.reason or self._unusable(group)
        entry: dict[str, Any] = {} if reason else self._entry(group)
        name = group.instance_types[0] if entry else ""
        present = self.entries.get(name)
        if present and not reason and not self._merged(present, entry):
            reason = (
                f"the settings of {name} describe {', '.join(present['existingGroups'])}, which has other labels, "
                "taints, types or capacity; models on it need a type of their own, or the same labels"
            )
        if reason:
            self.findings.append(Unexpressed(group.subject, reason))
            return
        self.entries.setdefault(name, entry)
        self._claimed.add(group.reservation)
        self.roles.add(group.role)
        self._note_image(group)

    def add_pools(self, pools: Sequence[FoundGroup]) -> None:
        """Add Karpenter's node pools, unless the settings already describe managed node groups."""
        usable = [pool for pool in pools if not pool.reason]
        if usable and not self.entries:
            self.provisioner = Provisioner.KARPENTER
        for pool in pools:
            if pool.reason or self.provisioner == Provisioner.KARPENTER:
                self.add(pool)
                continue
            reason = (
                "a stack describes managed node groups or NodePools, and the settings describe the managed node "
                f"groups of {', '.join(self.entries)}; adopt models on it into a stack of its own"
            )
            self.findings.append(Unexpressed(pool.subject, reason))

    def _unusable(self, group: FoundGroup) -> str:
        """Return why no setting expresses a group; empty if one does."""
        if not group.instance_types:
            return "its instance types are not known"
        nodes = {name: instance(name) for name in group.instance_types}
        unknown = [name for name, node in nodes.items() if node is None]
        if unknown:
            return f"unknown instance types: {', '.join(unknown)}"
        resources = {node.accelerator_resource for node in nodes.values() if node}
        if resources == {None}:
            return "has no accelerators; models use it only if a flavor names its type, and the scheduler allows it"
        if group.ami_type.startswith("WINDOWS"):
            return "runs Windows, on which no engine runs"
        if len(resources) > 1 or len({node.arch for node in nodes.values() if node}) > 1:
            return (
                f"mixes accelerators or architectures ({', '.join(nodes)}), which pods of one flavor cannot use alike"
            )
        if group.capacity not in _CAPACITIES:
            return f"unknown capacity type {group.capacity!r}"
        if group.maximum == 0 or (group.maximum or 0) > _MOST_NODES:
            return f"its maximum size is {group.maximum}"
        wrong = [taint for taint in group.taints if _is_intolerable(taint, group.instance_types[0])]
        if wrong:
            return f"pods of models do not tolerate its taint {wrong[0].key}:{wrong[0].effect or 'unknown effect'}"
        if group.zones and not set(group.zones) & set(self.zones):
            return f"is in {', '.join(group.zones)}, where the network has no private subnet"
        if group.capacity == "CAPACITY_BLOCK" and not self._reservation(group):
            return f"its Capacity Block {group.reservation or ''} is not among the reservations that were read"
        return ""

    def _entry(self, group: FoundGroup) -> dict[str, Any]:
        first, *others = group.instance_types
        capacity, reservation = _CAPACITIES[group.capacity], self._reservation(group)
        if reservation and not reservation.block:
            capacity = Capacity.ODCR
        zones = [zone for zone in group.zones if zone in self.zones]
        lost = [zone for zone in group.zones if zone not in self.zones]
        if lost:
            self.findings.append(
                Unexpressed(group.subject, f"zones {', '.join(lost)} have no private subnet, and are left out")
            )
        entry: dict[str, Any] = {"existingGroups": [group.name], "capacity": str(capacity)}
        if reservation and capacity in RESERVED:
            entry["reservation"] = reservation_values(reservation)
        elif group.reservation:
            reason = f"its reservation {group.reservation} is not among those that were read; costs assume on demand"
            self.findings.append(Unexpressed(group.subject, reason))
        if zones and len(zones) < len(self.zones):
            entry["zones"] = zones
        if others and capacity in RESERVED:
            self.findings.append(
                Unexpressed(group.subject, f"a reservation has one type; left out: {', '.join(others)}")
            )
        elif others:
            entry["spotTypes"] = others
        if group.efa and self._has_efa(group, zones, instance(first)):
            entry["efa"] = True
        if capacity != Capacity.CAPACITY_BLOCK:
            entry |= {"minNodes": group.minimum} if group.minimum else {}
            entry |= {"maxNodes": group.maximum} if group.maximum else {}
        entry |= {"labels": labels} if (labels := self._labels(group)) else {}
        own = [taint for taint in group.taints if taint.key not in {known["key"] for known in taints(first)}]
        entry |= {"taints": [taint._asdict() for taint in own]} if own else {}
        return entry

    def _has_efa(self, group: FoundGroup, zones: Sequence[str], node: Instance | None) -> bool:
        if node and node.fabric_interfaces and len(zones) == 1:
            return True
        reason = "has EFA, which the settings express for nodes in one zone only, of types with EFA"
        self.findings.append(Unexpressed(group.subject, reason))
        return False

    def _reservation(self, group: FoundGroup) -> FoundReservation | None:
        found = (item for item in self.inventory.reservations if item.id == group.reservation and item.count)
        return next(found, None) if group.reservation else None

    def _labels(self, group: FoundGroup) -> dict[str, str]:
        kept: dict[str, str] = {}
        for key, value in sorted(group.labels.items()):
            if key == ACCELERATOR_LABEL or key.startswith(_TOOL_LABELS):
                continue
            wrong = label_problem(key, value, self.provisioner)
            if wrong:
                self.findings.append(Unexpressed(group.subject, f"label {key} is left out: {wrong}"))
            else:
                kept[key] = value
        return kept

    def _merged(self, entry: dict[str, Any], other: Mapping[str, Any]) -> bool:
        """Add an alike group to an entry; return false if it differs in more than zones and sizes."""
        sizes = {"existingGroups", "zones", "minNodes", "maxNodes"}
        if {**entry, **dict.fromkeys(sizes)} != {**other, **dict.fromkeys(sizes)} or "reservation" in entry:
            return False
        zones = sorted({*entry.get("zones", self.zones), *other.get("zones", self.zones)})
        entry["existingGroups"] = [*entry["existingGroups"], *other["existingGroups"]]
        if len(zones) < len(self.zones):
            entry["zones"] = zones
        else:
            entry.pop("zones", None)
        if entry.get("minNodes") or other.get("minNodes"):
            entry["minNodes"] = entry.get("minNodes", 0) + other.get("minNodes", 0)
        if "maxNodes" in entry and "maxNodes" in other:
            entry["maxNodes"] = entry["maxNodes"] + other["maxNodes"]
        else:
            entry.pop("maxNodes", None)
        return True

    def _note_image(self, group: FoundGroup) -> None:
        kind = group.ami_type.partition("_")[0]
        self.images.add(kind)
        if kind not in ("", "AL2023", "BOTTLEROCKET"):
            image = "an image of its own" if kind == "CUSTOM" else f"the image {group.ami_type}"
            reason = f"has {image}; memory, device plugins and image pulls are checked as for AL2023"
            self.findings.append(Unexpressed(group.subject, reason))

    def add_free_reservations(self) -> None:
        """Let nodes that the stack creates use reservations that no node group names."""
        for item in sorted(self.inventory.reservations, key=lambda item: item.id):
            if item.id in self._claimed:
                continue
            title = f"{'Capacity Block' if item.block else 'capacity reservation'} {item.id}"
            node = instance(item.instance_type)
            if not item.targeted:
                reason = "is open: on-demand nodes of its type use it by themselves, and need no setting"
            elif node is None or not node.accelerators or not item.count:
                reason = f"is for {item.instance_type}, which has no accelerators or is unknown"
            elif item.zone not in self.zones:
                reason = f"is in {item.zone}, where the network has no private subnet"
            elif item.instance_type in self.entries:
                reason = f"no node group names it, and the settings of {item.instance_type} describe other nodes"
            else:
                capacity = Capacity.CAPACITY_BLOCK if item.block else Capacity.ODCR
                values = {"capacity": str(capacity), "reservation": reservation_values(item)}
                self.entries[item.instance_type] = values
                continue
            self.findings.append(Unexpressed(title, reason))


def _is_intolerable(taint: Taint, instance_type: str) -> bool:
    """Whether pods of models would not tolerate a taint: any effect but one on the key of their accelerators."""
    known = {item["key"]: item["effect"] for item in taints(instance_type)}
    return taint.effect not in ("NoSchedule", "NoExecute", "PreferNoSchedule") or (
        taint.key in known and taint.effect == "NoExecute"
    )


def reservation_values(item: FoundReservation) -> dict[str, Any]:
    """Return the setting of a reservation."""
    times = {"starts": item.starts, "ends": item.ends} if item.block else {}
    return {
        "id": item.id,
        "zone": item.zone,
        "count": item.count,
        **{key: value.isoformat() for key, value in times.items() if value},
    }
