"""The requests of single instances."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.requests.network import ec2_arn, groups_exist, subnets_exist, tagged
from tests.clouds.aws.requests.plan import From, Given, Plan, Planner, Request, drop_empty, lookup


def instance(given: Given) -> Plan:
    """One instance; what its template says is not said again."""
    made = From("Instances[0].InstanceId")
    template = given.block("launchTemplate", lambda block: block.members(LaunchTemplateId="id", Version="version"))
    groups, subnet, profile = given.get("vpcSecurityGroupIds"), given.get("subnetId"), given.get("iamInstanceProfile")
    members = given.members(ImageId="ami", InstanceType="instanceType")
    wanted = {"LaunchTemplate": template, "SecurityGroupIds": groups, "SubnetId": subnet}
    wanted["IamInstanceProfile"] = {"Name": profile} if profile is not None else None
    there = "Reservations[].Instances[?State.Name!='terminated'][]"
    return Plan(
        create=Request(
            "ec2",
            "RunInstances",
            {
                "MinCount": 1,
                "MaxCount": 1,
                **members,
                **drop_empty(wanted),
                **_all_tagged(given.get("tags"), given.get("volumeTags")),
            },
        ),
        id=made,
        outputs={"arn": ec2_arn("instance"), "privateIp": From("Instances[0].PrivateIpAddress")},
        find=lookup("ec2", "DescribeInstances", there, InstanceIds=[made]),
        delete=[Request("ec2", "TerminateInstances", {"InstanceIds": [made]})],
        needs=[
            *groups_exist(groups),
            *subnets_exist([subnet] if subnet else None),
            *(
                [lookup("iam", "GetInstanceProfile", "InstanceProfile", InstanceProfileName=profile)]
                if profile
                else []
            ),
        ],
        problems=[] if members.get("ImageId") or template else ["an instance has an image or a launch template"],
    )


def _all_tagged(instance_tags: Any, volume_tags: Any) -> dict[str, Any]:
    """Return the tags of an instance and of its volumes, which are set at once when it is launched."""
    both = (tagged("instance", instance_tags), tagged("volume", volume_tags))
    specifications = [entry for each in both for entry in each.get("TagSpecifications", ())]
    return {"TagSpecifications": specifications} if specifications else {}


KINDS: Mapping[str, Planner] = {"aws:ec2/instance:Instance": instance}
