"""AWS resources that Karpenter requires.

KarpenterAccess
├── iam.Role + attachments              <name>-node, the role of its nodes
├── eks.AccessEntry                     <name>-node
├── sqs.Queue, sqs.QueuePolicy          <name>-interruptions
└── cloudwatch.EventRule, EventTarget   <name>-<event>, one per kind of notice
"""

import json
from collections.abc import Mapping

import pulumi
from pulumi_aws import cloudwatch, eks, iam, sqs

from ...clouds.aws.names import SPOT_SERVICE
from ...clouds.aws.nodes.policies import node_policy_problems
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import KarpenterAccessArgs
from .argument_problems import Problems, boundary_problems, place_problems
from .parts.common import NODE_POLICIES, after, named, node_role

_EVENTS: Mapping[str, tuple[str, str]] = {
    "health": ("aws.health", "AWS Health Event"),
    "spot-interruption": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state-change": ("aws.ec2", "EC2 Instance State-change Notification"),
    "capacity-reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""Source and detail type of the events that Karpenter handles (its CloudFormation template)."""
_RETENTION_SECONDS = 300


class KarpenterAccess(pulumi.ComponentResource):
    """Creates the IAM role of Karpenter's nodes and its interruption queue.

    The outputs depend on the access entry and the event rules. Resources that use them, such as pools and Karpenter,
    are therefore deleted first: a node cannot be drained without its access entry. Does not create Karpenter's own
    identity (see Identities), and does not install it.
    """

    node_role_arn: pulumi.Output[str]
    """ARN of the nodes' IAM role."""
    node_role_name: pulumi.Output[str]
    """Name of the nodes' IAM role."""
    queue_arn: pulumi.Output[str]
    """ARN of the interruption queue."""
    queue_name: pulumi.Output[str]
    """Name of the interruption queue, for Karpenter's setting interruptionQueue."""

    def __init__(self, name: str, args: KarpenterAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create role, queue and rules.

        Raises:
            InvalidArguments: arguments are missing, unknown or wrong; every problem is listed.
        """
        args = checked_args(name, args, KarpenterAccessArgs, _problems)
        super().__init__(token("KarpenterAccess"), name, {}, opts)
        self._name, self._args = name, args
        self._tags = args.get("tags", {})
        policies = args.get("node_policies", NODE_POLICIES)
        boundary = args.get("permissions_boundary_arn", "")
        role, attached = node_role(
            f"{name}-node", policies, region=args["region"], tags=self._tags, parent=self, boundary=boundary
        )
        entry = eks.AccessEntry(
            f"{name}-node",
            cluster_name=args["cluster_name"],
            principal_arn=role.arn,
            type="EC2_LINUX",
            tags=named(f"{name}-node", self._tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        if args.get("create_spot_role"):
            # Other stacks of the account may use it too.
            options = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
            iam.ServiceLinkedRole(f"{name}-spot", aws_service_name=SPOT_SERVICE, opts=options)
        queue, policy = self._queue()
        targets = self._rules(queue)
        self.node_role_arn, self.node_role_name = after([entry, *attached], role.arn, role.name)
        self.queue_arn, self.queue_name = after([policy, *targets], queue.arn, queue.name)
        self.register_outputs(
            {
                "nodeRoleArn": self.node_role_arn,
                "nodeRoleName": self.node_role_name,
                "queueArn": self.queue_arn,
                "queueName": self.queue_name,
            }
        )

    def _queue(self) -> tuple[sqs.Queue, sqs.QueuePolicy]:
        name = f"{self._name}-interruptions"
        queue = sqs.Queue(
            name,
            name=f"{self._args['cluster_plain_name'][:65]}-karpenter",
            message_retention_seconds=_RETENTION_SECONDS,
            sqs_managed_sse_enabled=True,
            tags=named(name, self._tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        policy = sqs.QueuePolicy(
            name,
            queue_url=queue.url,
            policy=queue.arn.apply(_queue_policy),
            opts=pulumi.ResourceOptions(parent=self),
        )
        return queue, policy

    def _rules(self, queue: sqs.Queue) -> list[cloudwatch.EventTarget]:
        targets = []
        for event, (source, detail_type) in _EVENTS.items():
            name = f"{self._name}-{event}"
            rule = cloudwatch.EventRule(
                name,
                description=f"{detail_type}, for Karpenter of {self._args['cluster_plain_name']}",
                event_pattern=json.dumps({"source": [source], "detail-type": [detail_type]}),
                tags=named(name, self._tags),
                opts=pulumi.ResourceOptions(parent=self),
            )
            target = cloudwatch.EventTarget(
                name,
                rule=rule.name,
                target_id="karpenter",
                arn=queue.arn,
                opts=pulumi.ResourceOptions(parent=self),
            )
            targets.append(target)
        return targets


def _queue_policy(queue_arn: str) -> str:
    send = {
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": queue_arn,
    }
    insecure = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": queue_arn,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [send, insecure]})


def _problems(args: KarpenterAccessArgs) -> Problems:
    if "cluster_name" not in args:
        yield "cluster_name", "is required"
    yield from boundary_problems(args)
    yield from (("node_policies", reason) for reason in node_policy_problems(args.get("node_policies", ())))
    yield from place_problems("cluster_plain_name", args.get("cluster_plain_name", ""), args.get("region", ""))
