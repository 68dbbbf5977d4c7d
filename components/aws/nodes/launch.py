"""What a node boots with: disks, network interfaces and the first words to it (aws-gpu spec 6 to 8).

Plain data in the words of EC2's launch template and of Karpenter's EC2NodeClass, which share them.
"""

import base64
from dataclasses import dataclass

from ...nodes.groups import MAX_PODS
from ...nodes.instances import Instance
from ..facts.eks import first_efa_card
from ..words import NodeImage

OS_DISK_GIB = 80
"""Root disk of nodes that keep images and weights on local NVMe."""
_BOUNDARY = "//"
_EPHEMERAL = ("/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")


@dataclass(frozen=True, slots=True)
class Interface:
    """One network interface of a node."""

    card: int
    device: int
    type: str


@dataclass(frozen=True, slots=True)
class Disk:
    """One EBS volume, encrypted gp3."""

    device: str
    gib: int


def interfaces(node: Instance) -> tuple[Interface, ...]:
    """Return the interfaces of a node with all the EFA it can have: one for IP, one ``efa-only`` per card.

    The layout is that of the EC2 documentation: card 0 carries IP, and EFA beside it where the type allows that.
    """
    first = first_efa_card(node.name)
    cards = range(first, first + node.efa_interfaces)
    return (
        Interface(0, 0, "interface"),
        *(Interface(card, 1 if card == 0 else 0, "efa-only") for card in cards),
    )


def disk(node: Instance, image: NodeImage, gib: int) -> Disk:
    """Return the disk that holds images and weights, unless local NVMe does.

    On Bottlerocket that is the second one; the first holds the system and keeps its size.
    """
    size = min(OS_DISK_GIB, gib) if node.local_nvme_gb else gib
    return Disk("/dev/xvdb" if image == NodeImage.BOTTLEROCKET else "/dev/xvda", size)


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """What a node with an image of one's own must be told, since EKS tells it nothing."""

    name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str


def user_data(node: Instance, image: NodeImage, join: ClusterAddress | None = None) -> str:
    """Return the user data, in base64: local NVMe as one RAID0, and the number of pods that is planned with.

    Args:
        node: The instance type.
        image: AL2023 takes a NodeConfig, Bottlerocket TOML.
        join: The cluster, where the image is one's own (AL2023 only).
    """
    text = _bottlerocket(node) if image == NodeImage.BOTTLEROCKET else _al2023(node, join)
    return base64.b64encode(text.encode()).decode()


def node_config(node: Instance, join: ClusterAddress | None = None) -> str:
    """Return the NodeConfig of an AL2023 node, as YAML."""
    lines = ["apiVersion: node.eks.aws/v1alpha1", "kind: NodeConfig", "spec:"]
    if join:
        lines += [
            "  cluster:",
            f"    name: {join.name}",
            f"    apiServerEndpoint: {join.endpoint}",
            f"    certificateAuthority: {join.certificate_authority}",
            f"    cidr: {join.service_cidr}",
        ]
    if node.local_nvme_gb:
        lines += ["  instance:", "    localStorage:", "      strategy: RAID0"]
    lines += ["  kubelet:", "    config:", f"      maxPods: {MAX_PODS}"]
    return "\n".join(lines) + "\n"


def _al2023(node: Instance, join: ClusterAddress | None) -> str:
    return (
        "MIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n'
        f"--{_BOUNDARY}\n"
        "Content-Type: application/node.eks.aws\n\n"
        f"{node_config(node, join)}\n"
        f"--{_BOUNDARY}--\n"
    )


def bottlerocket_settings(node: Instance) -> str:
    """Return the settings of Bottlerocket that are not about storage, as TOML."""
    lines = ["[settings.kubernetes]", f"max-pods = {MAX_PODS}"]
    if node.manufacturer == "AWS":
        # The Neuron device plugin hands devices to containers that do not run as root (aws-gpu spec 6).
        lines.append("device-ownership-from-security-context = true")
    return "\n".join(lines) + "\n"


def _bottlerocket(node: Instance) -> str:
    text = bottlerocket_settings(node)
    if not node.local_nvme_gb:
        return text
    folders = ", ".join(f'"{folder}"' for folder in _EPHEMERAL)
    return text + (
        "\n[settings.bootstrap-commands.ephemeral-storage]\n"
        'commands = [["apiclient", "ephemeral-storage", "init"], '
        f'["apiclient", "ephemeral-storage", "bind", "--dirs", {folders}]]\n'
        'mode = "always"\n'
        "essential = true\n"
    )
