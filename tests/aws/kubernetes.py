"""The requests of EKS."""

import json
from collections.abc import Mapping
from typing import Any

from tests.aws import shapes
from tests.aws.documented import choice_problems, instance_type_problems, pattern_problems
from tests.aws.identity import role_exists
from tests.aws.network import groups_exist, subnets_exist
from tests.aws.plan import From, Given, Lookup, Plan, Planner, Request, Text, drop_empty, known, listed, lookup
from tests.aws.policies import IDENTITY, policy_problems
from workbench.engine.values import UNKNOWN

ACCESS_ENTRY_TYPES = (
    "STANDARD",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "FARGATE_LINUX",
    "EC2",
    "HYBRID_LINUX",
    "HYPERPOD_LINUX",
)
_RESERVED_GROUPS = ("system:", "eks:", "aws:", "amazon:", "iam:")


def _eks(operation: str, **params: Any) -> Request:
    return Request("eks", operation, params)


def _cluster_exists(name: Any) -> list[Lookup]:
    return [lookup("eks", "DescribeCluster", "cluster", name=name)]


def cluster(given: Given) -> Plan:
    name, version = given.name(), given.get("version")
    role = given.get("roleArn")
    wanted = given.get("vpcConfig", {})
    network = given.block("vpcConfig", _vpc_config)
    subnets = listed(network.get("subnetIds")) if isinstance(network, dict) else []
    encryption = given.block("encryptionConfig", _encryption)
    logs = given.get("enabledClusterLogTypes")
    # Where updates that need force are concerned.
    given.no_request("forceUpdateVersion")
    return Plan(
        create=_eks(
            "CreateCluster",
            name=name,
            roleArn=role,
            resourcesVpcConfig=network,
            **given.same("version", "tags", "bootstrapSelfManagedAddons", "deletionProtection"),
            **drop_empty(
                {
                    "accessConfig": given.block("accessConfig", _access_config),
                    "encryptionConfig": [encryption] if encryption else None,
                    "logging": {"clusterLogging": [{"types": logs, "enabled": True}]} if logs else None,
                    "upgradePolicy": given.block("upgradePolicy", lambda block: block.same("supportType")),
                    "kubernetesNetworkConfig": given.block("kubernetesNetworkConfig", _kubernetes_network),
                    "zonalShiftConfig": given.block("zonalShiftConfig", lambda block: block.same("enabled")),
                    "computeConfig": given.block("computeConfig", _compute_config),
                    "storageConfig": given.block("storageConfig", _storage_config),
                }
            ),
        ),
        # EKS makes a security group for the cluster and its nodes; moto does not.
        by_itself=[
            Request("ec2", "DescribeSubnets", {"SubnetIds": subnets[:1]}),
            Request(
                "ec2",
                "CreateSecurityGroup",
                {
                    "GroupName": Text(f"eks-cluster-{name}"),
                    "Description": "EKS created security group applied to ENI",
                    "VpcId": From("then[0].Subnets[0].VpcId"),
                },
            ),
        ],
        id=name,
        outputs={
            "name": name,
            "arn": From("cluster.arn"),
            "clusterId": name,
            "version": From("cluster.version"),
            "endpoint": From("cluster.endpoint"),
            "status": From("cluster.status"),
            "platformVersion": From("cluster.platformVersion"),
            "createdAt": From("cluster.createdAt"),
            "certificateAuthority": {"data": From("cluster.certificateAuthority.data")},
            "identities": [{"oidcs": [{"issuer": From("cluster.identity.oidc.issuer")}]}],
            "vpcConfig": {
                **(wanted if isinstance(wanted, dict) else {}),
                "vpcId": From("then[0].Subnets[0].VpcId"),
                "clusterSecurityGroupId": From("then[1].GroupId"),
            },
        },
        find=_cluster_exists(name)[0],
        delete=[
            _eks("DeleteCluster", name=name),
            Request("ec2", "DeleteSecurityGroup", {"GroupId": From("then[1].GroupId")}),
        ],
        needs=[
            *role_exists(role),
            *subnets_exist(subnets),
            *groups_exist(network.get("securityGroupIds") if isinstance(network, dict) else None),
            *_encryption_key(encryption),
        ],
        problems=[*pattern_problems("Kubernetes version", version), *_cluster_problems(subnets, encryption)],
    )


def _encryption_key(encryption: Any) -> list[Lookup]:
    key = encryption.get("provider", {}) if isinstance(encryption, dict) else {}
    arn = key.get("keyArn") if isinstance(key, dict) else None
    return [lookup("kms", "DescribeKey", "KeyMetadata", KeyId=arn)] if arn else []


def _cluster_problems(subnets: list[Any], encryption: Any) -> list[str]:
    found = []
    if len(subnets) == 1:
        found.append("a cluster wants subnets in two zones at least")
    if isinstance(encryption, dict) and encryption.get("resources") not in (["secrets"], UNKNOWN):
        found.append(f"encryption: found {encryption.get('resources')!r}, allowed is ['secrets']")
    return found


def _vpc_config(given: Given) -> dict[str, Any]:
    return given.same(
        *("subnetIds", "securityGroupIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs"),
    )


def _access_config(given: Given) -> dict[str, Any]:
    return given.same("authenticationMode", "bootstrapClusterCreatorAdminPermissions")


def _encryption(given: Given) -> dict[str, Any]:
    provider = given.block("provider", lambda block: block.same("keyArn"))
    return {**given.same("resources"), "provider": provider}


def _enabled(given: Given) -> dict[str, Any]:
    return given.same("enabled")


def _kubernetes_network(given: Given) -> dict[str, Any]:
    balancing = given.block("elasticLoadBalancing", _enabled)
    return {**given.same("serviceIpv4Cidr", "ipFamily"), **drop_empty({"elasticLoadBalancing": balancing})}


def _compute_config(given: Given) -> dict[str, Any]:
    return given.same("enabled", "nodePools", "nodeRoleArn")


def _storage_config(given: Given) -> dict[str, Any]:
    return drop_empty({"blockStorage": given.block("blockStorage", _enabled)})


def node_group(given: Given) -> Plan:
    (cluster,) = given.id("clusterName")
    name = given.name("nodeGroupName")
    role, subnets, tags = given.get("nodeRoleArn"), given.get("subnetIds"), given.get("tags")
    which = {"clusterName": cluster, "nodegroupName": name}
    blocks = {
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
    members = given.same(
        *("amiType", "capacityType", "instanceTypes", "labels", "diskSize", "version", "releaseVersion"),
    )
    given.no_request("forceUpdateVersion")
    create = _eks(
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
            _eks("DeleteNodegroup", **which),
            Request("autoscaling", "DeleteAutoScalingGroup", {"AutoScalingGroupName": scaled}),
            Request("ec2", "DeleteLaunchTemplate", {"LaunchTemplateName": scaled}),
        ],
        needs=[*role_exists(role), *subnets_exist(subnets), *_versions(blocks["launchTemplate"], "[]")],
        refused_if=_template_rules(create.params),
        problems=_node_group_problems(create.params),
    )


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


def _scaling_problems(scaling: Any) -> list[str]:
    if not isinstance(scaling, dict):
        return []
    sizes = [scaling.get(name) for name in ("minSize", "desiredSize", "maxSize")]
    if all(isinstance(size, int) for size in sizes) and sizes != sorted(sizes, key=int):  # type: ignore[arg-type]
        return [f"scaling: found {scaling}, allowed is minSize <= desiredSize <= maxSize"]
    return []


def addon(given: Given) -> Plan:
    cluster, name = given.id("clusterName", "addonName")
    values = given.get("configurationValues")
    conflicts = given.members(resolveConflicts="resolveConflictsOnCreate")
    later = given.members(resolveConflicts="resolveConflictsOnUpdate")
    pods = given.blocks("podIdentityAssociations", lambda block: block.same("roleArn", "serviceAccount"))
    given.no_request("preserve")
    which = {"clusterName": cluster, "addonName": name}
    return Plan(
        create=_eks(
            "CreateAddon",
            **which,
            **given.same("addonVersion", "serviceAccountRoleArn", "tags"),
            **conflicts,
            **drop_empty({"configurationValues": values, "podIdentityAssociations": pods}),
        ),
        id=f"{cluster}:{name}",
        outputs={"arn": Text(f"arn:{{partition}}:eks:{{region}}:{{account}}:addon/{cluster}/{name}/0")},
        find=lookup("eks", "DescribeAddon", "addon", **which),
        delete=[_eks("DeleteAddon", **which)],
        needs=[
            *_cluster_exists(cluster),
            *(found for pod in listed(pods, dict) for found in role_exists(pod.get("roleArn"))),
        ],
        problems=[
            # PRESERVE is for updates: there is nothing yet to preserve.
            *choice_problems("conflicts on create", conflicts.get("resolveConflicts"), ("NONE", "OVERWRITE")),
            *shapes.problems("eks", "UpdateAddon", {**which, **later}),
            *_configuration_problems(values),
        ],
    )


def _configuration_problems(values: Any) -> list[str]:
    if values is None or not known(values):
        return []
    try:
        configuration = json.loads(values)
    except (TypeError, ValueError) as error:
        return [f"configuration values are not JSON: {error}"]
    return [] if isinstance(configuration, dict) else [f"configuration values: found {configuration!r}"]


def access_entry(given: Given) -> Plan:
    cluster, principal = given.id("clusterName", "principalArn")
    kind, groups = given.get("type"), given.get("kubernetesGroups")
    which = {"clusterName": cluster, "principalArn": principal}
    reserved = [group for group in listed(groups, str) if group.startswith(_RESERVED_GROUPS)]
    problems = choice_problems("access entry type", kind, ACCESS_ENTRY_TYPES)
    problems += [f"Kubernetes group {group!r} is reserved" for group in reserved]
    if kind not in (None, "STANDARD", UNKNOWN) and groups:
        problems.append(f"an access entry of type {kind} has no groups of its own")
    return Plan(
        create=_eks(
            "CreateAccessEntry",
            **which,
            **drop_empty({"type": kind, "kubernetesGroups": groups}),
            **given.members(username="userName", tags="tags"),
        ),
        id=f"{cluster}:{principal}",
        outputs={
            "accessEntryArn": Text(f"arn:{{partition}}:eks:{{region}}:{{account}}:access-entry/{cluster}/role/0")
        },
        find=lookup("eks", "DescribeAccessEntry", "accessEntry", **which),
        delete=[_eks("DeleteAccessEntry", **which)],
        needs=_cluster_exists(cluster),  # the principal may well be from outside the program
        problems=problems,
    )


def access_policy_association(given: Given) -> Plan:
    cluster, principal, policy = given.id("clusterName", "principalArn", "policyArn")
    scope = given.block("accessScope", lambda block: block.same("type", "namespaces"))
    which = {"clusterName": cluster, "principalArn": principal}
    problems = []
    if isinstance(policy, str) and ":eks::aws:cluster-access-policy/" not in policy:
        problems.append(f"access policy: found {policy!r}, allowed is arn:aws:eks::aws:cluster-access-policy/...")
    if isinstance(scope, dict) and (scope.get("type") == "namespace") != bool(scope.get("namespaces")):
        problems.append(f"access scope: found {scope}, namespaces go with the type namespace")
    return Plan(
        create=_eks("AssociateAccessPolicy", **which, policyArn=policy, accessScope=scope),
        id=f"{cluster}#{principal}#{policy}",
        find=lookup(
            "eks", "ListAssociatedAccessPolicies", f"associatedAccessPolicies[?policyArn=='{policy}']", **which
        ),
        delete=[_eks("DisassociateAccessPolicy", **which, policyArn=policy)],
        needs=_cluster_exists(cluster),  # the principal may well be from outside the program
        problems=problems,
    )


def pod_identity_association(given: Given) -> Plan:
    made = From("association.associationId")
    cluster, role = given.get("clusterName"), given.get("roleArn")
    policy = given.get("policy")
    return Plan(
        create=_eks(
            "CreatePodIdentityAssociation",
            clusterName=cluster,
            roleArn=role,
            **given.same("namespace", "serviceAccount", "disableSessionTags", "targetRoleArn", "tags"),
            **drop_empty({"policy": policy}),
        ),
        id=made,
        outputs={"associationId": made, "associationArn": From("association.associationArn")},
        find=lookup("eks", "DescribePodIdentityAssociation", "association", clusterName=cluster, associationId=made),
        delete=[_eks("DeletePodIdentityAssociation", clusterName=cluster, associationId=made)],
        needs=[*_cluster_exists(cluster), *role_exists(role)],
        problems=policy_problems(IDENTITY, policy),
        answer={"association": {"associationId": "a-0123456789abcdef0", "associationArn": "arn:of-association"}},
    )


KINDS: Mapping[str, Planner] = {
    "aws:eks/cluster:Cluster": cluster,
    "aws:eks/nodeGroup:NodeGroup": node_group,
    "aws:eks/addon:Addon": addon,
    "aws:eks/accessEntry:AccessEntry": access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": access_policy_association,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": pod_identity_association,
}
