"""The requests of log groups, events and queues."""

import json
from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import RETENTION_DAYS, choice_problems, pattern_problems
from tests.clouds.aws.models.policies import RESOURCE, policy_problems
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Plan,
    Planner,
    Request,
    Text,
    drop_empty,
    key_values,
    known,
    lookup,
    within,
)
from workbench.engine.values import UNKNOWN


def log_group(given: Given) -> Plan:
    name, days = given.name(), given.get("retentionInDays")
    given.no_request("skipDestroy")
    return Plan(
        create=Request(
            "logs",
            "CreateLogGroup",
            {
                "logGroupName": name,
                **given.members(kmsKeyId="kmsKeyId", logGroupClass="logGroupClass"),
                **given.members(deletionProtectionEnabled="deletionProtectionEnabled", tags="tags"),
            },
        ),
        # The provider's 0 is AWS's never.
        then=[Request("logs", "PutRetentionPolicy", {"logGroupName": name, "retentionInDays": days})] if days else [],
        id=name,
        outputs={"name": name, "arn": Text("arn:{partition}:logs:{region}:{account}:log-group:{id}")},
        find=lookup("logs", "DescribeLogGroups", f"logGroups[?logGroupName=='{name}']", logGroupNamePrefix=name),
        delete=[Request("logs", "DeleteLogGroup", {"logGroupName": name})],
        problems=choice_problems("retention", days, (0, *RETENTION_DAYS)),
    )


def event_rule(given: Given) -> Plan:
    name, pattern, enabled = given.name(), given.get("eventPattern"), given.get("isEnabled")
    bus = given.members(EventBusName="eventBusName")
    state = (
        {} if enabled is None else {"State": UNKNOWN if not known(enabled) else "ENABLED" if enabled else "DISABLED"}
    )
    members = given.members(
        State="state", Description="description", ScheduleExpression="scheduleExpression", RoleArn="roleArn"
    )
    given.no_request("forceDestroy")
    tags = given.get("tags")
    return Plan(
        create=Request(
            "events",
            "PutRule",
            {
                "Name": name,
                **bus,
                **state,
                **members,
                **drop_empty({"EventPattern": pattern, "Tags": key_values(tags)}),
            },
        ),
        id=f"{bus['EventBusName']}/{name}" if bus else name,
        outputs={"name": name, "arn": From("RuleArn")},
        find=lookup("events", "ListRules", f"Rules[?Name=='{name}']", **bus),
        delete=[Request("events", "DeleteRule", {"Name": name, **bus})],
        problems=_event_pattern_problems(pattern),
    )


def _event_pattern_problems(pattern: Any) -> list[str]:
    if pattern is None or not known(pattern):
        return []
    try:
        fields = json.loads(pattern)
    except (TypeError, ValueError) as error:
        return [f"event pattern is not JSON: {error}"]
    if not (isinstance(fields, dict) and fields):
        return [f"event pattern: found {fields!r}, allowed is an object with fields"]
    # Whatever a field may be has to be written as a list, else EventBridge refuses the pattern.
    return [
        f"event pattern: {name} is {value!r}, allowed are lists and objects"
        for name, value in fields.items()
        if not isinstance(value, list | dict) or not value
    ]


def event_target(given: Given) -> Plan:
    rule, arn = given.id("rule", "arn")
    bus = given.members(EventBusName="eventBusName")
    target_id = given.get("targetId") or given.name("target")
    target = {
        "Id": target_id,
        "Arn": arn,
        **given.members(RoleArn="roleArn", Input="input", InputPath="inputPath"),
        **drop_empty(
            {
                "RetryPolicy": given.block(
                    "retryPolicy",
                    lambda block: block.members(
                        MaximumRetryAttempts="maximumRetryAttempts",
                        MaximumEventAgeInSeconds="maximumEventAgeInSeconds",
                    ),
                ),
                "DeadLetterConfig": given.block("deadLetterConfig", lambda block: block.members(Arn="arn")),
                "SqsParameters": given.block(
                    "sqsTarget", lambda block: block.members(MessageGroupId="messageGroupId")
                ),
            }
        ),
    }
    given.no_request("forceDestroy")
    return Plan(
        create=Request("events", "PutTargets", {"Rule": rule, **bus, "Targets": [target]}),
        id=f"{rule}-{target_id}",
        outputs={"targetId": target_id},
        find=lookup("events", "ListTargetsByRule", f"Targets[?Id=='{target_id}']", Rule=rule, **bus),
        delete=[Request("events", "RemoveTargets", {"Rule": rule, **bus, "Ids": [target_id]})],
        needs=_queue_exists(arn),
    )


def _queue_exists(arn: Any) -> list[Any]:
    if not isinstance(arn, str) or ":sqs:" not in arn:
        return []
    return [lookup("sqs", "GetQueueUrl", "QueueUrl", QueueName=arn.rpartition(":")[2])]


_QUEUE_ATTRIBUTES = {
    "DelaySeconds": ("delaySeconds", 0, 900),
    "MaximumMessageSize": ("maxMessageSize", 1024, 1048576),
    "MessageRetentionPeriod": ("messageRetentionSeconds", 60, 1209600),
    "ReceiveMessageWaitTimeSeconds": ("receiveWaitTimeSeconds", 0, 20),
    "VisibilityTimeout": ("visibilityTimeoutSeconds", 0, 43200),
    "KmsDataKeyReusePeriodSeconds": ("kmsDataKeyReusePeriodSeconds", 60, 86400),
}
"""SQS, CreateQueue: attribute, the provider's input, and the documented bounds; all are sent as texts."""


def queue(given: Given) -> Plan:
    made = From("QueueUrl")
    name, policy = given.name(), given.get("policy")
    numbers = {attribute: (given.get(wire), low, high) for attribute, (wire, low, high) in _QUEUE_ATTRIBUTES.items()}
    others = given.members(
        KmsMasterKeyId="kmsMasterKeyId",
        SqsManagedSseEnabled="sqsManagedSseEnabled",
        FifoQueue="fifoQueue",
        ContentBasedDeduplication="contentBasedDeduplication",
        RedrivePolicy="redrivePolicy",
    )
    attributes = {
        **{attribute: _text(value) for attribute, (value, _, _) in numbers.items() if value is not None},
        **{attribute: _text(value) for attribute, value in others.items()},
        **drop_empty({"Policy": policy}),
    }
    flags = ("SqsManagedSseEnabled", "FifoQueue", "ContentBasedDeduplication")
    outside = [problem for flag in flags for problem in choice_problems(flag, others.get(flag), (True, False))]
    outside += [
        f"{attribute}: found {value}, allowed are {low} to {high}"
        for attribute, (value, low, high) in numbers.items()
        if not within(low, value, high)
    ]
    return Plan(
        create=Request(
            "sqs",
            "CreateQueue",
            {"QueueName": name, **drop_empty({"Attributes": attributes, "tags": given.get("tags")})},
        ),
        id=made,
        outputs={"name": name, "url": made, "arn": Text(f"arn:{{partition}}:sqs:{{region}}:{{account}}:{name}")},
        find=lookup("sqs", "ListQueues", "QueueUrls", QueueNamePrefix=name),
        delete=[Request("sqs", "DeleteQueue", {"QueueUrl": made})],
        problems=[*pattern_problems("queue name", name), *outside, *policy_problems(RESOURCE, policy)],
    )


def _text(value: Any) -> Any:
    if not known(value):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def queue_policy(given: Given) -> Plan:
    (url,) = given.id("queueUrl")
    policy = given.get("policy")
    return Plan(
        create=Request("sqs", "SetQueueAttributes", {"QueueUrl": url, "Attributes": {"Policy": policy}}),
        id=url,
        find=lookup("sqs", "GetQueueAttributes", "Attributes.Policy", QueueUrl=url, AttributeNames=["Policy"]),
        delete=[Request("sqs", "SetQueueAttributes", {"QueueUrl": url, "Attributes": {"Policy": ""}})],
        problems=policy_problems(RESOURCE, policy),
    )


KINDS: Mapping[str, Planner] = {
    "aws:cloudwatch/logGroup:LogGroup": log_group,
    "aws:cloudwatch/eventRule:EventRule": event_rule,
    "aws:cloudwatch/eventTarget:EventTarget": event_target,
    "aws:sqs/queue:Queue": queue,
    "aws:sqs/queuePolicy:QueuePolicy": queue_policy,
}
