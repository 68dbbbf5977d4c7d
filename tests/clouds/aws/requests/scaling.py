"""The requests of what hangs on Auto Scaling groups."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import pattern_problems, tag_problems
from tests.clouds.aws.requests.plan import (
    Given,
    Plan,
    Planner,
    Request,
    Text,
    known,
    lookup,
)


def autoscaling_tag(given: Given) -> Plan:
    (group,) = given.id("autoscalingGroupName")
    tag = given.block(
        "tag", lambda block: block.members(Key="key", Value="value", PropagateAtLaunch="propagateAtLaunch")
    )
    about = tag if isinstance(tag, dict) else {}
    key = about.get("Key")
    whole = {"ResourceId": group, "ResourceType": "auto-scaling-group", **about} if known(tag) else tag
    which = [{"Name": "auto-scaling-group", "Values": [group]}, {"Name": "key", "Values": [key]}]
    return Plan(
        create=Request("autoscaling", "CreateOrUpdateTags", {"Tags": [whole]}),
        id=f"{group},{key}",
        find=lookup("autoscaling", "DescribeTags", "Tags", Filters=which),
        delete=[Request("autoscaling", "DeleteTags", {"Tags": [whole]})],
        needs=[_auto_scaling_group(group)],
        problems=tag_problems({key: about.get("Value")}) if isinstance(key, str) else [],
    )


def schedule(given: Given) -> Plan:
    group, name = given.id("autoscalingGroupName", "scheduledActionName")
    sizes = given.members(MinSize="minSize", DesiredCapacity="desiredCapacity", MaxSize="maxSize")
    times = given.members(StartTime="startTime", EndTime="endTime")
    which = {"AutoScalingGroupName": group, "ScheduledActionName": name}
    return Plan(
        create=Request(
            "autoscaling",
            "PutScheduledUpdateGroupAction",
            {
                **which,
                **{member: size for member, size in sizes.items() if size != -1},  # -1: keep what there is
                **times,
                **given.members(Recurrence="recurrence", TimeZone="timeZone"),
            },
        ),
        id=name,
        outputs={
            "arn": Text("arn:{partition}:autoscaling:{region}:{account}:scheduledUpdateGroupAction:{id}"),
        },
        find=lookup(
            "autoscaling",
            "DescribeScheduledActions",
            "ScheduledUpdateGroupActions",
            AutoScalingGroupName=group,
            ScheduledActionNames=[name],
        ),
        delete=[Request("autoscaling", "DeleteScheduledAction", which)],
        needs=[_auto_scaling_group(group)],
        problems=[problem for time in times.values() for problem in pattern_problems("schedule time", time)],
    )


def _auto_scaling_group(name: Any) -> Any:
    return lookup("autoscaling", "DescribeAutoScalingGroups", "AutoScalingGroups", AutoScalingGroupNames=[name])


KINDS: Mapping[str, Planner] = {
    "aws:autoscaling/tag:Tag": autoscaling_tag,
    "aws:autoscaling/schedule:Schedule": schedule,
}
