"""VPC flow logs in CloudWatch Logs."""

import json

from pulumi_aws import cloudwatch, ec2, iam

from ....clouds.aws.logs import DEFAULT_DAYS
from ....clouds.aws.words import Traffic
from ..args import FlowLogsArgs
from .common import Labels, partition

_ACTIONS = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
_API_TRAFFIC = {Traffic.ALL: "ALL", Traffic.ACCEPTED: "ACCEPT", Traffic.REJECTED: "REJECT"}


def flow_logs(vpc: ec2.Vpc, args: FlowLogsArgs, region: str, label: Labels, boundary: str = "") -> ec2.FlowLog:
    """Create the flow log of a VPC, its log group, and a role that may only write to that group.

    Args:
        vpc: The VPC.
        args: Arguments of the flow logs.
        region: AWS region.
        label: Names and tags of the component.
        boundary: ARN of the permissions boundary of the role; empty for none.
    """
    name, tags = label.logical("flow-logs"), label.tags("flow-logs")
    group = cloudwatch.LogGroup(
        name,
        name=f"/aws/vpc/{label.cluster}/flow-logs",
        retention_in_days=args.get("retention_days", DEFAULT_DAYS),
        kms_key_id=args.get("kms_key_arn"),
        tags=tags,
        opts=label.child(),
    )

    def trust(account: str) -> str:
        # The condition limits the service to flow logs of this account (Amazon VPC User Guide, "IAM role for
        # publishing flow logs to CloudWatch Logs").
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
            "Action": "sts:AssumeRole",
            "Condition": {
                "StringEquals": {"aws:SourceAccount": account},
                "ArnLike": {"aws:SourceArn": f"arn:{partition(region)}:ec2:{region}:{account}:vpc-flow-log/*"},
            },
        }
        return json.dumps({"Version": "2012-10-17", "Statement": [statement]})

    def permissions(group_arn: str) -> str:
        # Narrower than the documented policy: the group exists, so the role need not create one. DescribeLogGroups
        # accepts no narrower resource.
        statements = [
            {"Effect": "Allow", "Action": list(_ACTIONS), "Resource": [group_arn, f"{group_arn}:*"]},
            {"Effect": "Allow", "Action": ["logs:DescribeLogGroups"], "Resource": ["*"]},
        ]
        return json.dumps({"Version": "2012-10-17", "Statement": statements})

    role = iam.Role(
        name,
        description=f"Writes the flow logs of the VPC of {label.cluster}",
        assume_role_policy=vpc.owner_id.apply(trust),
        permissions_boundary=boundary or None,
        tags=tags,
        opts=label.child(),
    )
    policy = iam.RolePolicy(name, role=role.name, policy=group.arn.apply(permissions), opts=label.child())
    return ec2.FlowLog(
        name,
        vpc_id=vpc.id,
        traffic_type=_API_TRAFFIC[Traffic(args["traffic"])],
        log_destination=group.arn,
        iam_role_arn=role.arn,
        tags=tags,
        opts=label.child(policy),
    )
