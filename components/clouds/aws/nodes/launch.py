"""Disks, network interfaces and image pulls of nodes (aws-gpu spec 6 to 8).

The data uses the terms that EC2 launch templates and Karpenter's EC2NodeClass share.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....fleet.instances import Instance
from ..facts.eks import first_efa_card
from ..words import NodeImage, Provisioner

USUAL_REGION = "us-east-1"
"""Default region."""
SYSTEM_TYPES = ("m7i.large",)
"""Default instance types of system nodes."""
SYSTEM_DISK_GIB = 50
"""Root disk of system nodes."""
BASTION_TYPE, BASTION_DISK_GIB = "t4g.nano", 8
"""Instance type and root disk of the bastion."""
OS_DISK_GIB = 80
"""Root disk of nodes that keep images and weights on local NVMe."""
IMAGE_THROUGHPUT = 600
"""Default throughput of disks that hold images, in MiB/s. Below it, parallel unpacking makes pulls slower
(awslabs/amazon-eks-ami, nodeadm/doc/examples.md, "Enabling fast image pull")."""
_FAST_PULL_CPU = 8
"""vCPUs of a 2xlarge, the smallest size for which the same page recommends parallel pulls."""
LEAST_THROUGHPUT, LEAST_IOPS, MOST_IOPS = 125, 3000, 80_000
"""Limits of gp3 (EC2 API reference, LaunchTemplateEbsBlockDeviceRequest, as of botocore 1.44)."""
MOST_THROUGHPUT = {Provisioner.MANAGED: 1000, Provisioner.KARPENTER: 2000}
"""EC2 allows 2000 (same page), but the AWS provider's launch template only 1000 (hashicorp/terraform-provider-aws,
internal/service/ec2/ec2_launch_template.go)."""
SOCI_SINCE = (1, 44)
"""The first release of Bottlerocket that pulls images in parallel (bottlerocket-os/bottlerocket, release notes of
v1.44.0: "Add soci-snapshotter support to kubernetes variants")."""
_RELEASE = re.compile(r"v?(\d+)\.(\d+)\.", re.ASCII)
_IOPS_PER_GIB, _IOPS_PER_MIB = 500, 4
"""Maximum IOPS per GiB, minimum IOPS per MiB/s (EBS user guide, "General Purpose SSD volumes")."""


@dataclass(frozen=True, slots=True)
class Boot:
    """Boot settings of all nodes of an environment.

    Attributes:
        disk_gib: Disk for images and weights on nodes without local NVMe.
        throughput: MiB/s of every disk; None for :data:`IMAGE_THROUGHPUT` on disks that hold images.
        iops: IOPS of every disk; None for the minimum that the throughput requires.
        kms_key: ARN of the disks' KMS key; empty for the account's default key.
        fast_image_pull: Whether images are pulled in parallel; None to do so on AL2023 nodes that benefit.
        user_data: Additional user data: a NodeConfig or a script; TOML for Bottlerocket.
    """

    disk_gib: int = 200
    throughput: int | None = None
    iops: int | None = None
    kms_key: str = ""
    fast_image_pull: bool | None = None
    user_data: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """One network interface of a node."""

    card: int
    device: int
    type: str


@dataclass(frozen=True, slots=True)
class Disk:
    """One EBS volume, encrypted gp3.

    Attributes:
        throughput: In MiB/s; None for the minimum.
        iops: None for the minimum.
        kms_key: ARN of its KMS key; empty for the account's default key.
    """

    device: str
    gib: int
    throughput: int | None = None
    iops: int | None = None
    kms_key: str = ""


def interfaces(node: Instance) -> tuple[Interface, ...]:
    """Return the interfaces of a node with EFA on every card: one for IP, and one ``efa-only`` per card.

    The layout follows the EC2 documentation: card 0 carries IP, and also EFA if the type allows it.
    """
    first = node.fabric_card or first_efa_card(node.name)
    cards = range(first, first + node.fabric_interfaces)
    return (
        Interface(0, 0, "interface"),
        *(Interface(card, 1 if card == 0 else 0, "efa-only") for card in cards),
    )


def data_device(image: str) -> str:
    """Return the device of the disk for images and logs; Bottlerocket's first disk has only the operating system."""
    return "/dev/xvdb" if image == NodeImage.BOTTLEROCKET else "/dev/xvda"


def disk(node: Instance, image: NodeImage, boot: Boot) -> Disk:
    """Return the disk for images and weights; it is smaller on nodes whose local NVMe disks hold them."""
    size = min(OS_DISK_GIB, boot.disk_gib) if node.local_nvme_gb else boot.disk_gib
    throughput = boot.throughput or (None if node.local_nvme_gb else IMAGE_THROUGHPUT)
    needed = _IOPS_PER_MIB * (throughput or 0)
    iops = boot.iops or (needed if needed > LEAST_IOPS else None)
    return Disk(data_device(image), size, throughput, iops, boot.kms_key)


def pulls_fast(
    node: Instance, image: NodeImage, root: Disk, boot: Boot, *, own_image: bool, by_karpenter: bool = False
) -> bool:
    """Return whether a node pulls and unpacks images in parallel, which requires a fast disk and enough vCPUs.

    On AL2023 this is a feature of nodeadm, which a custom image may lack. On Bottlerocket it is off unless the
    settings request it, because a changed default would replace running nodes. Karpenter does not put the folder of
    parallel pulls on local NVMe (aws/karpenter-provider-aws issue 8393), so images would fill the small disk there.
    """
    if image == NodeImage.BOTTLEROCKET:
        return bool(boot.fast_image_pull) and not (by_karpenter and node.local_nvme_gb)
    if image != NodeImage.AL2023:
        return False
    if boot.fast_image_pull is not None:
        return boot.fast_image_pull
    keeps_up = bool(node.local_nvme_gb) or (root.throughput or LEAST_THROUGHPUT) >= IMAGE_THROUGHPUT
    return keeps_up and node.vcpu >= _FAST_PULL_CPU and not own_image


def _is_older(release: str, least: tuple[int, int]) -> bool:
    """Compare a Bottlerocket release such as ``1.66.0-1ad6b4a4``; one without a number counts as the newest."""
    number = _RELEASE.match(release)
    return number is not None and (int(number[1]), int(number[2])) < least


def boot_problems(
    boot: Boot, image: NodeImage, provisioner: Provisioner, release: str = ""
) -> Iterator[tuple[str, str]]:
    """Report disk settings and image pulls that EC2 or the image would reject, by setting."""
    most = MOST_THROUGHPUT[provisioner]
    if boot.throughput and boot.throughput > most:
        yield "diskThroughput", f"must be at most {most} MiB/s, found {boot.throughput}"
    iops = boot.iops or LEAST_IOPS
    if boot.iops and (boot.throughput or 0) * _IOPS_PER_MIB > iops:
        yield (
            "diskIops",
            f"must be at least {_IOPS_PER_MIB * (boot.throughput or 0)} for {boot.throughput} MiB/s, found {iops}; "
            "leave it out for what the throughput needs",
        )
    if iops > min(OS_DISK_GIB, boot.disk_gib) * _IOPS_PER_GIB:
        size = min(OS_DISK_GIB, boot.disk_gib)
        yield "diskIops", f"must be at most {size * _IOPS_PER_GIB} on a disk of {size} GiB, found {iops}"
    if boot.fast_image_pull and image == NodeImage.BOTTLEROCKET and _is_older(release, SOCI_SINCE):
        least = ".".join(map(str, SOCI_SINCE))
        yield "fastImagePull", f"requires Bottlerocket {least}, and amiRelease is {release}; remove one of the two"
