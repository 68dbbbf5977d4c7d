"""Facts about EKS, held against aws-gpu spec sections 4 to 7, 12 and 14."""

import datetime

import pytest

from components.clouds.aws.facts.eks import (
    addons,
    ami_type,
    first_efa_card,
    is_fractional,
    limits,
    no_image,
    quotas_of,
    standard_quotas,
    system_ami_type,
    takes_capacity_block,
    versions,
)
from components.fleet.instances import Instance, instance, instances


def known(name: str) -> Instance:
    found = instance(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize(
    ("name", "al2023", "bottlerocket"),
    [
        ("g5.xlarge", "AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("p6-b300.48xlarge", "AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("g7e.48xlarge", "AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("g5g.metal", "AL2023_ARM_64_NVIDIA", "BOTTLEROCKET_ARM_64_NVIDIA"),
        ("inf2.xlarge", "AL2023_x86_64_NEURON", "BOTTLEROCKET_x86_64"),
        ("trn1n.32xlarge", "AL2023_x86_64_NEURON", "BOTTLEROCKET_x86_64"),
        ("g7.2xlarge", None, None),
        ("g4ad.xlarge", None, None),
        ("dl1.24xlarge", None, None),
    ],
)
def test_images_follow_family_and_architecture(name: str, al2023: str | None, bottlerocket: str | None) -> None:
    assert ami_type(known(name), "al2023") == al2023
    assert ami_type(known(name), "bottlerocket") == bottlerocket


def test_why_there_is_no_image() -> None:
    assert "595" in no_image(known("g7.2xlarge"))
    assert "580" in no_image(known("g7.2xlarge"))
    assert "AMD Radeon" in no_image(known("g4ad.xlarge"))


def test_images_of_nodes_without_accelerators() -> None:
    assert system_ami_type(known("m7i.large"), "al2023") == "AL2023_x86_64_STANDARD"
    assert system_ami_type(known("m7g.large"), "al2023") == "AL2023_ARM_64_STANDARD"
    assert system_ami_type(known("m7g.large"), "bottlerocket") == "BOTTLEROCKET_ARM_64"


@pytest.mark.parametrize(
    ("version", "standard", "extended", "karpenter"),
    [
        ("1.35", datetime.date(2027, 3, 27), datetime.date(2028, 3, 27), "1.9"),
        ("1.34", datetime.date(2026, 12, 2), datetime.date(2027, 12, 2), "1.6"),
        ("1.31", datetime.date(2025, 11, 26), datetime.date(2026, 11, 26), "1.0.5"),
        # The user guide's calendar, in aws-samples/sample-aws-genai-ops-demos pull request 86.
        ("1.36", datetime.date(2027, 8, 2), datetime.date(2028, 8, 2), "1.13"),
    ],
)
def test_support_dates(
    version: str, standard: datetime.date | None, extended: datetime.date | None, karpenter: str
) -> None:
    facts = versions()[version]
    assert (facts.standard_until, facts.extended_until, facts.karpenter) == (standard, extended, karpenter)


def test_capacity_blocks_are_sold_for_eleven_types() -> None:
    sold = {name for name in instances() if takes_capacity_block(name)}
    assert sold == {
        *("p4d.24xlarge", "p4de.24xlarge", "p5.4xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"),
        *("p6-b200.48xlarge", "p6-b300.48xlarge", "trn1.32xlarge", "trn2.3xlarge", "trn2.48xlarge"),
    }


def test_five_types_offer_a_part_of_a_gpu() -> None:
    found = {name for name in instances() if is_fractional(name)}
    assert found == {"g6f.large", "g6f.xlarge", "g6f.2xlarge", "g6f.4xlarge", "gr6f.4xlarge"}


def test_only_one_type_has_no_efa_on_its_first_card() -> None:
    assert {name for name in instances() if first_efa_card(name)} == {"p6-b300.48xlarge"}


@pytest.mark.parametrize(
    ("name", "on_demand", "spot"),
    [
        ("g5.xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("p6-b200.48xlarge", "L-417A185B", None),
        ("inf2.xlarge", "L-1945791B", "L-B5D1601B"),
        ("trn1n.32xlarge", "L-2C3B7624", "L-6B0D517C"),
        ("dl1.24xlarge", "L-6E869C2A", "L-85EED4F7"),
    ],
)
def test_quota_codes(name: str, on_demand: str, spot: str | None) -> None:
    quotas = quotas_of(known(name))
    assert quotas is not None
    assert (quotas.on_demand.code, quotas.spot and quotas.spot.code) == (on_demand, spot)


@pytest.mark.parametrize(
    ("name", "on_demand", "spot"),
    [  # Amazon EC2 User Guide, "Amazon EC2 instance type quotas" and "Spot Instance quotas"
        ("g5.xlarge", "Running On-Demand G and VT instances", "All G and VT Spot Instance Requests"),
        ("dl1.24xlarge", "Running On-Demand DL instances", "All DL Spot Instance Requests"),
        ("p5.48xlarge", "Running On-Demand P instances", None),
    ],
)
def test_quota_names(name: str, on_demand: str, spot: str | None) -> None:
    quotas = quotas_of(known(name))
    assert quotas is not None
    assert (quotas.on_demand.name, quotas.spot and quotas.spot.name) == (on_demand, spot)


def test_every_type_is_in_a_quota_and_only_general_ones_in_the_standard_one() -> None:
    for node in instances().values():
        quotas = quotas_of(node)
        assert quotas is not None, node.name
        # AWS CLI reference, service-quotas get-aws-default-service-quota: these have quotas of their own.
        has_own = bool(node.accelerators) or node.family.startswith(("dl", "f", "hpc", "u", "vt", "x"))
        assert (quotas == standard_quotas()) != has_own, node.name


def test_addons_that_every_cluster_has() -> None:
    assert {name for name, addon in addons().items() if addon.always} == {
        *("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent", "metrics-server"),
    }
    before = {name for name, addon in addons().items() if addon.before_nodes}
    assert "coredns" not in before  # it waits for nodes, and its installation for it
    assert addons()["aws-ebs-csi-driver"].policies == ("AmazonEBSCSIDriverPolicyV2",)
    assert addons()["vpc-cni"].policies == ("AmazonEKS_CNI_Policy",)


def test_limits() -> None:
    assert (limits().node_groups, limits().nodes_per_group, limits().taints, limits().name) == (30, 450, 50, 63)
