"""A small instance through which Session Manager forwards a port to the API server of a cluster.

Bastion
├── ec2.SecurityGroup, its egress rule  <name>, nothing comes in
├── vpc.SecurityGroupIngressRule        <name>-api, into the API server's security group
├── iam.Role + attachment               <name>
├── iam.InstanceProfile                 <name>
├── ec2.LaunchTemplate                  <name>
└── ec2.Instance                        <name>
"""

from typing import Any

import pulumi
from pulumi_aws import ec2, iam, vpc

from ....clouds.aws.api_server import HTTPS
from ....clouds.aws.nodes.launch import BASTION_DISK_GIB, BASTION_TYPE, Disk
from ...serving.arguments import checked_args
from ...serving.objects import token
from ..args import BastionArgs
from ..argument_problems import Problems, region_problems
from ..parts.launch_template import block_devices, metadata_options, tag_specifications
from ..parts.roles import managed_policy, named, service_role

_IMAGE = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64"
"""EC2 looks it up when the instance is launched: the newest Amazon Linux, which brings the agent (Amazon Linux 2023's
user guide, "AL2023 on Amazon EC2"; EC2's, "Use a Systems Manager parameter to find an AMI")."""
_DISK = Disk("/dev/xvda", BASTION_DISK_GIB)
_POLICY = "AmazonSSMManagedInstanceCore"


class Bastion(pulumi.ComponentResource):
    """Creates an instance that forwards ports to a private API server, for whom IAM allows ssm:StartSession.

    Nothing reaches it from outside, it has no key, and its role allows what the agent of Session Manager needs.
    Whoever forwards a port through it still needs a token of the cluster.
    """

    instance_id: pulumi.Output[str]
    """The instance, which is the target of sessions."""
    security_group_id: pulumi.Output[str]
    """Its security group."""

    def __init__(self, name: str, args: BastionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the instance.

        Raises:
            InvalidArguments: the arguments are incomplete or wrong; every problem is listed.
        """
        args = checked_args(name, args, BastionArgs, _problems)
        super().__init__(token("Bastion"), name, {}, opts)
        self._name, self._args, self._tags = name, args, args.get("tags", {})
        group = self._group()
        rules: list[pulumi.Resource] = [self._way_out(group), self._way_to_the_api(group)]
        instance = self._instance(group, rules)
        self.ready: list[pulumi.Resource] = [*rules, instance]
        self.instance_id, self.security_group_id = instance.id, group.id
        self.register_outputs({"instanceId": self.instance_id, "securityGroupId": self.security_group_id})

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _group(self) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self._name,
            description="Forwards to the API server; nothing comes in",
            vpc_id=self._args["vpc_id"],
            tags=named(self._name, self._tags),
            opts=self._child(),
        )

    def _way_out(self, group: ec2.SecurityGroup) -> vpc.SecurityGroupEgressRule:
        return vpc.SecurityGroupEgressRule(
            self._name,
            security_group_id=group.id,
            cidr_ipv4="0.0.0.0/0",
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            description="Session Manager and the API server",
            tags=named(self._name, self._tags),
            opts=self._child(),
        )

    def _way_to_the_api(self, group: ec2.SecurityGroup) -> vpc.SecurityGroupIngressRule:
        name = f"{self._name}-api"
        return vpc.SecurityGroupIngressRule(
            name,
            security_group_id=self._args["cluster_security_group_id"],
            referenced_security_group_id=group.id,
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            description="API server, from the bastion",
            tags=named(name, self._tags),
            opts=self._child(),
        )

    def _instance(self, group: ec2.SecurityGroup, rules: list[pulumi.Resource]) -> ec2.Instance:
        name, tags = self._name, named(self._name, self._tags)
        policies = [managed_policy(_POLICY, self._args["region"])]
        role, attached = service_role(name, "ec2.amazonaws.com", policies, self._tags, self)
        profile = iam.InstanceProfile(name, role=role.name, tags=tags, opts=self._child())
        template = self._template()
        return ec2.Instance(
            name,
            launch_template=ec2.InstanceLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            iam_instance_profile=profile.name,
            subnet_id=self._args["subnet_id"],
            vpc_security_group_ids=[group.id],
            tags=tags,
            opts=self._child(depends_on=[*attached, *rules]),
        )

    def _template(self) -> ec2.LaunchTemplate:
        """Only a template takes the name of an image that EC2 looks up, and stays what it is when that changes."""
        tags = named(self._name, self._tags)
        return ec2.LaunchTemplate(
            self._name,
            image_id=_IMAGE,
            instance_type=BASTION_TYPE,
            block_device_mappings=block_devices(_DISK),
            metadata_options=metadata_options(),
            tag_specifications=tag_specifications(tags),
            tags=tags,
            opts=self._child(),
        )


def _problems(args: BastionArgs) -> Problems:
    yield from region_problems(args.get("region", ""))
    for key in ("vpc_id", "subnet_id", "cluster_security_group_id"):
        if key not in args:
            yield key, "is required"
