"""The instance table against facts looked up by hand (aws-gpu spec 1)."""

from decimal import Decimal

import pytest

from components.fleet.instances import instance, instances


@pytest.mark.parametrize(
    ("name", "vcpu", "memory", "accelerator", "count", "resource", "arch", "price"),
    [
        ("g4dn.xlarge", 4, "16", "T4", 1, "nvidia.com/gpu", "amd64", "0.526"),
        ("g5.12xlarge", 48, "192", "A10G", 4, "nvidia.com/gpu", "amd64", "5.672"),
        ("g5g.16xlarge", 64, "128", "T4g", 2, "nvidia.com/gpu", "arm64", "2.744"),
        ("g6e.48xlarge", 192, "1536", "L40S", 8, "nvidia.com/gpu", "amd64", "30.13118"),
        ("g4ad.16xlarge", 64, "256", "Radeon Pro V520", 4, "amd.com/gpu", "amd64", "3.468"),
    ],
)
def test_accelerated_types(
    name: str, vcpu: int, memory: str, accelerator: str, count: int, resource: str, arch: str, price: str
) -> None:
    node = instance(name)
    assert node is not None
    assert (node.name, node.vcpu, node.memory_gib, node.accelerator) == (name, vcpu, Decimal(memory), accelerator)
    assert (node.accelerators, node.accelerator_resource, node.arch) == (count, resource, arch)
    assert node.usd_per_hour == Decimal(price)


@pytest.mark.parametrize(
    ("name", "vcpu", "memory", "arch", "usd"),
    [
        ("m7i.2xlarge", 8, 32, "amd64", "0.4032"),
        ("c7i.4xlarge", 16, 32, "amd64", "0.714"),
        ("r7i.xlarge", 4, 32, "amd64", "0.2646"),
        ("m7g.large", 2, 8, "arm64", "0.0816"),
        # skypilot-org/skypilot-catalog at e385a0d3 and 00148f2a, catalogs/v8/aws/vms.csv.
        ("a1.2xlarge", 8, 16, "arm64", "0.204"),
        ("c3.2xlarge", 8, 15, "amd64", "0.42"),
        ("i7ie.18xlarge", 72, 576, "amd64", "9.3564"),
        ("i7ie.48xlarge", 192, 1536, "amd64", "24.9504"),
        # aws/karpenter-provider-aws at 1d927085, its reference of instance types and its prices.
        ("t3.large", 2, 8, "amd64", "0.0832"),
        ("m8g.large", 2, 8, "arm64", "0.08976"),
        ("c8g.xlarge", 4, 8, "arm64", "0.15952"),
    ],
)
def test_general_purpose_types_have_no_accelerator(name: str, vcpu: int, memory: int, arch: str, usd: str) -> None:
    node = instance(name)
    assert node is not None
    assert (node.vcpu, node.memory_gib, node.arch) == (vcpu, Decimal(memory), arch)
    assert (node.accelerators, node.accelerator_resource, node.usd_per_hour) == (0, None, Decimal(usd))


def test_neuron_is_asked_for_by_its_own_resource() -> None:
    node = instance("inf2.xlarge")
    assert node is not None
    assert node.accelerator_resource == "aws.amazon.com/neuron"


@pytest.mark.parametrize(
    ("name", "pods", "efa", "nvme"),
    [
        # Pods and EFA: the reference of instance types in aws/karpenter-provider-aws at 1d927085.
        ("t3.large", 35, 0, 0),
        ("m5.large", 29, 0, 0),
        ("c5n.18xlarge", 737, 1, 0),
        ("m5d.large", 29, 0, 75),
        # Disks that are not NVMe are no NVMe.
        ("c3.large", 29, 0, 0),
        ("d2.xlarge", 58, 0, 0),
    ],
)
def test_general_purpose_types_have_networks_and_disks(name: str, pods: int, efa: int, nvme: int) -> None:
    node = instance(name)
    assert node is not None
    assert (node.address_pods, node.fabric_interfaces, node.local_nvme_gb) == (pods, efa, nvme)


@pytest.mark.parametrize("name", ["mac2.metal", "mac-m4.metal", "trn2u.48xlarge", "c1.tiny"])
def test_types_that_no_node_can_have_are_unknown(name: str) -> None:
    assert instance(name) is None


def test_an_unknown_type_is_none() -> None:
    assert instance("g5.nano") is None


def test_every_row_is_sound() -> None:
    assert len(instances()) > 1300
    for name, node in instances().items():
        family, dot, size = name.partition(".")
        assert all((family, dot, size)), name
        assert node.vcpu > 0, name
        assert node.memory_gib > 0, name
        assert node.arch in ("amd64", "arm64"), name
        assert bool(node.accelerators) == bool(node.accelerator_resource), name
        assert node.usd_per_hour is None or node.usd_per_hour > 0, name
