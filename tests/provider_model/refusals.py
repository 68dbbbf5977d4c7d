"""What AWS refuses, and what it does not refuse although it should."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.provider_model.diff import Path
from tests.provider_model.facts import facts_of
from tests.provider_model.program import Declared

if TYPE_CHECKING:
    from tests.provider_model.world import Live, Thing, World

_CLUSTER = "aws:eks/cluster:Cluster"
_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
_KEY, _ROLE = "aws:kms/key:Key", "aws:iam/role:Role"
_VPC, _SUBNET, _NAT = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/natGateway:NatGateway"
_OF_PODS = "kubernetes.io/role/cni"
"""Tag of subnets in which the VPC CNI plugin gives addresses to pods (ENABLE_SUBNET_DISCOVERY)."""
_HOLDS: Mapping[str, tuple[str, ...]] = {
    # EC2 API: DeleteSubnet, DeleteSecurityGroup and others answer DependencyViolation while interfaces, gateways or
    # addresses are there; by type, the fields of what has them.
    "aws:ec2/subnet:Subnet": ("vpcConfig", "subnetIds", "subnetId", "spec"),
    "aws:ec2/securityGroup:SecurityGroup": ("securityGroups", "securityGroupIds", "vpcSecurityGroupIds", "vpcConfig"),
    "aws:ec2/vpc:Vpc": ("vpcId",),
    "aws:ec2/eip:Eip": ("allocationId",),
    "aws:efs/fileSystem:FileSystem": ("fileSystemId",),
    "aws:eks/cluster:Cluster": ("clusterName",),
}
_LOGS = "aws:cloudwatch/logGroup:LogGroup"
STORES = ("aws:efs/fileSystem:FileSystem", "aws:fsx/lustreFileSystem:LustreFileSystem")


def refusal(world: "World", operation: str, new: Declared, old: "Live | None", paths: tuple[Path, ...]) -> str:
    """Return why an operation is refused at once; empty if it is not."""
    if operation == "create":
        return _taken(world, new)
    if new.type == _CLUSTER and old is not None:
        return "; ".join(_cluster(world, new, old, paths))
    if new.type == _NODE_GROUP and old is not None:
        return "; ".join(_node_group(world, new, old, paths))
    if new.type == _VPC and ("assignGeneratedIpv6CidrBlock",) in paths:
        return _ipv6(world, new)
    return ""


def _ipv6(world: "World", new: Declared) -> str:
    """DisassociateVpcCidrBlock refuses a block with subnets."""
    subnets = [each for each in world.existing if each.declared.type == _SUBNET and "ipv6CidrBlock" in each.inputs]
    if subnets and not new.inputs.get("assignGeneratedIpv6CidrBlock"):
        return "InvalidCidrBlock.InUse: subnets have addresses of the IPv6 block"
    return ""


def _taken(world: "World", new: Declared) -> str:
    """Names that are unique are taken while what had them is there."""
    fields = facts_of(new.type).unique
    if not fields or any(field not in new.inputs for field in fields):
        return ""
    wanted = _identity(world, new.inputs, fields)
    for other in world.existing:
        # Names of a cluster that is going are free in the new one.
        if other.uses.get("", frozenset()) - _things(world):
            continue
        if other.declared.type == new.type and _identity_of(other, fields) == wanted:
            values = ", ".join(f"{field} {new.inputs[field]}" for field in fields)
            return f"already exists: {other.declared.title} has {values}"
    return ""


def _identity(world: "World", inputs: Mapping[str, Any], fields: Iterable[str]) -> tuple[Any, ...]:
    return tuple((inputs[field], frozenset(world.used(inputs[field]))) for field in fields)


def _identity_of(live: "Live", fields: Iterable[str]) -> tuple[Any, ...]:
    return tuple((live.inputs.get(field), live.uses.get(field, frozenset())) for field in fields)


def minor(version: str) -> int:
    return int(version.split(".")[1])


def _cluster(world: "World", new: Declared, old: "Live", paths: tuple[Path, ...]) -> Iterator[str]:
    """UpdateClusterVersion and UpdateClusterConfig of the EKS API."""
    if ("version",) in paths and "version" in new.inputs:
        before, after = minor(old.inputs["version"]), minor(new.inputs["version"])
        if after != before + 1:
            yield f"InvalidParameterException: Unsupported minor version update from 1.{before} to 1.{after}"
    if any(path[:2] == ("vpcConfig", "subnetIds") for path in paths):
        # "They should be exact same set of AZs in which cluster was created" (aws/containers-roadmap #2258; EKS user
        # guide, "VPC requirements and considerations").
        used = world.used(new.inputs["vpcConfig"]["subnetIds"])
        zones = {_zone(world, urn) for urn, _ in used}
        born = {_zone(world, urn) for urn, _ in old.uses.get("vpcConfig", ())}
        if zones != born:
            yield "InvalidParameterException: subnets must be in exactly the zones in which the cluster was created"


def _zone(world: "World", urn: str) -> str:
    return str(world.live[urn].inputs.get("availabilityZone")) if urn in world.live else ""


def _node_group(world: "World", new: Declared, old: "Live", paths: tuple[Path, ...]) -> Iterator[str]:
    """UpdateNodegroupVersion: never older, never newer than the cluster."""
    if ("version",) not in paths or "version" not in new.inputs or "version" not in old.inputs:
        return
    after = minor(new.inputs["version"])
    if after < minor(old.inputs["version"]):
        yield "InvalidParameterException: Requested Kubernetes version is older than that of the node group"
    for live in world.live.values():
        if live.declared.type == _CLUSTER and "version" in live.inputs and after > minor(live.inputs["version"]):
            yield "InvalidParameterException: Requested Kubernetes version is newer than that of the cluster"


def users(world: "World", old: "Live") -> list[str]:
    """Return what uses a resource, so that AWS does not delete it."""
    fields = _HOLDS.get(old.declared.type, ())
    if _OF_PODS in (old.inputs.get("tags") or {}) and world.cluster.has_nodes:
        return ["network interfaces of nodes"]
    return [
        other.declared.title
        for other in world.existing
        if other is not old and any(old.thing in other.uses.get(field, ()) for field in fields)
    ]


def _things(world: "World") -> "frozenset[Thing]":
    return frozenset(other.thing for other in world.existing)


def needed_gone(world: "World") -> Iterator[str]:
    """Yield what needs a key or a role that is gone.

    KMS and IAM refuse no deletion because of what uses them ("Deleting AWS KMS keys"; "Delete roles").
    """
    things = _things(world)
    for other in world.existing:
        for field in ("encryptionConfig", "kmsKeyId", "roleArn", "nodeRoleArn"):
            for urn, turn in other.uses.get(field, ()):
                if _type(urn) in (_KEY, _ROLE) and (urn, turn) not in things:
                    yield f"{other.declared.title} needs {urn.rpartition('::')[2]}, which is deleted"


def objects_gone(world: "World") -> Iterator[str]:
    """Yield objects that the state has although their cluster was replaced."""
    things = _things(world)
    for other in world.live.values():
        for urn, turn in other.uses.get("", ()):
            if _type(urn) == _CLUSTER and (urn, turn) not in things:
                yield f"{other.declared.title} was in a cluster that was replaced"


def lost_with(world: "World", old: "Live") -> Iterator[str]:
    """Yield what goes with a resource although something still needs it."""
    if old.declared.type == _LOGS:
        yield f"{old.declared.title} is deleted with its logs"
    if old.declared.kind == "PersistentVolumeClaim" and "OtherObjects" in old.declared.urn:
        spec = old.inputs["spec"]
        if not spec.get("volumeName") and spec.get("storageClassName") != "":
            # Kubernetes, "Persistent Volumes", Reclaiming: dynamically provisioned volumes have the policy Delete.
            yield f"{old.declared.title} is deleted with its volume"
    if old.declared.type in STORES:
        for other in world.existing:
            if other.declared.kind == "PersistentVolume" and any(old.thing in used for used in other.uses.values()):
                yield f"{old.declared.title} is deleted, and {other.declared.title} is on it"


def cut_off(world: "World") -> Iterator[str]:
    """Yield that nodes lost the way to the registries: neither a NAT gateway nor endpoints of ECR are left.

    EKS user guide, "Deploy private clusters with limited internet access".
    """
    gateways = [each for each in world.existing if each.declared.type == _NAT]
    endpoints = [each for each in world.existing if "ecr.dkr" in str(each.inputs.get("serviceName"))]
    if world.had_gateways and not gateways and not endpoints:
        yield "nodes have no way to the registries of their images"


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]
