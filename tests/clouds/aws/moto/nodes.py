"""The nodes of that program, in plain pulumi_aws."""

import base64
import json

from pulumi_aws import autoscaling, ec2, eks, iam, vpc

_TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)
_DISKS: list[ec2.LaunchTemplateBlockDeviceMappingArgsDict] = [
    {
        "device_name": "/dev/xvda",
        "ebs": {
            "volume_size": 300,
            "volume_type": "gp3",
            "encrypted": "true",
            "delete_on_termination": "true",
            "throughput": 500,
            "iops": 6000,
        },
    }
]


def nodes(network: ec2.Vpc, subnets: list[ec2.Subnet], cluster: eks.Cluster, role: iam.Role) -> None:
    template = _template(network)
    group = _gpu_group(subnets, cluster, role, template)
    _system_group(subnets, cluster, role)
    _schedule(group)
    _bastion(network, subnets)


def _bastion(network: ec2.Vpc, subnets: list[ec2.Subnet]) -> None:
    role = iam.Role("bastion", assume_role_policy=_TRUST)
    profile = iam.InstanceProfile("bastion", role=role.name, tags={"Name": "bastion"})
    group = ec2.SecurityGroup("bastion", vpc_id=network.id)
    template = ec2.LaunchTemplate("bastion", image_id="resolve:ssm:/an/image", instance_type="t4g.nano")
    ec2.Instance(
        "bastion",
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        iam_instance_profile=profile.name,
        subnet_id=subnets[0].id,
        vpc_security_group_ids=[group.id],
        tags={"Name": "bastion"},
    )


def _template(network: ec2.Vpc) -> ec2.LaunchTemplate:
    efa = ec2.SecurityGroup("efa", vpc_id=network.id)
    vpc.SecurityGroupIngressRule(
        "efa", security_group_id=efa.id, referenced_security_group_id=efa.id, ip_protocol="-1", tags={"Name": "efa"}
    )
    placement = ec2.PlacementGroup("gpu", strategy="cluster", tags={"Name": "gpu"})
    template = ec2.LaunchTemplate(
        "gpu",
        description="GPU nodes",
        update_default_version=True,
        image_id="ami-0123456789abcdef0",
        instance_type="p5.48xlarge",
        user_data=base64.b64encode(b"MIME-Version: 1.0").decode(),
        block_device_mappings=_DISKS,
        metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
        network_interfaces=_cards(efa),
        capacity_reservation_specification={
            "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
        },
        instance_market_options={"market_type": "capacity-block"},
        placement={"group_name": placement.name},
        monitoring={"enabled": True},
        tag_specifications=[{"resource_type": kind, "tags": {"Name": "gpu"}} for kind in ("instance", "volume")],
        tags={"Name": "gpu"},
    )
    ec2.LaunchTemplate("system", name="system-nodes", vpc_security_group_ids=[efa.id])
    return template


def _cards(group: ec2.SecurityGroup) -> list[ec2.LaunchTemplateNetworkInterfaceArgsDict]:
    return [
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa" if card == 0 else "efa-only",
            "security_groups": [group.id],
            "delete_on_termination": "true",
        }
        for card in range(4)
    ]


def _gpu_group(
    subnets: list[ec2.Subnet], cluster: eks.Cluster, role: iam.Role, template: ec2.LaunchTemplate
) -> eks.NodeGroup:
    return eks.NodeGroup(
        "gpu",
        cluster_name=cluster.name,
        node_group_name="gpu",
        node_role_arn=role.arn,
        subnet_ids=[subnets[0].id],
        ami_type="CUSTOM",
        capacity_type="CAPACITY_BLOCK",
        scaling_config={"min_size": 0, "desired_size": 0, "max_size": 4},
        update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
        labels={"accelerator": "h100"},
        node_repair_config={"enabled": True},
        tags={"Name": "gpu"},
    )


def _system_group(subnets: list[ec2.Subnet], cluster: eks.Cluster, role: iam.Role) -> None:
    eks.NodeGroup(
        "system",
        cluster_name=cluster.name,
        node_role_arn=role.arn,
        subnet_ids=[subnet.id for subnet in subnets],
        ami_type="AL2023_x86_64_STANDARD",
        instance_types=["m7i.large"],
        version="1.35",
        release_version="1.35.0-20260714",
        scaling_config={"min_size": 2, "desired_size": 2, "max_size": 3},
    )


def _schedule(group: eks.NodeGroup) -> None:
    scaled = group.resources[0].autoscaling_groups[0].name
    autoscaling.Tag(
        "gpu",
        autoscaling_group_name=scaled,
        tag={"key": "k8s.io/cluster-autoscaler/enabled", "value": "true", "propagate_at_launch": False},
    )
    autoscaling.Schedule(
        "gpu",
        scheduled_action_name="block-begins",
        autoscaling_group_name=scaled,
        start_time="2035-01-31T11:30:00Z",
        min_size=-1,
        desired_capacity=4,
        max_size=4,
    )
