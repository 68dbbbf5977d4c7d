"""Programs carried out in moto: what is right is made and deleted again, what is wrong is told."""

from collections.abc import Callable
from typing import Any

import jmespath  # type: ignore[import-untyped]
import pulumi
import pulumi_aws
import pytest
from pulumi_aws import eks, iam
from pulumi_kubernetes.core.v1 import ConfigMap

from tests.clouds.aws.moto.moto_cloud import UNSUPPORTED, MotoCloud
from tests.clouds.aws.moto.program import CLUSTER, REGION, everything, trust
from tests.clouds.aws.requests.kinds import KINDS
from tests.recorded import deploy

WHAT_THERE_IS = {
    "ec2": {
        "DescribeVpcs": "Vpcs[].VpcId",
        "DescribeSubnets": "Subnets[].SubnetId",
        "DescribeInternetGateways": "InternetGateways[].InternetGatewayId",
        "DescribeAddresses": "Addresses[].AllocationId",
        "DescribeNatGateways": "NatGateways[?State!='deleted'].NatGatewayId",
        "DescribeRouteTables": "RouteTables[].RouteTableId",
        "DescribeVpcEndpoints": "VpcEndpoints[?State!='deleted'].VpcEndpointId",
        "DescribeSecurityGroups": "SecurityGroups[].GroupId",
        "DescribeSecurityGroupRules": "SecurityGroupRules[].SecurityGroupRuleId",
        "DescribeLaunchTemplates": "LaunchTemplates[].LaunchTemplateId",
        "DescribeInstances": "Reservations[].Instances[?State.Name!='terminated'][].InstanceId",
    },
    "iam": {"ListRoles": "Roles[].RoleName", "ListInstanceProfiles": "InstanceProfiles[].InstanceProfileName"},
    "kms": {"ListAliases": "Aliases[].AliasName"},
    "logs": {"DescribeLogGroups": "logGroups[].logGroupName"},
    "events": {"ListRules": "Rules[].Name"},
    "sqs": {"ListQueues": "QueueUrls"},
    "eks": {"ListClusters": "clusters"},
    "fsx": {"DescribeFileSystems": "FileSystems[].FileSystemId"},
    "efs": {
        "DescribeFileSystems": "FileSystems[].FileSystemId",
        "DescribeAccessPoints": "AccessPoints[].AccessPointId",
    },
    "autoscaling": {
        "DescribeAutoScalingGroups": "AutoScalingGroups[].AutoScalingGroupName",
        "DescribeTags": "Tags[].Key",
        "DescribeScheduledActions": "ScheduledUpdateGroupActions[].ScheduledActionName",
    },
}
"""By operations that the harness mostly does not use itself."""


def inventory(cloud: MotoCloud) -> dict[str, set[str]]:
    return {
        operation: set(jmespath.search(path, cloud.client(service)._make_api_call(operation, {})) or [])
        for service, operations in WHAT_THERE_IS.items()
        for operation, path in operations.items()
    }


def carried_out(cloud: MotoCloud, program: Callable[[], Any]) -> list[str]:
    deploy(lambda: void(program()), mock=cloud)
    return cloud.problems


def void(_: object) -> None:
    """Return nothing: what a program returns is awaited."""


def test_everything_is_made_and_deleted_again(cloud):
    before = inventory(cloud)
    recorded = deploy(everything, mock=cloud)
    assert cloud.problems == []
    assert {entry.type for entry in recorded.graph} == set(KINDS)
    assert cloud.unsupported == UNSUPPORTED
    assert {made.key for made in cloud.created} == {entry.key for entry in recorded.graph}
    assert all(cloud.exists(made) for made in cloud.created)
    during = inventory(cloud)
    changed = {operation for operation in before if during[operation] > before[operation]}
    assert changed == before.keys()
    assert cloud.destroy() == []
    assert cloud.created == []
    assert inventory(cloud) == before


def test_what_is_made_refers_to_what_was_made_before(cloud):
    recorded = deploy(everything, mock=cloud)
    position = {made.key: index for index, made in enumerate(cloud.created)}
    for entry in recorded.graph:
        for other in entry.dependencies:
            if entry.key in position and other in position:
                assert position[other] < position[entry.key]


def test_the_outputs_are_those_of_what_is_there(cloud):
    exports = deploy(everything, mock=cloud).exports
    cluster = cloud.client("eks").describe_cluster(name=CLUSTER)["cluster"]
    assert exports["endpoint"] == cluster["endpoint"]
    assert exports["authority"] == cluster["certificateAuthority"]["data"]
    assert exports["issuer"] == cluster["identity"]["oidc"]["issuer"]
    groups = cloud.client("ec2").describe_security_groups(GroupIds=[exports["securityGroup"]])["SecurityGroups"]
    assert groups[0]["GroupName"] == f"eks-cluster-{CLUSTER}"


def test_tags_and_schedules_are_on_the_group_of_the_nodes(cloud):
    deploy(everything, mock=cloud)
    nodes = cloud.client("eks").describe_nodegroup(clusterName=CLUSTER, nodegroupName="gpu")["nodegroup"]
    name = nodes["resources"]["autoScalingGroups"][0]["name"]
    client = cloud.client("autoscaling")
    (group,) = client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    assert [tag["Key"] for tag in group["Tags"]] == ["k8s.io/cluster-autoscaler/enabled"]
    assert group["MaxSize"] == 4
    (action,) = client.describe_scheduled_actions(AutoScalingGroupName=name)["ScheduledUpdateGroupActions"]
    assert (action["DesiredCapacity"], action["StartTime"].year) == (4, 2035)


def test_a_launch_template_arrives_whole(cloud):
    deploy(everything, mock=cloud)
    (template,) = [made for made in cloud.created if made.key == "aws:ec2/launchTemplate:LaunchTemplate::gpu"]
    answer = cloud.client("ec2").describe_launch_template_versions(LaunchTemplateId=template.id, Versions=["1"])
    data = answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    assert [item["InterfaceType"] for item in data["NetworkInterfaces"]] == ["efa", *["efa-only"] * 3]
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert data["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True


def test_a_cluster_is_read_by_its_id(cloud):
    deploy(everything, mock=cloud)

    def reading():
        pulumi.export("endpoint", eks.Cluster.get("known", CLUSTER).endpoint)

    endpoint = cloud.client("eks").describe_cluster(name=CLUSTER)["cluster"]["endpoint"]
    assert deploy(reading, mock=cloud).exports == {"endpoint": endpoint}
    with pytest.raises(AssertionError, match="other is looked up and is not there"):
        deploy(lambda: pulumi.export("other", eks.Cluster.get("other", "other").endpoint), mock=cloud)


def test_providers_components_and_kubernetes_echo(cloud):
    def program():
        provider = pulumi_aws.Provider("aws", region=REGION, skip_credentials_validation=True)
        above = pulumi.ComponentResource("inference-platform:index:Thing", "thing")
        iam.Role(
            "nodes",
            assume_role_policy=trust("ec2.amazonaws.com"),
            opts=pulumi.ResourceOptions(parent=above, provider=provider),
        )
        pulumi.export("data", ConfigMap("settings", metadata={"name": "settings"}, data={"a": "b"}).data)

    assert deploy(program, mock=cloud).exports == {"data": {"a": "b"}}
    assert ([made.name for made in cloud.created], cloud.problems) == (["nodes"], [])


def test_secrets_are_sent_in_clear_and_stay_secret(cloud):
    def program():
        role = iam.Role(
            "nodes", description=pulumi.Output.secret("quiet"), assume_role_policy=trust("ec2.amazonaws.com")
        )
        pulumi.export("description", role.description)

    exports = deploy(program, mock=cloud).exports
    assert repr(exports["description"]) == "[secret]"
    (role,) = cloud.client("iam").list_roles()["Roles"]
    assert role["Description"] == "quiet"
