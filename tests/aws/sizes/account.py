"""EKS node groups and the Auto Scaling groups behind them, as far as sizes, names and nodes go."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_AL2023 = re.compile(r"(\d+\.\d+)\.\d+-\d{8}")
SIZES = ("minSize", "desiredSize", "maxSize")


class RefusedError(Exception):
    """What AWS answers instead of doing it."""


class CreateFailedError(RefusedError):
    """What the provider reports of a node group that ends in CREATE_FAILED; the group is there, and has its name."""


@dataclass
class Group:
    """A node group.

    Attributes:
        sizes: Those of the Auto Scaling group, which the autoscaler moves too.
        instance_type: The first of its types.
        status: ``ACTIVE`` or ``CREATE_FAILED``.
        nodes: Instances that run: as many as are wanted, or as EC2 has.
        busy: Nodes on which pods run.
    """

    name: str
    scaled: str
    sizes: dict[str, int]
    tags: dict[str, str]
    version: str
    instance_type: str = ""
    status: str = "ACTIVE"
    nodes: int = 0
    busy: int = 0


@dataclass
class Account:
    """What AWS has, and what it did to running pods.

    Attributes:
        capacity: Most instances of a type that EC2 runs for this account, by type; of others there are always more.
        taken: Groups from which busy nodes were taken away, in words.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    made: int = 0

    def create(self, request: Mapping[str, Any]) -> Group:
        """EKS API, CreateNodegroup: names are unique in a cluster; the group carries the autoscaler's tags.

        Raises:
            CreateFailedError: not all nodes of the first size can be launched (aws/containers-roadmap, issue 2204).
        """
        name = request["nodegroupName"]
        if name in self.groups:
            raise RefusedError(f"ResourceInUseException: NodeGroup already exists with name {name}")
        self.made += 1
        cluster = request["clusterName"]
        tags = {"k8s.io/cluster-autoscaler/enabled": "true", f"k8s.io/cluster-autoscaler/{cluster}": "owned"}
        sizes = _checked(request["scalingConfig"])
        _check_release(request.get("version"), request.get("releaseVersion"))
        kind = (request.get("instanceTypes") or [""])[0]
        group = Group(name, f"eks-{name}-{self.made}", sizes, tags, request.get("version", ""), kind)
        self.groups[name] = group
        self.settle()
        if group.nodes < sizes["desiredSize"]:
            group.status = "CREATE_FAILED"
            raise CreateFailedError(
                f"{name}: CREATE_FAILED: AsgInstanceLaunchFailures: InsufficientInstanceCapacity of {kind}: "
                f"{group.nodes} of {sizes['desiredSize']} nodes"
            )
        return group

    def update_config(self, request: Mapping[str, Any]) -> None:
        """EKS API, UpdateNodegroupConfig: what is not named stays, and the three sizes must agree then."""
        group = self._group(request)
        sizes = _checked({**group.sizes, **request.get("scalingConfig", {})})
        if sizes["desiredSize"] < group.busy:
            self.taken.append(f"{group.name}: {group.busy} of {group.nodes} nodes busy, {sizes['desiredSize']} left")
        group.sizes = sizes
        self.settle()

    def update_version(self, request: Mapping[str, Any]) -> None:
        """EKS API, UpdateNodegroupVersion: nodes are replaced one by one, their number stays."""
        group = self._group(request)
        version = request.get("version", group.version)
        _check_release(version, request.get("releaseVersion"))
        if _minor(version) < _minor(group.version):
            raise RefusedError(f"InvalidParameterException: {version} is older than {group.version}")
        group.version = version

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

    def settle(self) -> None:
        """Let each Auto Scaling group end what is too much, then launch what is missing, as far as EC2 has it."""
        for group in self.groups.values():
            group.nodes = min(group.nodes, group.sizes["desiredSize"])
            group.busy = min(group.busy, group.nodes)
        for group in self.groups.values():
            group.nodes = int(min(group.sizes["desiredSize"], group.nodes + self._free(group)))

    def _free(self, group: Group) -> float:
        """Return how many more instances EC2 launches for a group."""
        running = sum(each.nodes for each in self.groups.values() if each.instance_type == group.instance_type)
        return max(self.capacity.get(group.instance_type, math.inf) - running, 0)


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


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) if version else ()
