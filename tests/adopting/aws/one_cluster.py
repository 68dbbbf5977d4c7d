"""One cluster, described in four ways: in an account in memory, by Terraform, by eksctl and by CloudFormation.

The forms follow Terraform's "JSON Output Format" and the resource pages of hashicorp/aws, eksctl's "Config file
schema", and the CloudFormation template reference.
"""

from collections.abc import Mapping
from typing import Any

NAME, REGION, ACCOUNT = "prod", "us-east-1", "123456789012"
VERSION = "1.35"
ZONES = ("us-east-1a", "us-east-1b")
PRIVATE, PUBLIC = ("private-a", "private-b"), ("public-a", "public-b")
GROUPS: tuple[Mapping[str, Any], ...] = (
    {
        "name": "a10g",
        "types": ["g5.2xlarge"],
        "capacity": "ON_DEMAND",
        "size": (1, 4),
        "labels": {"pool": "chat"},
        "taints": [("nvidia.com/gpu", "true", "NO_SCHEDULE"), ("team", "chat", "NO_SCHEDULE")],
        "subnets": PRIVATE,
        "ami": "AL2023_x86_64_NVIDIA",
    },
    {
        "name": "l4-spot",
        "types": ["g6.xlarge", "g6.2xlarge", "g6.4xlarge"],
        "capacity": "SPOT",
        "size": (0, 8),
        "labels": {},
        "taints": [],
        "subnets": PRIVATE[:1],
        "ami": "AL2023_x86_64_NVIDIA",
    },
    {
        "name": "system",
        "types": ["m7i.large"],
        "capacity": "ON_DEMAND",
        "size": (2, 4),
        "labels": {},
        "taints": [],
        "subnets": PRIVATE,
        "ami": "AL2023_x86_64_STANDARD",
    },
)
EFFECTS = {"NO_SCHEDULE": "NoSchedule"}
Ids = Mapping[str, str]
"""What AWS assigned: IDs by name, and the ARN of the role."""
SOME_IDS: Ids = {
    "vpc": "vpc-0123456789abcdef0",
    **{name: f"subnet-0123456789abcde{n:02x}" for n, name in enumerate((*PRIVATE, *PUBLIC))},
    "role": f"arn:aws:iam::{ACCOUNT}:role/nodes",
}


def zone_of(subnet: str) -> str:
    return f"{REGION}{subnet[-1]}"


def expected(ids: Ids) -> dict[str, Any]:
    """The settings by docs/tasks/adopt-aws.md."""
    return {
        "cloud": "aws",
        "region": REGION,
        "clusterName": NAME,
        "credentials": {"allowedAccountIds": [ACCOUNT]},
        "network": {"vpcId": ids["vpc"], "privateSubnets": {zone_of(name): ids[name] for name in PRIVATE}},
        "cluster": {"existing": True, "version": VERSION, "nodeRoleArn": ids["role"]},
        "gpuNodes": {
            "types": {
                "g5.2xlarge": {
                    "existingGroups": ["a10g"],
                    "capacity": "on-demand",
                    "minNodes": 1,
                    "maxNodes": 4,
                    "labels": {"pool": "chat"},
                    "taints": [{"key": "team", "value": "chat", "effect": "NoSchedule"}],
                },
                "g6.xlarge": {
                    "existingGroups": ["l4-spot"],
                    "capacity": "spot",
                    "zones": ["us-east-1a"],
                    "spotTypes": ["g6.2xlarge", "g6.4xlarge"],
                    "maxNodes": 8,
                },
            }
        },
        "prerequisites": {"install": False},
    }


def terraform(ids: Ids) -> dict[str, Any]:
    """The state of a root module with the network in a child module."""

    def resource(kind: str, name: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "address": f"{kind}.{name}",
            "mode": "managed",
            "type": kind,
            "name": name,
            "provider_name": "registry.terraform.io/hashicorp/aws",
            "schema_version": 0,
            "values": values,
            "sensitive_values": {},
            **more,
        }

    network = [
        resource("aws_vpc", "this", {"id": ids["vpc"], "cidr_block": "10.0.0.0/16", "ipv6_cidr_block": ""}),
        resource("aws_route_table", "public", {"id": "rtb-1", "vpc_id": ids["vpc"], "route": []}),
        resource("aws_route_table", "private", {"id": "rtb-2", "vpc_id": ids["vpc"], "route": [{"gateway_id": ""}]}),
        resource("aws_route", "out", {"route_table_id": "rtb-1", "gateway_id": "igw-1"}),
    ]
    for name in (*PRIVATE, *PUBLIC):
        table = "rtb-1" if name in PUBLIC else "rtb-2"
        values = {"id": ids[name], "vpc_id": ids["vpc"], "availability_zone": zone_of(name), "tags": None}
        network.append(resource("aws_subnet", name, {**values, "map_public_ip_on_launch": False}))
        association = {"subnet_id": ids[name], "route_table_id": table}
        network.append(resource("aws_route_table_association", name, association))
    cluster = {
        "name": NAME,
        "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{NAME}",
        "version": VERSION,
        "vpc_config": [{"vpc_id": ids["vpc"], "subnet_ids": [ids[name] for name in PRIVATE]}],
        "kubernetes_network_config": [{"ip_family": "ipv4"}],
        "identity": [{"oidc": [{"issuer": "https://oidc.eks.us-east-1.amazonaws.com/id/0AB"}]}],
    }
    groups = [
        resource(
            "aws_eks_node_group",
            group["name"],
            {
                "cluster_name": NAME,
                "node_group_name": group["name"],
                "instance_types": group["types"],
                "capacity_type": group["capacity"],
                "scaling_config": [{"min_size": group["size"][0], "max_size": group["size"][1], "desired_size": 2}],
                "labels": group["labels"] or None,
                "taint": [dict(zip(("key", "value", "effect"), taint, strict=True)) for taint in group["taints"]],
                "subnet_ids": [ids[name] for name in group["subnets"]],
                "node_role_arn": ids["role"],
                "ami_type": group["ami"],
                "launch_template": [],
            },
        )
        for group in GROUPS
    ]
    root = {
        "resources": [resource("aws_eks_cluster", "this", cluster), *groups, resource("null_resource", "x", {})],
        "child_modules": [
            {"address": "module.a", "child_modules": [{"address": "module.a.b", "resources": network}]}
        ],
    }
    return {"format_version": "1.0", "terraform_version": "1.14.0", "values": {"outputs": {}, "root_module": root}}


def eksctl(ids: Ids) -> dict[str, Any]:
    def group(of: Mapping[str, Any]) -> dict[str, Any]:
        one_type = {"instanceType": of["types"][0]} if len(of["types"]) == 1 else {"instanceTypes": of["types"]}
        taints = [{"key": key, "value": value, "effect": EFFECTS[effect]} for key, value, effect in of["taints"]]
        zones = sorted({zone_of(name) for name in of["subnets"]})
        return {
            "name": of["name"],
            **one_type,
            "minSize": of["size"][0],
            "maxSize": of["size"][1],
            "privateNetworking": True,
            **({"spot": True} if of["capacity"] == "SPOT" else {}),
            **({"labels": of["labels"]} if of["labels"] else {}),
            **({"taints": taints} if taints else {}),
            **({"availabilityZones": zones} if len(zones) == 1 else {}),
            "iam": {"instanceRoleARN": ids["role"]},
        }

    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {"name": NAME, "region": REGION, "version": VERSION},
        "vpc": {
            "id": ids["vpc"],
            "subnets": {
                "private": {zone_of(name): {"id": ids[name]} for name in PRIVATE},
                "public": {name: {"id": ids[name], "az": zone_of(name)} for name in PUBLIC},
            },
        },
        "managedNodeGroups": [group(each) for each in GROUPS],
    }


def cloudformation(ids: Ids) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A template, the description of its resources, and that of its stack."""
    physical = {
        "Vpc": ids["vpc"],
        "Cluster": NAME,
        "PublicTable": "rtb-1",
        "PrivateTable": "rtb-2",
        "Gateway": "igw-1",
    }
    resources: dict[str, Any] = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": {"Ref": "Range"}}},
        "Gateway": {"Type": "AWS::EC2::InternetGateway"},
        "PublicTable": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "PrivateTable": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Out": {
            "Type": "AWS::EC2::Route",
            "Properties": {"RouteTableId": {"Ref": "PublicTable"}, "GatewayId": {"Ref": "Gateway"}},
        },
    }
    for name in (*PRIVATE, *PUBLIC):
        logical, table = name.title().replace("-", ""), "PublicTable" if name in PUBLIC else "PrivateTable"
        physical[logical] = ids[name]
        zone = {"Fn::Sub": f"${{AWS::Region}}{name[-1]}"}
        properties = {"VpcId": {"Ref": "Vpc"}, "AvailabilityZone": zone}
        resources[logical] = {"Type": "AWS::EC2::Subnet", "Properties": properties}
        association = {"SubnetId": {"Ref": logical}, "RouteTableId": {"Ref": table}}
        resources[f"{logical}Table"] = {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": association}
    logical_of = {name: name.title().replace("-", "") for name in PRIVATE}
    resources["Cluster"] = {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "Name": {"Ref": "ClusterName"},
            "Version": VERSION,
            "ResourcesVpcConfig": {"SubnetIds": [{"Ref": logical_of[name]} for name in PRIVATE]},
        },
    }
    for group in GROUPS:
        logical = group["name"].title().replace("-", "")
        physical[logical] = f"{NAME}/{group['name']}"
        resources[logical] = {
            "Type": "AWS::EKS::Nodegroup",
            "Properties": {
                "ClusterName": {"Ref": "Cluster"},
                "InstanceTypes": group["types"],
                "CapacityType": group["capacity"],
                "ScalingConfig": {"MinSize": str(group["size"][0]), "MaxSize": group["size"][1]},
                "Labels": group["labels"],
                "Taints": [dict(zip(("Key", "Value", "Effect"), taint, strict=True)) for taint in group["taints"]],
                "Subnets": [{"Ref": logical_of[name]} for name in group["subnets"]],
                "NodeRole": {"Ref": "RoleArn"},
                "AmiType": group["ami"],
            },
        }
    stack_id = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/eks/0a1b"
    described = [
        {
            "StackName": "eks",
            "StackId": stack_id,
            "LogicalResourceId": logical,
            "PhysicalResourceId": id_,
            "ResourceType": resources[logical]["Type"],
        }
        for logical, id_ in physical.items()
    ]
    parameters = {"ClusterName": NAME, "RoleArn": ids["role"]}
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    return (
        {"Parameters": {name: {"Type": "String"} for name in (*parameters, "Range")}, "Resources": resources},
        {"StackResources": described},
        {"Stacks": [{"StackId": stack_id, "StackName": "eks", "Parameters": given}]},
    )


def create(client: Any) -> dict[str, str]:
    """Create the cluster in an account; return the IDs."""
    ec2, eks, iam = client("ec2"), client("eks"), client("iam")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ids = {"vpc": vpc}
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    for number, name in enumerate((*PRIVATE, *PUBLIC)):
        made = ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone_of(name))
        ids[name] = made["Subnet"]["SubnetId"]
        if name in PUBLIC:
            ec2.associate_route_table(RouteTableId=table, SubnetId=ids[name])
    ids["role"] = iam.create_role(RoleName="nodes", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    config = {"subnetIds": [ids[name] for name in PRIVATE]}
    eks.create_cluster(name=NAME, version=VERSION, roleArn=ids["role"], resourcesVpcConfig=config)
    for group in GROUPS:
        low, high = group["size"]
        eks.create_nodegroup(
            clusterName=NAME,
            nodegroupName=group["name"],
            scalingConfig={"minSize": low, "maxSize": high, "desiredSize": max(low, 1)},
            subnets=[ids[name] for name in group["subnets"]],
            instanceTypes=group["types"],
            amiType=group["ami"],
            nodeRole=ids["role"],
            labels=group["labels"],
            taints=[dict(zip(("key", "value", "effect"), taint, strict=True)) for taint in group["taints"]],
            capacityType=group["capacity"],
        )
    return ids
