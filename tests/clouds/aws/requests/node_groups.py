"""The requests of node groups of EKS."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import instance_type_problems, pattern_problems
from tests.clouds.aws.requests.clusters import request
from tests.clouds.aws.requests.identity import role_exists
from tests.clouds.aws.requests.network import subnets_exist
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    drop_empty,
    listed,
    lookup,
)


def node_group(given: Given) -> Plan:
    (cluster,) = given.id("clusterName")
    name = given.name("nodeGroupName")
    role, subnets, tags = given.get("nodeRoleArn"), given.get("subnetIds"), given.get("tags")
    which = {"clusterName": cluster, "nodegroupName": name}
    blocks = _node_group_blocks(given)
    members = given.same(
        *("amiType", "capacityType", "instanceTypes", "labels", "diskSize", "version", "releaseVersion"),
    )
    given.no_request("forceUpdateVersion")
    create = request(
        "CreateNodegroup", **which, nodeRole=role, subnets=subnets, **members, **drop_empty(blocks | {"tags": tags})
    )
    scaled = From("nodegroup.resources.autoScalingGroups[0].name")
    return Plan(
        create=create,
        by_itself=_auto_scaling_group(scaled, subnets, blocks["scalingConfig"]),
        id=f"{cluster}:{name}",
        outputs={
            "nodeGroupName": name,
            "arn": From("nodegroup.nodegroupArn"),
            "status": From("nodegroup.status"),
            "resources": [{"autoscalingGroups": [{"name": scaled}], "remoteAccessSecurityGroupId": ""}],
        },
        find=lookup("eks", "DescribeNodegroup", "nodegroup", **which),
        delete=[
            request("DeleteNodegroup", **which),
            Request("autoscaling", "DeleteAutoScalingGroup", {"AutoScalingGroupName": scaled}),
            Request("ec2", "DeleteLaunchTemplate", {"LaunchTemplateName": scaled}),
        ],
        needs=[*role_exists(role), *subnets_exist(subnets), *_versions(blocks["launchTemplate"], "[]")],
        refused_if=_template_rules(create.params),
        problems=_node_group_problems(create.params),
    )


def _node_group_blocks(given: Given) -> dict[str, Any]:
    return {
        "scalingConfig": given.block("scalingConfig", lambda block: block.same("minSize", "maxSize", "desiredSize")),
        "updateConfig": given.block("updateConfig", _update_config),
        "launchTemplate": given.block("launchTemplate", lambda block: block.same("id", "name", "version")),
        "taints": given.blocks("taints", lambda block: block.same("key", "value", "effect")),
        "nodeRepairConfig": given.block("nodeRepairConfig", _repair_config),
        "remoteAccess": given.block(
            "remoteAccess",
            lambda block: block.members(ec2SshKey="ec2SshKey", sourceSecurityGroups="sourceSecurityGroupIds"),
        ),
    }


def _auto_scaling_group(name: From, subnets: Any, scaling: Any) -> list[Request]:
    """Make what EKS makes for a node group and moto only names: tags and schedules need a real group.

    Its sizes begin at none, because moto would start instances; EKS copies the launch template too.
    """
    template = {"LaunchTemplateName": name, "LaunchTemplateData": {"InstanceType": "m5.large"}}
    largest = scaling.get("maxSize", 1) if isinstance(scaling, dict) else 1
    group = {
        "AutoScalingGroupName": name,
        "MinSize": 0,
        "DesiredCapacity": 0,
        "MaxSize": largest,
        "VPCZoneIdentifier": ",".join(map(str, listed(subnets))),
        "LaunchTemplate": {"LaunchTemplateName": name, "Version": "$Default"},
    }
    return [
        Request("ec2", "CreateLaunchTemplate", template),
        Request("autoscaling", "CreateAutoScalingGroup", group),
    ]


def _versions(template: Any, path: str) -> list[Lookup]:
    """Return how to find what ``path`` says of the version of a launch template that a node group uses."""
    if not isinstance(template, dict):
        return []
    names = {"id": "LaunchTemplateId", "name": "LaunchTemplateName"}
    which = {names[key]: value for key, value in template.items() if key in names}
    version = template.get("version", "$Default")
    path = f"LaunchTemplateVersions{path}"
    return [lookup("ec2", "DescribeLaunchTemplateVersions", path, Versions=[version], **which)]


def _template_rules(params: Mapping[str, Any]) -> list[tuple[Lookup, str]]:
    """Return what EKS refuses about a launch template, for its group (EKS user guide, launch template support)."""
    forbidden = {
        "IamInstanceProfile": "an instance profile",
        "InstanceInitiatedShutdownBehavior": "a shutdown behaviour",
        "NetworkInterfaces[?SubnetId] | []": "subnets of network interfaces",
    }
    rules = [
        (f"[].LaunchTemplateData.{path}", f"its launch template may not have {what}")
        for path, what in forbidden.items()
    ]
    if "instanceTypes" in params:
        rules.append(("[].LaunchTemplateData.InstanceType", "the instance type is in the launch template already"))
    image = [name for name in ("amiType", "version", "releaseVersion") if params.get(name, "CUSTOM") != "CUSTOM"]
    rules += [("[].LaunchTemplateData.ImageId", f"{name} is decided by the image") for name in image]
    if _is_block(params):
        market = "[?LaunchTemplateData.InstanceMarketOptions.MarketType!='capacity-block']"
        target = "[?!(LaunchTemplateData.CapacityReservationSpecification.CapacityReservationTarget)]"
        rules += [
            (market, "its launch template is not for a Capacity Block"),
            (target, "its launch template names no Capacity Block"),
            ("[?!(LaunchTemplateData.InstanceType)]", "its launch template has no instance type"),
        ]
    return [(found, why) for path, why in rules for found in _versions(params.get("launchTemplate"), path)]


def _is_block(params: Mapping[str, Any]) -> bool:
    return params.get("capacityType") == "CAPACITY_BLOCK"


def _update_config(given: Given) -> dict[str, Any]:
    return given.same("maxUnavailable", "maxUnavailablePercentage", "updateStrategy")


def _repair_config(given: Given) -> dict[str, Any]:
    return given.same(
        *("enabled", "maxParallelNodesRepairedCount", "maxParallelNodesRepairedPercentage"),
        *("maxUnhealthyNodeThresholdCount", "maxUnhealthyNodeThresholdPercentage"),
    )


def _node_group_problems(params: Mapping[str, Any]) -> list[str]:
    template = params.get("launchTemplate")
    found = [
        *pattern_problems("node group name", params["nodegroupName"]),
        *pattern_problems("Kubernetes version", params.get("version")),
        *instance_type_problems(params.get("instanceTypes")),
        *_scaling_problems(params.get("scalingConfig")),
        *_release_problems(params),
    ]
    update = params.get("updateConfig")
    if isinstance(update, dict) and len({"maxUnavailable", "maxUnavailablePercentage"} & update.keys()) != 1:
        found.append("update: exactly one of maxUnavailable and maxUnavailablePercentage is required")
    if template:
        found += [f"{name} belongs in the launch template" for name in ("diskSize", "remoteAccess") if name in params]
    if isinstance(template, dict) and len({"id", "name"} & template.keys()) != 1:
        found.append("launch template: exactly one of id and name is required")
    if _is_block(params) and not template:
        found.append("a Capacity Block wants a launch template")
    if _is_block(params) and "instanceTypes" in params:
        found.append("the instance type of a Capacity Block belongs in the launch template")
    return found


def _release_problems(params: Mapping[str, Any]) -> list[str]:
    """EKS: "Requested release version ... is not valid for kubernetes version ..."; Bottlerocket's are for all."""
    release, version, image = (params.get(name) for name in ("releaseVersion", "version", "amiType"))
    if not isinstance(release, str) or not isinstance(version, str) or "BOTTLEROCKET" in str(image):
        return []
    return [] if release.startswith(f"{version}.") else [f"release {release} is not one of Kubernetes {version}"]


def _scaling_problems(scaling: Any) -> list[str]:
    if not isinstance(scaling, dict):
        return []
    sizes = [scaling.get(name) for name in ("minSize", "desiredSize", "maxSize")]
    if all(isinstance(size, int) for size in sizes) and sizes != sorted(sizes, key=int):  # type: ignore[arg-type]
        return [f"scaling: found {scaling}, allowed is minSize <= desiredSize <= maxSize"]
    return []


KINDS: Mapping[str, Planner] = {"aws:eks/nodeGroup:NodeGroup": node_group}
