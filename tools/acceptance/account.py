"""The AWS account of a run, and this machine's address."""

import urllib.request
from ipaddress import ip_network
from typing import Any

import boto3  # type: ignore[import-untyped]

from acceptance.errors import AcceptanceError

_QUOTA = "L-DB2E81BA"
"""Running On-Demand G and VT instances, in vCPUs."""
_VCPUS = 8
"""Two g5.xlarge: the second while the model is replaced."""


def own_range(url: str = "https://checkip.amazonaws.com") -> str:
    """Return the public address of this machine as a range.

    Raises:
        AcceptanceError: it cannot be determined.
    """
    try:
        with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310  a constant, or a test's
            return str(ip_network(response.read(64).decode().strip()))
    except (OSError, ValueError):
        raise AcceptanceError(
            "--cidr is required, because the public address of this machine cannot be determined; such as "
            "--cidr 198.51.100.7/32"
        ) from None


def zones_for(region: str, instance_type: str) -> list[str]:
    """Return two zones; the first offers the instance type.

    Raises:
        AcceptanceError: no zone offers it.
    """
    ec2 = client("ec2", region)
    filters = [{"Name": "instance-type", "Values": [instance_type]}]
    offered = ec2.describe_instance_type_offerings(LocationType="availability-zone", Filters=filters)
    offering = sorted(item["Location"] for item in offered["InstanceTypeOfferings"])
    every = sorted(zone["ZoneName"] for zone in ec2.describe_availability_zones()["AvailabilityZones"])
    if not offering:
        raise AcceptanceError(f"no zone of {region} offers {instance_type}; choose another --region")
    return [offering[0], next(zone for zone in (*offering[1:], *every) if zone != offering[0])]


def check_quota(region: str) -> None:
    """Check that the account may run the nodes.

    Raises:
        AcceptanceError: its quota is too small.
    """
    quota = client("service-quotas", region).get_service_quota(ServiceCode="ec2", QuotaCode=_QUOTA)
    value = quota["Quota"]["Value"]
    if value < _VCPUS:
        raise AcceptanceError(
            f"the quota for G instances in {region} is {value:.0f} vCPUs, and {_VCPUS} are needed; request an "
            f"increase of {_QUOTA} in Service Quotas, or choose another --region"
        )


def client(service: str, region: str) -> Any:  # noqa: ANN401  of boto3
    """Return the client of a service, with the credentials of the environment."""
    return boto3.client(service, region_name=region)
