"""The requests of launch templates and placement groups."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import INTERFACE_TYPES, choice_problems, pattern_problems, tag_problems
from tests.clouds.aws.requests.network import ec2_arn, groups_exist, tagged
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    drop_empty,
    key_values,
    listed,
    lookup,
)

_USER_DATA_BYTES = 16 * 1024


def launch_template(given: Given) -> Plan:
    made = From("LaunchTemplate.LaunchTemplateId")
    name, tags = given.name(), given.get("tags")
    data = _template_data(given)
    # Which version is the default matters once there is a second one.
    updates = given.get("updateDefaultVersion")
    given.no_request("defaultVersion")
    return Plan(
        create=Request(
            "ec2",
            "CreateLaunchTemplate",
            {
                "LaunchTemplateName": name,
                "LaunchTemplateData": data,
                **given.members(VersionDescription="description"),
                **tagged("launch-template", tags),
            },
        ),
        id=made,
        outputs={
            "arn": ec2_arn("launch-template"),
            "name": name,
            "latestVersion": From("LaunchTemplate.LatestVersionNumber"),
            "defaultVersion": From("LaunchTemplate.DefaultVersionNumber"),
        },
        find=lookup("ec2", "DescribeLaunchTemplates", "LaunchTemplates", LaunchTemplateIds=[made]),
        delete=[Request("ec2", "DeleteLaunchTemplate", {"LaunchTemplateId": made})],
        needs=_groups_of(data),
        problems=[
            *pattern_problems("launch template name", name),
            *choice_problems("updates", updates, (True, False)),
            *_template_problems(data),
        ],
    )


def _groups_of(data: Mapping[str, Any]) -> list[Lookup]:
    interfaces = listed(data.get("NetworkInterfaces"), dict)
    return [
        *groups_exist(data.get("SecurityGroupIds")),
        *(need for item in interfaces for need in groups_exist(item.get("Groups"))),
    ]


def _template_data(given: Given) -> dict[str, Any]:
    return {
        **given.members(
            ImageId="imageId",
            InstanceType="instanceType",
            KeyName="keyName",
            UserData="userData",
            SecurityGroupIds="vpcSecurityGroupIds",
            DisableApiTermination="disableApiTermination",
            DisableApiStop="disableApiStop",
            InstanceInitiatedShutdownBehavior="instanceInitiatedShutdownBehavior",
            EbsOptimized="ebsOptimized",
        ),
        **drop_empty(
            {
                "BlockDeviceMappings": given.blocks("blockDeviceMappings", _block_device),
                "NetworkInterfaces": given.blocks("networkInterfaces", _network_interface),
                "MetadataOptions": given.block("metadataOptions", _metadata_options),
                "CapacityReservationSpecification": given.block("capacityReservationSpecification", _reservation),
                "InstanceMarketOptions": given.block("instanceMarketOptions", _market),
                "TagSpecifications": given.blocks("tagSpecifications", _tag_specification),
                "Placement": given.block("placement", _placement),
                "Monitoring": given.block("monitoring", lambda block: block.members(Enabled="enabled")),
                "CpuOptions": given.block(
                    "cpuOptions", lambda block: block.members(CoreCount="coreCount", ThreadsPerCore="threadsPerCore")
                ),
                "IamInstanceProfile": given.block(
                    "iamInstanceProfile", lambda block: block.members(Arn="arn", Name="name")
                ),
            }
        ),
    }


def _truth(params: dict[str, Any], *names: str) -> dict[str, Any]:
    """Turn texts into booleans: the provider has some as texts, to tell false from not set."""
    values = {"true": True, "false": False}
    return {
        name: values.get(value, value) if name in names and isinstance(value, str) else value
        for name, value in params.items()
    }


def _block_device(given: Given) -> dict[str, Any]:
    ebs = given.block("ebs", _ebs)
    return {
        **given.members(DeviceName="deviceName", VirtualName="virtualName", NoDevice="noDevice"),
        **drop_empty({"Ebs": ebs}),
    }


def _ebs(given: Given) -> dict[str, Any]:
    members = given.members(
        VolumeSize="volumeSize",
        VolumeType="volumeType",
        Iops="iops",
        Throughput="throughput",
        Encrypted="encrypted",
        KmsKeyId="kmsKeyId",
        SnapshotId="snapshotId",
        DeleteOnTermination="deleteOnTermination",
    )
    return _truth(members, "Encrypted", "DeleteOnTermination")


def _network_interface(given: Given) -> dict[str, Any]:
    members = given.members(
        NetworkCardIndex="networkCardIndex",
        DeviceIndex="deviceIndex",
        InterfaceType="interfaceType",
        Groups="securityGroups",
        SubnetId="subnetId",
        NetworkInterfaceId="networkInterfaceId",
        Description="description",
        DeleteOnTermination="deleteOnTermination",
        AssociatePublicIpAddress="associatePublicIpAddress",
    )
    return _truth(members, "DeleteOnTermination", "AssociatePublicIpAddress")


def _metadata_options(given: Given) -> dict[str, Any]:
    return given.members(
        HttpEndpoint="httpEndpoint",
        HttpTokens="httpTokens",
        HttpPutResponseHopLimit="httpPutResponseHopLimit",
        HttpProtocolIpv6="httpProtocolIpv6",
        InstanceMetadataTags="instanceMetadataTags",
    )


def _reservation(given: Given) -> dict[str, Any]:
    target = given.block(
        "capacityReservationTarget",
        lambda block: block.members(
            CapacityReservationId="capacityReservationId",
            CapacityReservationResourceGroupArn="capacityReservationResourceGroupArn",
        ),
    )
    return {
        **given.members(CapacityReservationPreference="capacityReservationPreference"),
        **drop_empty({"CapacityReservationTarget": target}),
    }


def _market(given: Given) -> dict[str, Any]:
    spot = given.block(
        "spotOptions",
        lambda block: block.members(
            MaxPrice="maxPrice",
            SpotInstanceType="spotInstanceType",
            InstanceInterruptionBehavior="instanceInterruptionBehavior",
        ),
    )
    return {**given.members(MarketType="marketType"), **drop_empty({"SpotOptions": spot})}


def _placement(given: Given) -> dict[str, Any]:
    return given.members(
        GroupName="groupName",
        GroupId="groupId",
        AvailabilityZone="availabilityZone",
        Tenancy="tenancy",
        PartitionNumber="partitionNumber",
    )


def _tag_specification(given: Given) -> dict[str, Any]:
    return {**given.members(ResourceType="resourceType"), "Tags": key_values(given.get("tags", {}))}


def _template_problems(data: Mapping[str, Any]) -> list[str]:
    found = [*_user_data_problems(data.get("UserData")), *_disk_problems(data)]
    interfaces = listed(data.get("NetworkInterfaces"), dict)
    if interfaces and "SecurityGroupIds" in data:
        found.append("security groups belong to the network interfaces where there are any")
    places = [(item.get("NetworkCardIndex", 0), item.get("DeviceIndex", 0)) for item in interfaces]
    found += [
        f"two network interfaces are at {place}" for place in sorted({p for p in places if places.count(p) > 1})
    ]
    for item in interfaces:
        found += choice_problems("interface type", item.get("InterfaceType"), INTERFACE_TYPES)
        if len(interfaces) > 1 and item.get("AssociatePublicIpAddress") is True:
            found.append("with several network interfaces none may have a public address")
    target = data.get("CapacityReservationSpecification", {})
    if isinstance(target, dict) and len(target) > 1:
        found.append("a capacity reservation has either a preference or a target")
    for specification in listed(data.get("TagSpecifications"), dict):
        found += tag_problems({tag["Key"]: tag["Value"] for tag in listed(specification.get("Tags"), dict)})
    return found


def _disk_problems(data: Mapping[str, Any]) -> list[str]:
    """What EC2 refuses of gp3 (EBS user guide), and the provider of throughput (ec2_launch_template.go)."""
    found = []
    for item in listed(data.get("BlockDeviceMappings"), dict):
        ebs = item.get("Ebs")
        if not isinstance(ebs, dict) or ebs.get("VolumeType") != "gp3":
            continue
        throughput, iops, size = ebs.get("Throughput", 125), ebs.get("Iops", 3000), ebs.get("VolumeSize", 1)
        if not all(isinstance(value, int) for value in (throughput, iops, size)):
            continue
        wrong = not 125 <= throughput <= 1000 or not 3000 <= iops <= 80_000
        if wrong or throughput * 4 > iops or (iops > 3000 and iops > size * 500):
            found.append(f"gp3 cannot have {throughput} MiB/s and {iops} IOPS on {size} GiB")
    return found


def _user_data_problems(text: Any) -> list[str]:
    if not isinstance(text, str):
        return []
    try:
        size = len(base64.b64decode(text, validate=True))
    except binascii.Error as error:
        return [f"user data is not base64: {error}"]
    return [f"user data has {size} bytes, {_USER_DATA_BYTES} are allowed"] if size > _USER_DATA_BYTES else []


def placement_group(given: Given) -> Plan:
    name = given.name()
    params = {
        "GroupName": name,
        **given.members(Strategy="strategy", PartitionCount="partitionCount", SpreadLevel="spreadLevel"),
        **tagged("placement-group", given.get("tags")),
    }
    return Plan(
        create=Request("ec2", "CreatePlacementGroup", params),
        id=name,
        outputs={"name": name, "placementGroupId": From("PlacementGroup.GroupId"), "arn": ec2_arn("placement-group")},
        find=lookup("ec2", "DescribePlacementGroups", "PlacementGroups", GroupNames=[name]),
        delete=[Request("ec2", "DeletePlacementGroup", {"GroupName": name})],
        problems=pattern_problems("placement group name", name),
        answer={"PlacementGroup": {"GroupId": "pg-0123456789abcdef0"}},
    )


KINDS: Mapping[str, Planner] = {
    "aws:ec2/launchTemplate:LaunchTemplate": launch_template,
    "aws:ec2/placementGroup:PlacementGroup": placement_group,
}
