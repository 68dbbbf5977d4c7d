"""Resources of a run that still exist in the account."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from acceptance.project import TAG

_DELETED = ("deleting", "deleted")
_LEAST_DAYS = 7
"""The shortest time after which KMS deletes a key (AWS KMS API, ScheduleKeyDeletion)."""


class Leftover(NamedTuple):
    """A resource that still exists."""

    kind: str
    id: str


def leftovers(cluster: str, since: datetime, client: Callable[[str], Any]) -> list[Leftover]:
    """Return what exists of a cluster, and of what controllers created for it.

    The tagging API lists resources for some time after their deletion and does not know every service, so services
    with resources that cost money are queried directly.

    Args:
        cluster: Name of the cluster.
        since: When the run started.
        client: Returns the boto3 client of a service.
    """
    ec2 = client("ec2")
    found = {
        *_ec2(cluster, ec2),
        *_nat_gateways(cluster, ec2),
        *_tagged(cluster, client),
        *_roles(cluster, since, client("iam")),
    }
    if cluster in _all(client("eks"), "list_clusters", "clusters"):
        found.add(Leftover("EKS cluster", cluster))
    for group in _all(client("logs"), "describe_log_groups", "logGroups", logGroupNamePrefix=f"/aws/eks/{cluster}/"):
        found.add(Leftover("log group", group["logGroupName"]))
    return sorted(found)


def delete_keys(cluster: str, client: Callable[[str], Any]) -> list[str]:
    """Schedule the deletion of the keys of a run, which a destroy keeps on purpose; return their ARNs."""
    tag = {"Key": TAG, "Values": [cluster]}
    resources = _all(
        client("resourcegroupstaggingapi"),
        "get_resources",
        "ResourceTagMappingList",
        TagFilters=[tag],
        ResourceTypeFilters=["kms:key"],
    )
    kms = client("kms")
    keys = [item["ResourceARN"] for item in resources if not _is_scheduled(kms, item["ResourceARN"])]
    for key in keys:
        kms.schedule_key_deletion(KeyId=key.rpartition("/")[2], PendingWindowInDays=_LEAST_DAYS)
    return keys


def _ec2(cluster: str, ec2: Any) -> Iterator[Leftover]:  # noqa: ANN401  of boto3
    # Pulumi tags what it creates; the node group, the network plugin and the drivers tag what they create.
    tags = [
        (f"tag:{TAG}", cluster),
        (f"tag:kubernetes.io/cluster/{cluster}", "owned"),
        ("tag:elbv2.k8s.aws/cluster", cluster),
        ("tag:eks:cluster-name", cluster),
        ("tag:cluster.k8s.amazonaws.com/name", cluster),
        ("tag:KubernetesCluster", cluster),
    ]
    for name, value in tags:
        filters = [{"Name": name, "Values": [value]}]
        for reservation in _all(ec2, "describe_instances", "Reservations", Filters=filters):
            for instance in reservation["Instances"]:
                if instance["State"]["Name"] != "terminated":
                    yield Leftover("instance", instance["InstanceId"])
        for kind, operation, key, identifier in (
            ("volume", "describe_volumes", "Volumes", "VolumeId"),
            ("network interface", "describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"),
            ("security group", "describe_security_groups", "SecurityGroups", "GroupId"),
            ("subnet", "describe_subnets", "Subnets", "SubnetId"),
            ("VPC", "describe_vpcs", "Vpcs", "VpcId"),
            ("launch template", "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
        ):
            for item in _all(ec2, operation, key, Filters=filters):
                yield Leftover(kind, item[identifier])
        for address in ec2.describe_addresses(Filters=filters)["Addresses"]:
            yield Leftover("address", address["AllocationId"])


def _nat_gateways(cluster: str, ec2: Any) -> Iterator[Leftover]:  # noqa: ANN401  of boto3
    """Yield those with the tag; deleted ones are listed for an hour."""
    for gateway in _all(ec2, "describe_nat_gateways", "NatGateways"):
        if {"Key": TAG, "Value": cluster} in gateway.get("Tags", []) and gateway["State"] not in _DELETED:
            yield Leftover("NAT gateway", gateway["NatGatewayId"])


def _tagged(cluster: str, client: Callable[[str], Any]) -> Iterator[Leftover]:
    tagging = client("resourcegroupstaggingapi")
    for name in (TAG, "elbv2.k8s.aws/cluster"):
        tag = {"Key": name, "Values": [cluster]}
        for item in _all(tagging, "get_resources", "ResourceTagMappingList", TagFilters=[tag]):
            arn = item["ResourceARN"]
            service = arn.split(":")[2]
            if service in ("ec2", "eks"):
                continue
            # A key can only be scheduled for deletion; until then it costs nothing.
            if service == "kms" and _is_scheduled(client("kms"), arn):
                continue
            yield Leftover(service, arn)


def _is_scheduled(kms: Any, key: str) -> bool:  # noqa: ANN401  of boto3
    return bool(kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "PendingDeletion")


def _roles(cluster: str, since: datetime, iam: Any) -> Iterator[Leftover]:  # noqa: ANN401  of boto3
    """Yield roles with the tag. The tagging API has no roles, and ``list_roles`` returns no tags."""
    for role in _all(iam, "list_roles", "Roles"):
        if role["CreateDate"] >= since:
            tags = iam.list_role_tags(RoleName=role["RoleName"])["Tags"]
            if {"Key": TAG, "Value": cluster} in tags:
                yield Leftover("IAM role", role["RoleName"])


def _all(client: Any, operation: str, key: str, **arguments: Any) -> Iterator[Any]:  # noqa: ANN401  of boto3
    for page in client.get_paginator(operation).paginate(**arguments):
        yield from page[key]
