"""A record of the connections in a VPC."""

import json

from pulumi_aws import cloudwatch, ec2, iam

from ....clouds.aws.logs import DEFAULT_DAYS
from ....clouds.aws.words import Traffic
from ..args import FlowLogsArgs
from .labels import Labels
from .roles import partition

_ACTIONS = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
_API_TRAFFIC = {Traffic.ALL: "ALL", Traffic.ACCEPTED: "ACCEPT", Traffic.REJECTED: "REJECT"}


def flow_logs(vpc: ec2.Vpc, args: FlowLogsArgs, region: str, label: Labels) -> ec2.FlowLog:
    """Register the record of a VPC, and the role that writes it and nothing else.

    The log group is ours, so the role need not create one as the documented policy would let it (Amazon VPC User
    Guide, "IAM role for publishing flow logs to CloudWatch Logs").
    """
    name = label.called("flow-logs")
    group = cloudwatch.LogGroup(
        name,
        name=f"/aws/vpc/{label.cluster}/flow-logs",
        retention_in_days=args.get("retention_days", DEFAULT_DAYS),
        tags=label.tags("flow-logs"),
        opts=label.child(),
    )
    role = iam.Role(
        name,
        description=f"Writes the flow logs of the VPC of {label.cluster}",
        assume_role_policy=vpc.owner_id.apply(lambda account: _trust(account, region)),
        tags=label.tags("flow-logs"),
        opts=label.child(),
    )
    policy = iam.RolePolicy(name, role=role.name, policy=group.arn.apply(_policy), opts=label.child())
    return ec2.FlowLog(
        name,
        vpc_id=vpc.id,
        traffic_type=_API_TRAFFIC[Traffic(args["traffic"])],
        log_destination=group.arn,
        iam_role_arn=role.arn,
        tags=label.tags("flow-logs"),
        opts=label.child(policy),
    )


def _trust(account: str, region: str) -> str:
    """Let the service take the role for flow logs of this account alone, as the guide advises."""
    condition = {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnLike": {"aws:SourceArn": f"arn:{partition(region)}:ec2:{region}:{account}:vpc-flow-log/*"},
    }
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _policy(group_arn: str) -> str:
    """Allow to write to the streams of one log group; ``DescribeLogGroups`` has no narrower resource."""
    statements = [
        {"Effect": "Allow", "Action": list(_ACTIONS), "Resource": [group_arn, f"{group_arn}:*"]},
        {"Effect": "Allow", "Action": ["logs:DescribeLogGroups"], "Resource": ["*"]},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
