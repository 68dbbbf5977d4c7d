"""``adopt --own``: what a stack owns of an existing cluster, with exactly the properties that it has.

Only node groups can be owned. The fields that Cluster and Network would change are listed: the provider replaces a
cluster or a subnet to change some of them.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from components.clouds.aws.subnets import cidr_problem, plan_subnets
from components.contract.texts.printable import printable
from components.resources.aws.node_settings import OwnedFixedSettings

from ...errors import WorkbenchError
from .inventory import EFFECTS, Inventory, Unexpressed
from .options import OwnedPart
from .settings import AwsSettings

_EXPRESSED: Mapping[str, frozenset[str]] = {
    "": frozenset(
        (
            *("nodegroupName", "clusterName", "nodegroupArn", "createdAt", "modifiedAt", "status", "health"),
            *("resources", "version", "releaseVersion", "nodeRepairConfig", "capacityType", "scalingConfig"),
            *("instanceTypes", "subnets", "remoteAccess", "amiType", "nodeRole", "labels", "taints", "diskSize"),
            *("updateConfig", "launchTemplate", "tags", "warmPoolConfig"),
        )
    ),
    "updateConfig": frozenset(("maxUnavailable", "maxUnavailablePercentage", "updateStrategy")),
    "remoteAccess": frozenset(("ec2SshKey", "sourceSecurityGroups")),
    "launchTemplate": frozenset(("id", "name", "version")),
}
"""Properties of a node group that are settings, that the provider treats as computed, or that are checked here (EKS
API, Nodegroup). A group with another one is not owned: an update might remove what the program does not declare."""
_OF_AWS = "aws:"
"""Prefix of tags that only AWS sets; the provider ignores them."""
_STACK_TAG = "aws:cloudformation:stack-name"


def check_own(wanted: Collection[OwnedPart], *, from_api: bool) -> None:
    """Check that the source tells enough about what is to be owned.

    Raises:
        WorkbenchError: it does not.
    """
    if wanted and not from_api:
        raise WorkbenchError(
            "--own: only with --aws: files describe what was requested, and not the tags, defaults and later changes "
            "that a stack has to declare so that it changes nothing",
            2,
        )


def own(settings: AwsSettings, inventory: Inventory, wanted: Collection[OwnedPart]) -> AwsSettings:
    """Return settings with which the stack owns what is wanted.

    Raises:
        WorkbenchError: the stack would change a cluster or network; lists each field.
    """
    refused = [*(_cluster(inventory) if OwnedPart.CLUSTER in wanted else ())]
    refused += _network(inventory) if OwnedPart.NETWORK in wanted else ()
    if refused:
        lines = ["--own: nothing was written, because the stack would not leave as it is", *refused]
        lines.append(
            "Leave out --own for them: with --aws alone, the stack uses both as they are. Node groups can be owned"
        )
        raise WorkbenchError("\n  ".join(map(printable, lines[:-1])) + "\n" + lines[-1])
    return _own_groups(settings, inventory) if OwnedPart.NODE_GROUPS in wanted else settings


def _own_groups(settings: AwsSettings, inventory: Inventory) -> AwsSettings:
    findings, notes = list(settings.findings), list(settings.notes)
    nodes: dict[str, Any] = dict(settings.values.get("gpuNodes", {}))
    types: dict[str, dict[str, Any]] = {}
    for type_, entry in nodes.get("types", {}).items():
        existing, owned = [], []
        for name in entry.get("existingGroups", ()):
            item = inventory.answers.groups.get(name, {})
            reason = _not_ownable(item)
            if reason:
                existing.append(name)
                findings.append(Unexpressed(f"node group {name}", f"is used, and not owned: {reason}"))
            else:
                owned.append(owned_values(item))
                notes.append(_other_owner(item))
        others = {key: value for key, value in entry.items() if key != "existingGroups"}
        types[type_] = {
            **({"existingGroups": existing} if existing else {}),
            **({"ownedGroups": owned} if owned else {}),
            **others,
        }
    if not any("ownedGroups" in entry for entry in types.values()):
        findings.append(Unexpressed("--own node-groups", "there is no node group with accelerators to own"))
    values = {**settings.values, **({"gpuNodes": {**nodes, "types": types}} if types else {})}
    return replace(settings, values=values, findings=tuple(findings), notes=tuple(notes))


def _not_ownable(item: Mapping[str, Any]) -> str:
    """Return why no settings declare a node group exactly; empty if some do."""
    unknown = [
        f"{section}.{key}" if section else key
        for section, known in _EXPRESSED.items()
        for key, value in (item.get(section) or {} if section else item).items()
        if key not in known and value not in (None, "", [], {})
    ]
    if unknown:
        return f"{', '.join(sorted(unknown))} of it cannot be declared, and an update might remove it"
    if (item.get("warmPoolConfig") or {}).get("enabled", bool(item.get("warmPoolConfig"))):
        return "has a warm pool (warmPoolConfig), which no setting declares, so that the first update would remove it"
    if item.get("status") != "ACTIVE":
        return f"its status is {item.get('status')}; adopt it when it is ACTIVE"
    if item.get("capacityType") == "CAPACITY_BLOCK":
        return "EKS updates the group of a Capacity Block only while it has no nodes"
    missing = [key for key in ("nodegroupName", "subnets", "nodeRole", "scalingConfig") if not item.get(key)]
    template = item.get("launchTemplate")
    if template:
        missing += [f"launchTemplate.{key}" for key in ("id", "version") if not template.get(key)]
    return f"AWS did not report {', '.join(missing)}" if missing else ""


def owned_values(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of a node group, by the answer of DescribeNodegroup."""
    template, access = item.get("launchTemplate") or {}, item.get("remoteAccess") or {}
    scaling = item["scalingConfig"]
    fixed = {
        "subnets": sorted(item["subnets"]),
        "nodeRoleArn": item["nodeRole"],
        "capacityType": item.get("capacityType") or "ON_DEMAND",
        "instanceTypes": list(item.get("instanceTypes") or ()),
        "amiType": item.get("amiType") or "",
        "diskGib": item.get("diskSize"),
        "launchTemplateId": template.get("id", ""),
        "sshKey": access.get("ec2SshKey") or "",
        "sshSecurityGroups": sorted(access.get("sourceSecurityGroups") or ()),
        "size": {
            "min": scaling["minSize"],
            "max": scaling["maxSize"],
            "desired": scaling.get("desiredSize", scaling["minSize"]),
        },
    }
    fixed = {key: value for key, value in fixed.items() if value not in (None, "", [])}
    update = {key: value for key, value in sorted((item.get("updateConfig") or {}).items()) if value is not None}
    values = {
        "name": item["nodegroupName"],
        "labels": dict(sorted((item.get("labels") or {}).items())),
        "taints": [
            {"key": taint["key"], "value": taint.get("value") or "", "effect": EFFECTS[taint["effect"]]}
            for taint in sorted(item.get("taints") or (), key=lambda taint: (taint["key"], taint["effect"]))
        ],
        "tags": {key: value for key, value in sorted(_tags(item).items()) if not key.startswith(_OF_AWS)},
        "launchTemplateVersion": template.get("version", ""),
        "update": update,
        "fixed": {**fixed, "checksum": _checksum(fixed)},
    }
    return {key: value for key, value in values.items() if value not in ("", [], {})}


def _checksum(fixed: Mapping[str, Any]) -> str:
    return OwnedFixedSettings.model_validate({**fixed, "checksum": _NO_CHECKSUM}).properties().checksum


_NO_CHECKSUM = "-".join(["0000"] * 10)


def _tags(item: Mapping[str, Any]) -> Mapping[str, str]:
    return item.get("tags") or {}


def _other_owner(item: Mapping[str, Any]) -> str:
    """Return what else may change a node group, and how it is kept from that."""
    name, stack = item["nodegroupName"], _tags(item).get(_STACK_TAG)
    if stack:
        return (
            f"node group {name} is also part of the CloudFormation stack {stack}. Neither update nor delete that "
            "stack, nor the group with eksctl: the stack may contain launch template and role of the nodes too"
        )
    return (
        f"node group {name}: if Terraform or another tool created it, that tool must forget the group, its launch "
        "template and its role, for instance with `terraform state rm`, before their code is removed"
    )


def _cluster(inventory: Inventory) -> Iterator[str]:
    """Yield the fields of a cluster that the component Cluster would change."""
    item = inventory.answers.cluster
    title = f"cluster {inventory.cluster.name}"
    access, network = item.get("accessConfig") or {}, item.get("resourcesVpcConfig") or {}
    yield _change(title, "roleArn", item.get("roleArn"), "a role that it creates", replaces=True)
    yield _change(title, "bootstrapSelfManagedAddons", "a value that AWS does not report", "false", replaces=True)
    mode = access.get("authenticationMode") or "CONFIG_MAP"
    if mode != "API":
        yield _change(title, "accessConfig.authenticationMode", mode, "API, and the ConfigMap aws-auth has no effect")
    if not item.get("encryptionConfig"):
        what = "a KMS key for Secrets, which cannot be removed again"
        yield _change(title, "encryptionConfig", None, what)
    if network.get("securityGroupIds"):
        groups = ", ".join(network["securityGroupIds"])
        yield _change(title, "resourcesVpcConfig.securityGroupIds", groups, "none")
    if not network.get("endpointPrivateAccess"):
        yield _change(title, "resourcesVpcConfig.endpointPrivateAccess", "false", "true")
    for key in ("computeConfig", "remoteNetworkConfig", "storageConfig", "zonalShiftConfig", "outpostConfig"):
        if item.get(key):
            yield _change(title, key, "a value", "none")
    yield f"{title}: its add-ons, access entries, log group and system nodes would be created a second time"


def _network(inventory: Inventory) -> Iterator[str]:
    """Yield the fields of a network that the component Network would change."""
    vpc = inventory.cluster.vpc_id
    cidr = inventory.answers.vpc.get("CidrBlock", "")
    subnets = sorted(
        (item["AvailabilityZone"], id_, item.get("CidrBlock", "")) for id_, item in inventory.answers.subnets.items()
    )
    zones = sorted({zone for zone, _, _ in subnets})
    if cidr_problem(cidr):
        yield f"VPC {vpc}: its range {cidr_problem(cidr)}"
    else:
        planned = plan_subnets(cidr, zones[:7])
        wanted = {(subnets.zone, range_) for subnets in planned for range_ in (subnets.private, subnets.public)}
        for zone, id_, range_ in subnets:
            if (zone, range_) not in wanted:
                ranges = " or ".join(sorted(known for other, known in wanted if other == zone)) or "no subnet there"
                yield _change(f"subnet {id_} in {zone}", "CidrBlock", range_, ranges, replaces=True)
    yield (
        f"VPC {vpc}: its route tables, internet and NAT gateways would be created a second time, because the "
        "component has one private route table for each zone, and routes of its own"
    )


def _change(subject: str, field: str, before: object, after: str, *, replaces: bool = False) -> str:
    found = before if before else "not set"
    consequence = f"; the {subject.split()[0]} would be replaced" if replaces else ""
    return f"{subject}: {field} is {found}, and the component sets {after}{consequence}"
