"""What nodes boot with (aws-gpu spec 6 and 8)."""

from typing import Any

import pytest

from components.clouds.aws.nodes.launch import Boot, Disk, boot_problems, disk, interfaces, pulls_fast
from components.clouds.aws.words import NodeImage, Provisioner
from components.fleet.instances import Instance, instance, instances
from tests.clouds.aws.environments import environment, flavor, one, problems

KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b"


def known(name: str) -> Instance:
    found = instance(name)
    assert found is not None
    return found


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

    def test_never_two_at_one_place_and_as_many_as_there_are(self) -> None:
        for node in (each for each in instances().values() if each.fabric_interfaces):
            made = interfaces(node)
            assert len({(i.card, i.device) for i in made}) == len(made), node.name
            assert sum(i.type == "efa-only" for i in made) == node.fabric_interfaces, node.name


def boot_errors(image: NodeImage = NodeImage.AL2023, provisioner: str = "managed", **settings: Any) -> dict[str, str]:
    where = environment(image=image, provisioner=Provisioner(provisioner), boot=Boot(**settings))
    found = problems(one(flavor("g5.xlarge")), where)
    return {problem.path.removeprefix("gpuNodes."): problem.reason for problem in found}


class TestDisks:
    @pytest.mark.parametrize(
        ("name", "image", "boot", "expected"),
        [
            ("g5.xlarge", NodeImage.AL2023, Boot(), Disk("/dev/xvda", 80)),
            ("g5.xlarge", NodeImage.AL2023, Boot(50), Disk("/dev/xvda", 50)),
            ("g5g.xlarge", NodeImage.AL2023, Boot(), Disk("/dev/xvda", 200, 600)),
            ("g5g.xlarge", NodeImage.BOTTLEROCKET, Boot(), Disk("/dev/xvdb", 200, 600)),
            # 4 IOPS for each MiB/s are the least, 3000 come with the disk.
            ("g5g.xlarge", NodeImage.AL2023, Boot(throughput=1000), Disk("/dev/xvda", 200, 1000, 4000)),
            ("g5.xlarge", NodeImage.AL2023, Boot(throughput=250, iops=8000), Disk("/dev/xvda", 80, 250, 8000)),
            ("g5.xlarge", NodeImage.AL2023, Boot(kms_key=KEY), Disk("/dev/xvda", 80, kms_key=KEY)),
        ],
    )
    def test_each(self, name: str, image: NodeImage, boot: Boot, expected: Disk) -> None:
        assert disk(known(name), image, boot) == expected

    def test_one_that_holds_images_is_fast_enough_to_unpack_them(self) -> None:
        """nodeadm/doc/examples.md: at least 600 MiB/s; gp3 begins with 125."""
        for node in instances().values():
            made = disk(node, NodeImage.AL2023, Boot())
            assert bool(node.local_nvme_gb) == (made.throughput is None), node.name
            assert node.local_nvme_gb or (made.throughput or 0) >= 600, node.name

    @pytest.mark.parametrize(
        ("settings", "provisioner", "expected"),
        [
            ({"throughput": 1001}, "managed", {"diskThroughput": "must be at most 1000 MiB/s, found 1001"}),
            ({"throughput": 2000}, "karpenter", {}),
            (
                {"throughput": 1000, "iops": 3500},
                "managed",
                {"diskIops": "must be at least 4000 for 1000 MiB/s, found 3"},
            ),
            ({"iops": 40_001}, "managed", {"diskIops": "must be at most 40000 on a disk of 80 GiB, found 40001"}),
            ({"iops": 40_000, "throughput": 1000}, "managed", {}),
        ],
    )
    def test_what_ec2_refuses(self, settings: dict[str, Any], provisioner: str, expected: dict[str, str]) -> None:
        found = boot_errors(provisioner=provisioner, **settings)
        assert set(found) == set(expected)
        assert all(words in found[key] for key, words in expected.items())


class TestFastPull:
    @pytest.mark.parametrize(
        ("name", "boot", "own_image", "expected"),
        [
            ("g5.2xlarge", Boot(), False, True),
            ("g5.xlarge", Boot(), False, False),  # 4 vCPUs
            ("g5g.2xlarge", Boot(), False, True),  # its EBS disk has 600 MiB/s
            ("g5g.2xlarge", Boot(throughput=300), False, False),
            ("g5.2xlarge", Boot(), True, False),
            ("g5.2xlarge", Boot(fast_image_pull=True), True, True),
            ("g5.2xlarge", Boot(fast_image_pull=False), False, False),
        ],
    )
    def test_where_it_helps(self, name: str, boot: Boot, own_image: bool, expected: bool) -> None:
        made = disk(known(name), NodeImage.AL2023, boot)
        assert pulls_fast(known(name), NodeImage.AL2023, made, boot, own_image=own_image) is expected

    @pytest.mark.parametrize(
        ("name", "boot", "by_karpenter", "expected"),
        [
            ("g5.2xlarge", Boot(), False, False),  # nodes that run are not replaced by a default
            ("g5.2xlarge", Boot(fast_image_pull=True), False, True),
            ("g5.2xlarge", Boot(fast_image_pull=False), False, False),
            ("g5.2xlarge", Boot(fast_image_pull=True), True, False),  # aws/karpenter-provider-aws issue 8393
            ("g5g.2xlarge", Boot(fast_image_pull=True), True, True),  # without local NVMe
        ],
    )
    def test_on_bottlerocket_it_is_asked_for(self, name: str, boot: Boot, by_karpenter: bool, expected: bool) -> None:
        node, image = known(name), NodeImage.BOTTLEROCKET
        made = disk(node, image, boot)
        assert pulls_fast(node, image, made, boot, own_image=False, by_karpenter=by_karpenter) is expected

    @pytest.mark.parametrize(
        ("release", "refused"),
        [("1.43.0-0abcdef0", True), ("1.44.0-0abcdef0", False), ("1.66.0-1ad6b4a4", False), ("latest", False)],
    )
    def test_releases_of_bottlerocket_without_it_are_refused(self, release: str, refused: bool) -> None:
        """Release notes of v1.44.0: such a node would not read its settings."""
        found = dict(boot_problems(Boot(fast_image_pull=True), NodeImage.BOTTLEROCKET, Provisioner.MANAGED, release))
        assert ("fastImagePull" in found) is refused
        assert not dict(boot_problems(Boot(), NodeImage.BOTTLEROCKET, Provisioner.MANAGED, release))

    @pytest.mark.parametrize(
        ("name", "provisioner", "warned"),
        [("g5.2xlarge", "karpenter", True), ("g5.2xlarge", "managed", False), ("g5g.2xlarge", "karpenter", False)],
    )
    def test_nodes_on_which_it_has_no_effect_are_named(self, name: str, provisioner: str, warned: bool) -> None:
        where = environment(
            boot=Boot(fast_image_pull=True), image=NodeImage.BOTTLEROCKET, provisioner=Provisioner(provisioner)
        )
        found = [
            each for each in problems(one(flavor(name)), where, "warning") if each.path.endswith("fastImagePull")
        ]
        assert bool(found) is warned
        assert all("has no effect on" in each.reason for each in found)
