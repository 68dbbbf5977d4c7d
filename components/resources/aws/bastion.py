"""A bastion: Session Manager forwards a local port through it to the API server of a cluster.

Bastion
├── ec2.SecurityGroup, its egress rule  <name>, without ingress rules
├── vpc.SecurityGroupIngressRule        <name>-api, into the API server's security group
├── iam.Role + attachment               <name>
├── iam.InstanceProfile                 <name>
├── ec2.LaunchTemplate                  <name>
└── ec2.Instance                        <name>
"""

import pulumi
from pulumi_aws import ec2, iam, vpc

from ...clouds.aws.api_server import HTTPS
from ...clouds.aws.facts.iam import service_trust
from ...clouds.aws.nodes.launch import BASTION_DISK_GIB, BASTION_TYPE, Disk
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import BastionArgs
from .argument_problems import Problems, boundary_problems, region_problems, timeout_problems
from .parts.common import managed_policy, named, service_role
from .parts.node_groups import block_devices, metadata_options, tag_specifications
from .parts.waiting import waiting

_IMAGE = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64"
"""Parameter of the newest Amazon Linux, which includes the SSM agent. EC2 resolves it at launch (Amazon Linux 2023
user guide, "AL2023 on Amazon EC2"; EC2 user guide, "Use a Systems Manager parameter to find an AMI")."""
_DISK = Disk("/dev/xvda", BASTION_DISK_GIB)
_POLICY = "AmazonSSMManagedInstanceCore"


class Bastion(pulumi.ComponentResource):
    """Creates an instance that forwards ports to a private API server, for principals with ssm:StartSession.

    The instance accepts no inbound connections and has no SSH key; its role has only the permissions of the SSM
    agent. Clients of the forwarded port still need a token for the cluster.
    """

    instance_id: pulumi.Output[str]
    """ID of the instance, the target of sessions."""
    security_group_id: pulumi.Output[str]
    """ID of its security group."""

    def __init__(self, name: str, args: BastionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the instance.

        Raises:
            InvalidArguments: the arguments are incomplete or wrong; every problem is listed.
        """
        args = checked_args(name, args, BastionArgs, _problems)
        super().__init__(token("Bastion"), name, {}, waiting(opts, args.get("timeouts", {})))
        stack_tags = args.get("tags", {})
        tags, child = named(name, stack_tags), pulumi.ResourceOptions(parent=self)
        group = ec2.SecurityGroup(
            name,
            description="Forwards to the API server; nothing comes in",
            vpc_id=args["vpc_id"],
            tags=tags,
            opts=child,
        )
        egress = vpc.SecurityGroupEgressRule(
            name,
            security_group_id=group.id,
            cidr_ipv4="0.0.0.0/0",
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            description="Session Manager and the API server",
            tags=tags,
            opts=child,
        )
        ingress = vpc.SecurityGroupIngressRule(
            f"{name}-api",
            security_group_id=args["cluster_security_group_id"],
            referenced_security_group_id=group.id,
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            description="API server, from the bastion",
            tags=named(f"{name}-api", stack_tags),
            opts=child,
        )
        policies = [managed_policy(_POLICY, args["region"])]
        trust, boundary = service_trust("ec2.amazonaws.com"), args.get("permissions_boundary_arn", "")
        role, attached = service_role(name, trust, policies=policies, tags=stack_tags, parent=self, boundary=boundary)
        profile = iam.InstanceProfile(name, role=role.name, tags=tags, opts=child)
        # Only a launch template accepts the parameter of an image, and an instance launched from it is not replaced
        # when the parameter's value changes.
        template = ec2.LaunchTemplate(
            name,
            image_id=_IMAGE,
            instance_type=BASTION_TYPE,
            block_device_mappings=block_devices(_DISK),
            metadata_options=metadata_options(),
            tag_specifications=tag_specifications(tags),
            tags=tags,
            opts=child,
        )
        instance = ec2.Instance(
            name,
            launch_template=ec2.InstanceLaunchTemplateArgs(id=template.id, version="$Latest"),
            iam_instance_profile=profile.name,
            subnet_id=args["subnet_id"],
            vpc_security_group_ids=[group.id],
            tags=tags,
            volume_tags=tags,
            # The update itself may talk through this instance. Every change of the template, even of tags, is a new
            # version, for which the provider would replace the instance, also after a refresh. If another argument
            # replaces it, the new instance is created first, and the tunnel ends with the old one, last of all.
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[*attached, egress, ingress], ignore_changes=["launchTemplate.version"]
            ),
        )
        self.ready: list[pulumi.Resource] = [egress, ingress, instance]
        self.instance_id, self.security_group_id = instance.id, group.id
        self.register_outputs({"instanceId": self.instance_id, "securityGroupId": self.security_group_id})


def _problems(args: BastionArgs) -> Problems:
    yield from region_problems(args.get("region", ""))
    yield from timeout_problems(args)
    yield from boundary_problems(args)
    for key in ("vpc_id", "subnet_id", "cluster_security_group_id"):
        if key not in args:
            yield key, "is required"
