"""EKS node groups, the Auto Scaling groups behind them and Capacity Blocks, as far as sizes, names and nodes go.

Time stands still until ``advance``: scheduled actions run then, blocks begin and end.
"""

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_AL2023 = re.compile(r"(\d+\.\d+)\.\d+-(\d{8})")
SIZES = ("minSize", "desiredSize", "maxSize")
START = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
EKS_END = "Amazon EKS Node Group Capacity Scaledown Before Reservation End"
"""EKS's own scheduled action (EKS user guide, "Create a managed node group with Capacity Blocks for ML")."""
DRAINED = datetime.timedelta(minutes=40)
"""So long before the end of a block EKS's action runs (same page)."""
ENDED = datetime.timedelta(minutes=30)
"""So long before the end of a block EC2 ends what still runs there (EC2 user guide, "Capacity Blocks for ML")."""
_MINUTE = datetime.timedelta(minutes=1)


class RefusedError(Exception):
    """What AWS answers instead of doing it."""


class CreateFailedError(RefusedError):
    """What the provider reports of a node group that ends in CREATE_FAILED; the group is there, and has its name."""


@dataclass
class Block:
    """A Capacity Block that was bought."""

    count: int
    starts: datetime.datetime
    ends: datetime.datetime


@dataclass
class Action:
    """A scheduled action of an Auto Scaling group.

    Attributes:
        every: Minutes of the hour at which it recurs; empty for an action that runs once.
        starts: When it runs, for the first time; None for the next time that it recurs.
        ends: After which it recurs no more.
    """

    desired: int
    every: tuple[int, ...] = ()
    starts: datetime.datetime | None = None
    ends: datetime.datetime | None = None

    def runs(self, now: datetime.datetime) -> bool:
        if self.starts == now:
            return True
        within = (self.starts is None or self.starts < now) and (self.ends is None or now <= self.ends)
        return within and now.minute in self.every

    def is_over(self, now: datetime.datetime) -> bool:
        """Auto Scaling keeps no action that will not run again (its user guide, "Scheduled scaling")."""
        if not self.every:
            return self.starts is not None and self.starts <= now
        return self.ends is not None and self.ends <= now


@dataclass
class Group:
    """A node group.

    Attributes:
        sizes: Those of the Auto Scaling group, which the autoscaler moves too.
        instance_type: The first of its types.
        status: ``ACTIVE`` or ``CREATE_FAILED``.
        nodes: Instances that run: as many as are wanted, or as EC2 has.
        busy: Nodes on which pods run.
        release: Release of its image; empty where that is not known.
        block: The Capacity Block that its launch template names; empty without one.
        actions: Scheduled actions by name.
    """

    name: str
    scaled: str
    sizes: dict[str, int]
    tags: dict[str, str]
    version: str
    instance_type: str = ""
    release: str = ""
    block: str = ""
    actions: dict[str, Action] = field(default_factory=dict)
    status: str = "ACTIVE"
    nodes: int = 0
    busy: int = 0


@dataclass
class Account:
    """What AWS has, and what it did to running pods.

    Attributes:
        now: The time.
        version: Kubernetes version of the control plane; empty where that does not matter.
        capacity: Most instances of a type that EC2 runs for this account, by type; of others there are always more.
        blocks: Capacity Blocks by ID.
        taken: Groups from which busy nodes were taken away, in words.
    """

    now: datetime.datetime = START
    version: str = ""
    groups: dict[str, Group] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    made: int = 0

    def create(self, request: Mapping[str, Any], template: Mapping[str, Any] | None = None) -> Group:
        """EKS API, CreateNodegroup: names are unique in a cluster; the group carries the autoscaler's tags.

        Args:
            request: Its parameters.
            template: What the version of the launch template says that the request names, as Pulumi has it.

        Raises:
            CreateFailedError: not all nodes of the first size can be launched (aws/containers-roadmap, issue 2204).
                With a Capacity Block the group is made all the same, and its nodes come when the block begins.
        """
        name = request["nodegroupName"]
        if name in self.groups:
            raise RefusedError(f"ResourceInUseException: NodeGroup already exists with name {name}")
        block = self._block(request, template or {})
        self.made += 1
        cluster = request["clusterName"]
        tags = {"k8s.io/cluster-autoscaler/enabled": "true", f"k8s.io/cluster-autoscaler/{cluster}": "owned"}
        sizes = _checked(request["scalingConfig"])
        version, release = request.get("version", ""), request.get("releaseVersion", "")
        _check_release(version, release)
        self._check_version(version)
        kind = (request.get("instanceTypes") or [(template or {}).get("instanceType", "")])[0]
        group = Group(name, f"eks-{name}-{self.made}", sizes, tags, version, kind, release, block)
        if block:
            group.actions[EKS_END] = Action(0, starts=self.blocks[block].ends - DRAINED)
        self.groups[name] = group
        self.settle()
        if group.nodes < sizes["desiredSize"] and not block:
            group.status = "CREATE_FAILED"
            raise CreateFailedError(
                f"{name}: CREATE_FAILED: AsgInstanceLaunchFailures: InsufficientInstanceCapacity of {kind}: "
                f"{group.nodes} of {sizes['desiredSize']} nodes"
            )
        return group

    def _block(self, request: Mapping[str, Any], template: Mapping[str, Any]) -> str:
        """Return the Capacity Block of a request (EKS user guide, "... with Capacity Blocks for ML", step 2)."""
        if request.get("capacityType") != "CAPACITY_BLOCK":
            return ""
        market = template.get("instanceMarketOptions", {}).get("marketType")
        specification = template.get("capacityReservationSpecification", {})
        block = str(specification.get("capacityReservationTarget", {}).get("capacityReservationId", ""))
        if market != "capacity-block" or not block or not template.get("instanceType"):
            raise RefusedError("InvalidParameterException: the launch template is not for a Capacity Block")
        if block not in self.blocks:
            raise RefusedError(f"InvalidParameterException: there is no Capacity Block {block}")
        return block

    def update_config(self, request: Mapping[str, Any]) -> None:
        """EKS API, UpdateNodegroupConfig: what is not named stays, and the three sizes must agree then."""
        group = self._group(request)
        sizes = _checked({**group.sizes, **request.get("scalingConfig", {})})
        if sizes["desiredSize"] < group.busy:
            self.taken.append(f"{group.name}: {group.busy} of {group.nodes} nodes busy, {sizes['desiredSize']} left")
        group.sizes = sizes
        self.settle()

    def update_version(self, request: Mapping[str, Any], template: Mapping[str, Any] | None = None) -> None:
        """EKS API, UpdateNodegroupVersion: nodes are replaced one by one, their number stays.

        Nothing goes back to an older version or release (EKS user guide, "Update a managed node group"). A group with
        a Capacity Block must have no nodes (EKS user guide, "... with Capacity Blocks for ML"). That EKS moves its
        scheduled action to the end of another block is nowhere documented, so it does not.
        """
        group = self._group(request)
        version = request.get("version", group.version)
        release = request.get("releaseVersion", "")
        _check_release(version, release)
        if _minor(version) < _minor(group.version):
            raise RefusedError(f"InvalidParameterException: {version} is older than {group.version}")
        self._check_version(version)
        if release and _date(release) < _date(group.release):
            raise RefusedError(f"InvalidParameterException: release {release} is older than {group.release}")
        if group.block and group.sizes["desiredSize"]:
            raise RefusedError(
                f"InvalidRequestException: {group.name} has a Capacity Block and desired size "
                f"{group.sizes['desiredSize']}; it must be 0"
            )
        group.version, group.release = version, release or group.release
        if group.block and template:
            group.block = self._block({"capacityType": "CAPACITY_BLOCK"}, template)

    def _check_version(self, version: str) -> None:
        """Kubernetes version skew policy: kubelet is never newer than the API server."""
        if self.version and _minor(version) > _minor(self.version):
            raise RefusedError(f"InvalidParameterException: {version} is newer than the cluster's {self.version}")

    def delete(self, name: str) -> Group:
        if name not in self.groups:
            raise RefusedError(f"ResourceNotFoundException: no node group {name}")
        gone = self.groups.pop(name)
        self.settle()
        return gone

    def _group(self, request: Mapping[str, Any]) -> Group:
        name = request["nodegroupName"]
        if name not in self.groups:
            raise RefusedError(f"ResourceNotFoundException: no node group {name}")
        if self.groups[name].status != "ACTIVE":
            raise RefusedError(f"InvalidRequestException: node group {name} is {self.groups[name].status}")
        return self.groups[name]

    def scaled(self, name: str) -> Group | None:
        """Return the group behind an Auto Scaling group."""
        return next((group for group in self.groups.values() if group.scaled == name), None)

    def set_desired(self, group: Group, nodes: int) -> None:
        """EC2 Auto Scaling API, SetDesiredCapacity."""
        if not group.sizes["minSize"] <= nodes <= group.sizes["maxSize"]:
            raise RefusedError(f"ValidationError: {nodes} nodes are outside {group.name}, which has {group.sizes}")
        group.sizes["desiredSize"] = nodes
        self.settle()

    def put_action(self, request: Mapping[str, Any]) -> None:
        """EC2 Auto Scaling API, PutScheduledUpdateGroupAction: not in the past, and not two at one time.

        (Auto Scaling user guide, "Scheduled scaling", Limitations.)
        """
        group = self.scaled(request["AutoScalingGroupName"])
        if group is None:
            raise RefusedError(f"ValidationError: AutoScalingGroup name not found: {request['AutoScalingGroupName']}")
        starts, ends = (_moment(request.get(key)) for key in ("StartTime", "EndTime"))
        if starts and starts <= self.now:
            raise RefusedError("ValidationError: Given start time is in the past")
        if ends and ends <= max(self.now, starts or self.now):
            raise RefusedError("ValidationError: Given end time is in the past, or before the start")
        action = Action(request["DesiredCapacity"], _minutes(request.get("Recurrence", "")), starts, ends)
        if not action.every and starts is None:
            raise RefusedError("ValidationError: an action needs a start or a recurrence")
        others = {name: each for name, each in group.actions.items() if name != request["ScheduledActionName"]}
        if any(_meet(action, each, self.now) for each in others.values()):
            raise RefusedError("ValidationError: a scheduled action with this start time already exists")
        group.actions[request["ScheduledActionName"]] = action

    def delete_action(self, scaled: str, name: str) -> None:
        """EC2 Auto Scaling API, DeleteScheduledAction; the provider takes "not found" for done."""
        group = self.scaled(scaled)
        if group:
            group.actions.pop(name, None)

    def advance(self, until: datetime.datetime) -> None:
        """Let time pass. EC2 ends the instances of a block 30 minutes before its end, busy or not."""
        while self.now < until:
            self.now = min([at for at in self._moments() if at > self.now] + [until])
            for group in self.groups.values():
                block = self.blocks.get(group.block)
                if block and block.ends - ENDED <= self.now:
                    if group.busy:
                        self.taken.append(f"{group.name}: EC2 ended {group.busy} busy nodes with {group.block}")
                    group.nodes = group.busy = 0
                for name, action in list(group.actions.items()):
                    if action.runs(self.now):
                        group.sizes["desiredSize"] = action.desired
                    if action.is_over(self.now):
                        del group.actions[name]
            self.settle()

    def _moments(self) -> Iterator[datetime.datetime]:
        """Yield when anything may happen; an action that recurs does nothing while the size is already its own."""
        for block in self.blocks.values():
            yield from (block.starts, block.ends - ENDED)
        for group in self.groups.values():
            for action in group.actions.values():
                yield from (at for at in (action.starts, action.ends) if at)
                if action.every and action.desired != group.sizes["desiredSize"]:
                    first = max(self.now, action.starts or self.now)
                    coming = [first + minute * _MINUTE for minute in range(1, 61)]
                    yield next(at for at in coming if at.minute in action.every)

    def settle(self) -> None:
        """Let each Auto Scaling group end what is too much, then launch what is missing, as far as EC2 has it."""
        for group in self.groups.values():
            group.nodes = min(group.nodes, group.sizes["desiredSize"])
            group.busy = min(group.busy, group.nodes)
        for group in self.groups.values():
            group.nodes = int(min(group.sizes["desiredSize"], group.nodes + self._free(group)))

    def _free(self, group: Group) -> float:
        """Return how many more instances EC2 launches for a group."""
        if group.block:
            block = self.blocks[group.block]
            running = sum(each.nodes for each in self.groups.values() if each.block == group.block)
            return block.count - running if block.starts <= self.now < block.ends - ENDED else 0
        others = [each for each in self.groups.values() if not each.block]
        running = sum(each.nodes for each in others if each.instance_type == group.instance_type)
        return max(self.capacity.get(group.instance_type, math.inf) - running, 0)


def _moment(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text) if text else None


def _minutes(recurrence: str) -> tuple[int, ...]:
    """Return the minutes of a schedule that recurs each hour."""
    if not recurrence:
        return ()
    minutes, *rest = recurrence.split()
    assert rest == ["*"] * 4, f"{recurrence}: only minutes are known here"
    if minutes.startswith("*/"):
        return tuple(range(0, 60, int(minutes.removeprefix("*/"))))
    return tuple(int(minute) for minute in minutes.split(","))


def _meet(one: Action, other: Action, now: datetime.datetime) -> bool:
    """Whether two actions would run at one moment."""
    if one.every and other.every:
        apart = (one.ends and other.starts and one.ends < other.starts) or (
            other.ends and one.starts and other.ends < one.starts
        )
        return bool(set(one.every) & set(other.every)) and not apart
    first, second = (one, other) if not other.every else (other, one)
    return second.starts is not None and second.starts > now and first.runs(second.starts)


def _checked(sizes: Mapping[str, int]) -> dict[str, int]:
    """EKS API, NodegroupScalingConfig: minSize <= desiredSize <= maxSize, and maxSize at least 1."""
    found = {key: sizes[key] for key in SIZES}
    if list(found.values()) != sorted(found.values()) or found["maxSize"] < 1:
        raise RefusedError(f"InvalidParameterException: {found}")
    return found


def _check_release(version: str | None, release: str | None) -> None:
    """EKS user guide, AMI versions: releases of AL2023 begin with the Kubernetes version, Bottlerocket's do not."""
    minor = _AL2023.fullmatch(release or "")
    if version and minor and minor[1] != version:
        raise RefusedError(f"InvalidParameterException: release {release} is not of Kubernetes {version}")


def _date(release: str) -> str:
    """Return the date of a release of AL2023; of others none is known."""
    found = _AL2023.fullmatch(release)
    return found[2] if found else ""


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) if version else ()
