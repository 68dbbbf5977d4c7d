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


def test_an_unknown_type_is_none() -> None:
    assert instance("g5.nano") is None


def test_every_row_is_sound() -> None:
    assert len(instances()) > 100
    for name, node in instances().items():
        family, dot, size = name.partition(".")
        assert all((family, dot, size)), name
        assert node.vcpu > 0, name
        assert node.memory_gib > 0, name
        assert node.arch in ("amd64", "arm64"), name
        assert bool(node.accelerators) == bool(node.accelerator_resource), name
        assert node.usd_per_hour is None or node.usd_per_hour > 0, name
