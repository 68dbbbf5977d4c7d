"""The requests of clusters of EKS and their add-ons."""

import json
from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models import shapes
from tests.clouds.aws.models.documented import choice_problems, pattern_problems
from tests.clouds.aws.requests.identity import role_exists
from tests.clouds.aws.requests.network import groups_exist, subnets_exist
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    Text,
    drop_empty,
    known,
    listed,
    lookup,
)
from workbench.engine.values import UNKNOWN


def request(operation: str, **params: Any) -> Request:
    return Request("eks", operation, params)


def cluster_exists(name: Any) -> list[Lookup]:
    return [lookup("eks", "DescribeCluster", "cluster", name=name)]


def cluster(given: Given) -> Plan:
    name, version = given.name(), given.get("version")
    role = given.get("roleArn")
    wanted = given.get("vpcConfig", {})
    network = given.block("vpcConfig", _vpc_config)
    subnets = listed(network.get("subnetIds")) if isinstance(network, dict) else []
    encryption = given.block("encryptionConfig", _encryption)
    # Where updates that need force are concerned.
    given.no_request("forceUpdateVersion")
    return Plan(
        create=request(
            "CreateCluster",
            name=name,
            roleArn=role,
            resourcesVpcConfig=network,
            **given.same("version", "tags", "bootstrapSelfManagedAddons", "deletionProtection"),
            **_cluster_blocks(given, encryption),
        ),
        # EKS makes a security group for the cluster and its nodes; moto does not.
        by_itself=_own_security_group(name, subnets),
        id=name,
        outputs=_cluster_outputs(name, wanted),
        find=cluster_exists(name)[0],
        delete=[
            request("DeleteCluster", name=name),
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


def _cluster_blocks(given: Given, encryption: Any) -> dict[str, Any]:
    logs = given.get("enabledClusterLogTypes")
    return drop_empty(
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
    )


def _own_security_group(name: Any, subnets: list[Any]) -> list[Request]:
    group = {
        "GroupName": Text(f"eks-cluster-{name}"),
        "Description": "EKS created security group applied to ENI",
        "VpcId": From("then[0].Subnets[0].VpcId"),
    }
    return [
        Request("ec2", "DescribeSubnets", {"SubnetIds": subnets[:1]}),
        Request("ec2", "CreateSecurityGroup", group),
    ]


def _cluster_outputs(name: Any, network: Any) -> dict[str, Any]:
    read = ("arn", "version", "endpoint", "status", "platformVersion", "createdAt")
    return {
        "name": name,
        "clusterId": name,
        **{key: From(f"cluster.{key}") for key in read},
        "certificateAuthority": {"data": From("cluster.certificateAuthority.data")},
        "identities": [{"oidcs": [{"issuer": From("cluster.identity.oidc.issuer")}]}],
        "vpcConfig": {
            **(network if isinstance(network, dict) else {}),
            "vpcId": From("then[0].Subnets[0].VpcId"),
            "clusterSecurityGroupId": From("then[1].GroupId"),
        },
    }


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


def addon(given: Given) -> Plan:
    cluster, name = given.id("clusterName", "addonName")
    values = given.get("configurationValues")
    conflicts = given.members(resolveConflicts="resolveConflictsOnCreate")
    later = given.members(resolveConflicts="resolveConflictsOnUpdate")
    pods = given.blocks("podIdentityAssociations", lambda block: block.same("roleArn", "serviceAccount"))
    given.no_request("preserve")
    which = {"clusterName": cluster, "addonName": name}
    return Plan(
        create=request(
            "CreateAddon",
            **which,
            **given.same("addonVersion", "serviceAccountRoleArn", "tags"),
            **conflicts,
            **drop_empty({"configurationValues": values, "podIdentityAssociations": pods}),
        ),
        id=f"{cluster}:{name}",
        outputs={"arn": Text(f"arn:{{partition}}:eks:{{region}}:{{account}}:addon/{cluster}/{name}/0")},
        find=lookup("eks", "DescribeAddon", "addon", **which),
        delete=[request("DeleteAddon", **which)],
        needs=[
            *cluster_exists(cluster),
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


KINDS: Mapping[str, Planner] = {
    "aws:eks/cluster:Cluster": cluster,
    "aws:eks/addon:Addon": addon,
}
