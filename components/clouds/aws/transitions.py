"""Changes of deployed resources that AWS refuses, or after which something in AWS still needs what is deleted.

These are rules about two revisions: each one alone is valid. Sources are cited at each rule; "EKS user guide" is
awsdocs/amazon-eks-user-guide, and "EC2 API" the Amazon EC2 API Reference.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.texts.outputs import shell_word
from ...fleet.transitions import Need, RefusedChange, Store, Transition

_CLUSTER = "aws:eks/cluster:Cluster"
_SUBNET = "aws:ec2/subnet:Subnet"
_VPC = "aws:ec2/vpc:Vpc"
_NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
_ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
_NODE_SERVICES = ("ec2", "ecr.api", "ecr.dkr", "sts")
"""Services without which nodes of a private cluster neither start nor pull images."""
_KEY = "encryptionConfig.provider.keyArn"
_SUBNETS = "vpcConfig.subnetIds"
_MODE = "accessConfig.authenticationMode"
_IPV6 = "assignGeneratedIpv6CidrBlock"
_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""Authentication modes of a cluster; only a later one can follow."""
_POD_SUBNET = "kubernetes.io/role/cni"
"""Tag of the subnets in which the VPC CNI plugin creates network interfaces."""
_SECOND_STACK = (
    "describe the new cluster in a second stack file (Pulumi.NAME.yaml) with a clusterName of its own, deploy it, "
    "move the traffic to its endpoints, and then destroy this stack"
)
_CLUSTER_SETTINGS: Mapping[str, str] = {
    "name": "clusterName",
    "region": "region",
    "kubernetesNetworkConfig.serviceIpv4Cidr": "cluster.serviceCidr",
}
"""Settings behind the immutable properties of a cluster."""
_NEEDS: Mapping[str, tuple[Need, ...]] = {
    _CLUSTER: (
        Need(
            field=_KEY,
            setting="cluster.secretsKeyArn",
            reason="EKS never changes the key that encrypts the Secrets of a cluster, and a cluster whose key is "
            'deleted cannot be recovered (EKS user guide, "Encrypt Kubernetes secrets with KMS")',
            advice=f"keep the key; for a cluster with another key, {_SECOND_STACK}",
        ),
        Need(
            field=_SUBNETS,
            setting="network",
            reason="the control plane keeps its network interfaces in the subnets of its creation, so that AWS "
            'refuses to delete them, after minutes of retries (EKS user guide, "VPC and subnet requirements")',
            advice=f"restore the former setting; for a cluster in another network, {_SECOND_STACK}",
        ),
    ),
}


def needs(type_token: str) -> tuple[Need, ...]:
    """Return the fields through which a resource needs another one for as long as it exists."""
    return _NEEDS.get(type_token, ())


def store(type_token: str) -> Store | None:
    """Return what is lost with a resource; None if it has no data."""
    return _STORES.get(type_token)


_STORES: Mapping[str, Store] = {
    "aws:efs/fileSystem:FileSystem": Store("the weights that models cache there are deleted", "modelCache.efs"),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Store(
        "the weights that models cache there are deleted", "modelCache.fsx"
    ),
    "aws:cloudwatch/logGroup:LogGroup": Store(
        "nothing restores its logs",
        "network.flowLogs",
        "restore the former setting; or export them (aws logs create-export-task)",
        is_cache=False,
    ),
}
"""Types without a row have no data of their own: ECR keeps cached images when a rule goes, and a stack creates no
buckets, hosted zones, certificates or secrets."""


def removal(type_token: str, id_: str) -> str:
    """Return what a resource costs that the stack retains, and how to delete it; empty if unknown."""
    return _REMOVALS.get(type_token, "").format(id=shell_word(id_))


_REMOVALS: Mapping[str, str] = {
    "aws:kms/key:Key": "costs $1 a month; once nothing needs it: "
    "aws kms schedule-key-deletion --pending-window-in-days 30 --key-id {id}",
    "aws:cloudwatch/logGroup:LogGroup": "has the last logs of the cluster, with their retention; to delete it: "
    "aws logs delete-log-group --log-group-name {id}",
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": "free of charge; other users of the account may need it",
}


def refusals(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """Yield the changes that AWS refuses, or that destroy what is still in use.

    Args:
        transitions: All resources of both revisions, also unchanged ones.
    """
    for transition in transitions:
        for rule in _RULES.get(transition.type, ()):
            yield from rule(transition)
    yield from _network_range(transitions)
    yield from _last_nat_gateway(transitions)
    yield from _pod_subnets(transitions)
    yield from _overlapping_subnets(transitions)


def _cluster_replaced(change: Transition) -> Iterator[RefusedChange]:
    if not change.replaced or change.before is None or change.after is None:
        return
    paths = [path for path in _CLUSTER_SETTINGS if path in change.changed]
    found = "; ".join(_found(change, path, named=len(paths) > 1) for path in paths) or f"{change.title} is replaced"
    protected = ""
    if _at(change.before, "deletionProtection") is True:
        protected = "; EKS refuses to delete it as long as it has deletion protection"
    yield RefusedChange(
        RuleId.CHANGE_REPLACES_CLUSTER,
        _CLUSTER_SETTINGS[paths[0]] if paths else "",
        f"{found}; EKS cannot change this in place, so that the cluster is deleted with everything in it before a "
        f"new one is created{protected}; restore the former value. For a cluster with the new one, "
        f"{_SECOND_STACK}",
        change.title,
        paths[0] if paths else "",
    )


def _cluster_released(change: Transition) -> Iterator[RefusedChange]:
    if change.is_released:
        yield RefusedChange(
            RuleId.CHANGE_DESTROYS,
            "cluster.existing",
            "this stack created the cluster, so existing: true would keep it and delete what belongs to it: the role "
            "of the control plane, access entries, add-ons, system nodes and logs. Remove existing here, and set it "
            "only in stacks that did not create the cluster",
            change.title,
        )


def _cluster_claimed(change: Transition) -> Iterator[RefusedChange]:
    if change.is_claimed:
        yield RefusedChange(
            RuleId.CHANGE_REFUSED,
            "cluster.existing",
            "the cluster exists, and belongs to no stack or to another one: without existing: true, EKS refuses to "
            f"create it a second time. Restore existing: true. For a cluster of this stack, {_SECOND_STACK}",
            change.title,
        )


def _version(change: Transition) -> Iterator[RefusedChange]:
    """Upgrades go one minor version at a time; rollbacks have conditions that an update does not meet.

    EKS user guide, "Update existing cluster to new Kubernetes version" and "Rollback cluster to previous Kubernetes
    version": by one version, within seven days of an upgrade in place, with the nodes rolled back before the control
    plane. An update changes the control plane before its nodes.
    """
    if not _stays(change):
        return
    old, new = (_at(inputs or {}, "version") for inputs in (change.before, change.after))
    before, after = _minor(old), _minor(new)
    if before is None or after is None or 0 <= after - before <= 1:
        return
    if after > before:
        # Settings may describe versions that the tables do not have.
        steps = [f"1.{minor}" for minor in range(before + 1, after + 1)]
        reason = (
            f"found {new} after {old}; EKS upgrades a cluster by one minor version at a time; set {steps[0]}, deploy "
            f"it with its nodes and add-ons, and go on: {' → '.join(steps)}"
        )
    elif before - after > 1:
        reason = f"found {new} after {old}; EKS never rolls a cluster back by more than one version; restore {old}"
    else:
        reason = (
            f"found {new} after {old}; EKS rolls a cluster back only within 7 days of its upgrade, and only after "
            f"its nodes, while an update begins with the control plane; restore {old}. Within the 7 days, roll back "
            "the node groups and then the control plane with the AWS CLI (EKS user guide, "
            f'"Rollback cluster to previous Kubernetes version"), run `pulumi refresh`, and only then write {new}'
        )
    yield RefusedChange(RuleId.CHANGE_REFUSED, "cluster.version", reason, change.title, "version")


def _secrets_key(change: Transition) -> Iterator[RefusedChange]:
    if not _stays(change):
        return
    before, after = (_at(inputs or {}, _KEY) for inputs in (change.before, change.after))
    if before is None or after is None or before == after:
        return
    own = isinstance(before, str) and before.startswith("[")
    lost = ", which would no longer belong to this stack; a cluster whose key is deleted cannot be recovered"
    way = "remove cluster.secretsKeyArn" if own else f"set cluster.secretsKeyArn: {before}"
    yield RefusedChange(
        RuleId.CHANGE_DESTROYS if own else RuleId.CHANGE_REFUSED,
        "cluster.secretsKeyArn",
        f"found {after}, but EKS never changes the key that encrypts the Secrets of a cluster (EKS user guide, "
        '"Encrypt Kubernetes secrets with KMS"): the update has no effect, and the cluster keeps needing '
        f"{before}{lost if own else ''}; {way}. For a cluster with another key, {_SECOND_STACK}",
        change.title,
        _KEY,
    )


def _control_plane_subnets(change: Transition) -> Iterator[RefusedChange]:
    """EKS user guide, "VPC and subnet requirements": other subnets must be in the zones of the creation."""
    if not _stays(change):
        return
    before, after = (_at(inputs or {}, _SUBNETS) for inputs in (change.before, change.after))
    if not isinstance(before, list) or not isinstance(after, list) or not {*map(str, before)} - {*map(str, after)}:
        return
    # IDs in the settings belong to an existing VPC.
    setting = "cluster.zones" if all(str(subnet).startswith("[") for subnet in after) else "network.vpcId"
    yield RefusedChange(
        RuleId.CHANGE_REFUSED,
        setting,
        f"found the subnets {_names(after)} after {_names(before)}; the control plane keeps those of its creation, "
        'because EKS accepts no others outside of their zones (EKS user guide, "VPC and subnet requirements"); '
        "restore the former value. Only the zones of nodes can change: add them to network.zones and gpuNodes.zones. "
        f"For a control plane elsewhere, {_SECOND_STACK}",
        change.title,
        _SUBNETS,
    )


def _authentication_mode(change: Transition) -> Iterator[RefusedChange]:
    """EKS user guide, "Change authentication mode to use access entries": a mode cannot be changed back."""
    before, after = (_at(inputs or {}, _MODE) for inputs in (change.before, change.after))
    if _stays(change) and before in _MODES and after in _MODES and _MODES.index(after) < _MODES.index(before):
        yield RefusedChange(
            RuleId.CHANGE_REFUSED,
            "",
            f"found the authentication mode {after} after {before}; EKS never changes it back (EKS user guide, "
            f'"Change authentication mode to use access entries"); restore {before}',
            change.title,
            _MODE,
        )


def _ipv6_range(change: Transition) -> Iterator[RefusedChange]:
    """EC2 API, DisassociateVpcCidrBlock: everything with addresses of a range must be gone before the range."""
    before, after = (_at(inputs or {}, _IPV6) for inputs in (change.before, change.after))
    if _stays(change) and before is True and after is not True:
        yield RefusedChange(
            RuleId.CHANGE_REFUSED,
            "network.ipv6",
            "AWS does not remove the IPv6 range of a VPC while its subnets have addresses of it, and an update "
            "changes the VPC before its subnets; keep network.ipv6: true, which costs nothing. For a VPC without "
            f"it, {_SECOND_STACK}",
            change.title,
            _IPV6,
        )


def _network_range(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """AWS never changes the range of a VPC, so the provider replaces it, with the subnets of the control plane."""
    networks = [change for change in transitions if change.type == _VPC and "cidrBlock" in change.changed]
    for cluster in transitions:
        if cluster.type == _CLUSTER and _stays(cluster) and networks:
            before, after = networks[0].changed["cidrBlock"]
            yield RefusedChange(
                RuleId.CHANGE_DESTROYS,
                "network.cidr",
                f"found {after} after {before}; AWS never changes the range of a VPC, so an update replaces it with "
                "its subnets, but the control plane keeps its network interfaces in the former ones, which AWS then "
                'refuses to delete (EKS user guide, "VPC and subnet requirements"); restore the former range, and '
                f"add addresses for pods with network.podCidr. For another range, {_SECOND_STACK}",
                cluster.title,
                _SUBNETS,
            )


def _last_nat_gateway(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """Running nodes need these services (EKS user guide, "Deploy private clusters with limited internet access")."""
    gateways = [change for change in transitions if change.type == _NAT_GATEWAY]
    is_last = any(change.before for change in gateways) and not any(change.after for change in gateways)
    if not is_last or not any(_stays(change) for change in transitions if change.type == _CLUSTER):
        return
    services = [str(_at(change.after or {}, "serviceName")) for change in transitions if change.type == _ENDPOINT]
    missing = [name for name in _NODE_SERVICES if not any(service.endswith(f".{name}") for service in services)]
    if missing:
        yield RefusedChange(
            RuleId.CHANGE_DESTROYS,
            "network.natGateways",
            "the last NAT gateway would be deleted, through which running nodes reach the services that give them "
            f"images and credentials; restore it, or add {', '.join(missing)} to network.interfaceEndpoints",
            ", ".join(change.title for change in gateways),
        )


def _pod_subnets(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """Subnets of pods cannot be deleted while nodes have network interfaces in them (EC2 API, DeleteSubnet)."""
    if not any(_stays(change) for change in transitions if change.type == _CLUSTER):
        return
    gone = [change for change in transitions if change.type == _SUBNET and _is_gone(change) and _is_for_pods(change)]
    if not gone:
        return
    new = sorted({str(_at(change.after, "cidrBlock")) for change in gone if change.after})
    old = sorted({str(_at(change.before or {}, "cidrBlock")) for change in gone})
    yield RefusedChange(
        RuleId.CHANGE_REFUSED,
        "network.podCidr",
        f"found {', '.join(new) or 'no subnets of pods'} after {', '.join(old)}; running nodes have network "
        "interfaces for their pods in these subnets, and AWS deletes no subnet that has any, so that the update "
        f"fails after minutes of retries; restore the former range. To give it up, remove the tag {_POD_SUBNET} from "
        "the subnets, replace every node, and deploy this change then",
        ", ".join(change.title for change in gone),
        "cidrBlock",
    )


def _overlapping_subnets(transitions: Sequence[Transition]) -> Iterator[RefusedChange]:
    """Until old subnets are deleted, new ones exist beside them (EC2 API, CreateSubnet: no overlap in a VPC)."""
    if any(_is_gone(change) for change in transitions if change.type == _VPC):
        return  # Another VPC: its subnets do not collide with the former ones.
    subnets = [change for change in transitions if change.type == _SUBNET]
    old = {change.title: cidr for change in subnets if change.before and (cidr := _cidr(change.before))}
    taken: dict[str, list[str]] = {}
    for change in subnets:
        cidr = _cidr(change.after) if change.after else None
        if cidr is None or (change.before and not change.replaced):
            continue
        owners = [
            title
            for title, range_ in old.items()
            if range_.overlaps(cidr) and not (title == change.title and change.deletes_first)
        ]
        if owners:
            taken[f"{change.title} ({cidr})"] = owners
    if taken:
        owners = sorted({owner for owners in taken.values() for owner in owners})
        yield RefusedChange(
            RuleId.CHANGE_REFUSED,
            "network.zones",
            f"the ranges of the new subnets {', '.join(taken)} belong to {', '.join(owners)} until these are "
            "deleted, last of all, and AWS refuses subnets of one VPC that overlap (EC2 API, CreateSubnet); keep the "
            "former zones in their order and append new ones, or remove a zone in an update of its own first",
            ", ".join(taken),
            "cidrBlock",
        )


_Rule = Callable[[Transition], Iterator[RefusedChange]]
_RULES: Mapping[str, tuple[_Rule, ...]] = {
    _CLUSTER: (
        _cluster_replaced,
        _cluster_released,
        _cluster_claimed,
        _version,
        _secrets_key,
        _control_plane_subnets,
        _authentication_mode,
    ),
    _VPC: (_ipv6_range,),
}


def _stays(change: Transition) -> bool:
    """Whether the resource is the same before and after, and belongs to the stack in both."""
    kept = change.before is not None and change.after is not None
    return kept and not (change.replaced or change.is_released or change.is_claimed)


def _is_gone(change: Transition) -> bool:
    """Whether the resource of before is deleted."""
    return change.before is not None and (change.after is None or change.replaced)


def _is_for_pods(change: Transition) -> bool:
    tags = (change.before or {}).get("tags")
    return isinstance(tags, Mapping) and _POD_SUBNET in tags


def _minor(version: Any) -> int | None:  # noqa: ANN401  any JSON value
    match = re.fullmatch(r"1\.(\d+)", str(version))
    return int(match[1]) if match else None


def _cidr(inputs: Mapping[str, Any]) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(str(inputs.get("cidrBlock")))
    except ValueError:
        return None


def _names(values: Sequence[Any]) -> str:
    """Return subnets by the name of the resource behind each placeholder, such as ``network-private-us-east-1a``."""
    return ", ".join(str(value).strip("[]").rpartition(" ")[2] for value in values)


def _found(change: Transition, path: str, *, named: bool) -> str:
    before, after = change.changed[path]
    return f"{f'{_CLUSTER_SETTINGS[path]}: ' if named else ''}found {after} after {before}"


def _at(inputs: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401
    """Return the value of a field; None if it is not set."""
    value: Any = inputs
    for step in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value
