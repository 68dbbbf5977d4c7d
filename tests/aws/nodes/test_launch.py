"""What nodes boot with (aws-gpu spec 6 and 8)."""

import base64
import email
import tomllib
from typing import Any

import pytest
import yaml

from components.aws.nodes.launch import ClusterAddress, Disk, disk, interfaces, user_data
from components.aws.words import NodeImage
from components.nodes.instances import Instance, instance, instances


def known(name: str) -> Instance:
    found = instance(name)
    assert found is not None
    return found


def al2023(name: str, join: ClusterAddress | None = None) -> Any:
    """The NodeConfig in a node's user data, read as the node reads it."""
    message: Any = email.message_from_bytes(base64.b64decode(user_data(known(name), NodeImage.AL2023, join)))
    assert message.get_content_type() == "multipart/mixed"
    (part,) = message.get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    return yaml.safe_load(part.get_payload())


def bottlerocket(name: str) -> Any:
    return tomllib.loads(base64.b64decode(user_data(known(name), NodeImage.BOTTLEROCKET)).decode())


class TestInterfaces:
    @pytest.mark.parametrize(
        ("name", "cards"),
        [("g5.8xlarge", [0]), ("p4d.24xlarge", [0, 1, 2, 3]), ("p6-b200.48xlarge", list(range(8)))],
    )
    def test_one_for_ip_and_one_efa_per_card(self, name: str, cards: list[int]) -> None:
        found = [(i.card, i.device, i.type) for i in interfaces(known(name))]
        assert found[0] == (0, 0, "interface")
        assert found[1] == (0, 1, "efa-only")
        assert found[2:] == [(card, 0, "efa-only") for card in cards[1:]]

    def test_b300_has_plain_ena_on_its_first_card(self) -> None:
        """17 cards: card 0 carries plain ENA, 16 carry EFA (aws-gpu spec 1)."""
        found = [(i.card, i.device, i.type) for i in interfaces(known("p6-b300.48xlarge"))]
        assert found == [(0, 0, "interface"), *((card, 0, "efa-only") for card in range(1, 17))]

    @pytest.mark.parametrize("node", [n for n in instances().values() if n.efa_interfaces], ids=lambda n: n.name)
    def test_never_two_at_one_place_and_as_many_as_there_are(self, node: Instance) -> None:
        made = interfaces(node)
        assert len({(i.card, i.device) for i in made}) == len(made)
        assert sum(i.type == "efa-only" for i in made) == node.efa_interfaces


class TestUserData:
    def test_nvme_is_one_raid0_and_kubelet_takes_the_pods_that_are_planned_with(self) -> None:
        config = al2023("g5.xlarge")
        assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
        assert config["spec"]["instance"] == {"localStorage": {"strategy": "RAID0"}}
        assert config["spec"]["kubelet"] == {"config": {"maxPods": 110}}
        assert "cluster" not in config["spec"]  # EKS adds it

    def test_no_raid_without_disks(self) -> None:
        assert "instance" not in al2023("g5g.xlarge")["spec"]

    def test_an_image_of_ones_own_is_told_the_cluster(self) -> None:
        join = ClusterAddress("prod", "https://x.eks.amazonaws.com", "Q0E=", "172.20.0.0/16")
        assert al2023("g7.2xlarge", join)["spec"]["cluster"] == {
            "name": "prod",
            "apiServerEndpoint": "https://x.eks.amazonaws.com",
            "certificateAuthority": "Q0E=",
            "cidr": "172.20.0.0/16",
        }

    def test_bottlerocket_takes_toml(self) -> None:
        settings = bottlerocket("g5.xlarge")["settings"]
        assert settings["kubernetes"] == {"max-pods": 110}
        storage = settings["bootstrap-commands"]["ephemeral-storage"]
        assert storage["commands"][0] == ["apiclient", "ephemeral-storage", "init"]
        assert "/var/lib/containerd" in storage["commands"][1]

    def test_bottlerocket_hands_neuron_devices_over(self) -> None:
        assert bottlerocket("inf2.xlarge")["settings"] == {
            "kubernetes": {"max-pods": 110, "device-ownership-from-security-context": True}
        }


@pytest.mark.parametrize(
    ("name", "image", "gib", "expected"),
    [
        ("g5.xlarge", NodeImage.AL2023, 200, Disk("/dev/xvda", 80)),
        ("g5.xlarge", NodeImage.AL2023, 50, Disk("/dev/xvda", 50)),
        ("g5g.xlarge", NodeImage.AL2023, 200, Disk("/dev/xvda", 200)),
        ("g5g.xlarge", NodeImage.BOTTLEROCKET, 200, Disk("/dev/xvdb", 200)),
    ],
)
def test_disks(name: str, image: NodeImage, gib: int, expected: Disk) -> None:
    assert disk(known(name), image, gib) == expected
