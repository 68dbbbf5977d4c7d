"""Clouds bring their instance types and labels by registration, and nothing depends on what was read before it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest

from components.checks.memory.accelerators.devices import maker_of
from components.fleet.cloud_facts import CloudFacts, capacity_in, credential_agents, is_set_by_cloud
from components.fleet.clouds import clouds, register, unregister
from components.fleet.demand import instance_type_in
from components.fleet.instances import (
    Instance,
    accelerator_resources,
    fabrics,
    instance,
    instances,
    is_accelerator,
)
from components.fleet.nodes.fit import nearest_types
from components.fleet.nodes.groups import allocatable
from components.fleet.placement import taints

GIB = 2**30


def toy_type(name: str = "toy-8x") -> Instance:
    """A node with eight cores, one accelerator of a vendor of its own and two interfaces."""
    return Instance(
        name=name,
        family="toy",
        vcpu=8,
        memory_gib=Decimal(32),
        arch="amd64",
        allocatable_cpu=Decimal("7.5"),
        allocatable_memory=Decimal(30 * GIB),
        accelerator="Abacus",
        manufacturer="Toys",
        accelerators=1,
        accelerator_resource="toys.example/abacus",
        fabric_resource="toys.example/wire",
        fabric_interfaces=2,
        fabric_memory=Decimal(GIB),
    )


def toy_cloud(*types: Instance) -> CloudFacts:
    return CloudFacts(
        instances=types or (toy_type(),),
        fabrics={"toys.example/wire": "Wire"},
        label_domains=("toys.example",),
        capacity_labels=("toys.example/bought",),
        named_type=lambda labels: labels.get("toys.example/shape"),
        credential_agents=("fd00::23/128",),
    )


@contextmanager
def registered(cloud: CloudFacts) -> Iterator[None]:
    register("toy", lambda: cloud)
    try:
        yield
    finally:
        unregister("toy")


def test_a_cloud_is_known_as_long_as_it_is_registered() -> None:
    before = dict(instances())
    assert "g5.xlarge" in before
    assert instance("toy-8x") is None
    with registered(toy_cloud()):
        assert instance("toy-8x") == toy_type()
        assert instances() == before | {"toy-8x": toy_type()}
        assert set(clouds()) == {"aws", "toy"}
    assert instances() == before


def test_every_fact_of_its_nodes_counts() -> None:
    labels = {"toys.example/bought": "SPOT_CHEAP", "toys.example/shape": "toy-8x"}
    resources, domain = {"toys.example/abacus"}, "toys.example/x"
    assert not accelerator_resources() & resources
    assert not is_set_by_cloud(domain)
    assert (capacity_in(labels), instance_type_in(labels), dict(fabrics())) == ("", None, {EFA: "EFA"})
    with registered(toy_cloud()):
        assert accelerator_resources() >= resources
        assert is_accelerator("toys.example/abacus")
        assert is_set_by_cloud(domain)
        assert is_set_by_cloud("sub.toys.example/x")
        assert capacity_in(labels) == "spot-cheap"
        assert instance_type_in(labels) == "toy-8x"
        assert fabrics() == {EFA: "EFA", "toys.example/wire": "Wire"}
        assert taints("toy-8x") == ({"key": "toys.example/abacus", "value": "true", "effect": "NoSchedule"},)
        assert credential_agents() == ("169.254.170.23/32", "fd00::23/128")
        assert nearest_types("toy-8") == "; did you mean toy-8x?"


EFA = "vpc.amazonaws.com/efa"


@pytest.mark.parametrize(
    "resource",
    [
        "nvidia.com/gpu",
        "amd.com/gpu",
        "habana.ai/gaudi",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "google.com/tpu",
        "rebellions.ai/ATOM",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
        "huawei.com/Ascend910",
        "huawei.com/Ascend910B4-1",
        "huawei.com/Ascend310P-2c",
        "huawei.com/ascend-1980",
    ],
)
def test_accelerators_without_a_known_instance_type_are_accelerators(resource: str) -> None:
    assert is_accelerator(resource)


@pytest.mark.parametrize(
    "resource",
    [
        "cpu",
        "memory",
        "gpu.intel.com/i915_monitoring",
        "gpu.intel.com/memory.max",
        "google.com/tpu-memory",
        "huawei.com/Ascend910B3-memory",
        "huawei.com/Ascend910B3-core",
        "example.com/rebellions.ai/ATOM",
        EFA,
    ],
)
def test_shares_monitors_and_networks_are_no_accelerators(resource: str) -> None:
    assert not is_accelerator(resource)


def test_what_pods_can_request_is_what_the_cloud_says() -> None:
    node = toy_type()
    alone = {
        "cpu": Decimal("7.5"),
        "memory": Decimal(30 * GIB),
        "pods": Decimal(110),
        "toys.example/abacus": Decimal(1),
    }
    assert allocatable(node) == alone
    assert allocatable(node, efa=True) == alone | {"memory": Decimal(29 * GIB), "toys.example/wire": Decimal(2)}


def test_answers_from_before_the_registration_are_not_kept() -> None:
    assert maker_of("Abacus") == ""
    with registered(toy_cloud()):
        assert maker_of("Abacus") == "Toys"
    assert maker_of("Abacus") == ""


def test_names_of_two_clouds_must_differ() -> None:
    with (
        registered(toy_cloud(toy_type("g5.xlarge"))),
        pytest.raises(ValueError, match=r"'g5\.xlarge' is in the tables of both 'aws' and 'toy'"),
    ):
        instances()
    assert instance("g5.xlarge") is not None


def test_a_cloud_is_registered_once() -> None:
    with registered(toy_cloud()), pytest.raises(ValueError, match="'toy' is registered already"):
        register("toy", toy_cloud)
    with pytest.raises(KeyError):
        unregister("toy")


FIRST = [
    "components.fleet.instances",
    "components.fleet.nodes.fit",
    "components.clouds.aws.cloud_facts",
    "components.plan.plan",
]
READ = "from components.fleet.instances import instances; print(len(instances()))"


@pytest.mark.parametrize("first", FIRST)
def test_whatever_is_imported_first_the_same_types_are_known(first: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", f"import {first}; {READ}"], check=True, capture_output=True, text=True
    )
    assert shown.stdout == f"{len(instances())}\n"


def test_importing_the_package_loads_no_cloud() -> None:
    code = "import sys, components; print(*sorted(m for m in sys.modules if m.startswith('components')))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert shown.stdout.split() == [
        "components",
        "components.clouds",
        "components.contract",
        "components.contract.extras",
        "components.contract.lazy",
        "components.fleet",
        "components.fleet.clouds",
        "components.resources",
    ]
