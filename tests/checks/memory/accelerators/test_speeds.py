"""How fast accelerators are: the figures of their makers (aws-gpu spec 2)."""

import pytest

from components.checks.memory.accelerators.speeds import accelerator_speed, processor_speed
from components.fleet.instances import Instance, instance, instances


def node(name: str) -> Instance:
    """Return an instance type."""
    found = instance(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "bandwidth", "flops", "flops8"),
    [
        ("g6.2xlarge", 0.300e12, 121e12, 242e12),
        ("g6e.2xlarge", 0.864e12, 362.05e12, 733e12),
        ("p4de.24xlarge", 2.039e12, 312e12, 312e12),
        ("p4d.24xlarge", 1.555e12, 312e12, 312e12),
        ("p5.48xlarge", 3.35e12, 989e12, 1978e12),
        ("p5en.48xlarge", 4.8e12, 989e12, 1978e12),
        ("p6-b200.48xlarge", 7.7e12, 2250e12, 4500e12),
        ("p6-b300.48xlarge", 7.75e12, 2250e12, 4500e12),
        ("g7e.2xlarge", 1.792e12, 467.8e12, 935.6e12),
        ("g4dn.xlarge", 0.32e12, 65e12, 65e12),
        ("g5.xlarge", 0.6e12, 70e12, 70e12),
        ("p3.2xlarge", 0.9e12, 125e12, 125e12),
        ("p3dn.24xlarge", 0.9e12, 125e12, 125e12),
    ],
)
def test_one_accelerator(name: str, bandwidth: float, flops: float, flops8: float) -> None:
    found = accelerator_speed(node(name))
    assert found is not None
    assert (found.bandwidth, found.flops, found.flops8) == pytest.approx((bandwidth, flops, flops8))


@pytest.mark.parametrize(("name", "part"), [("g6f.large", 1 / 8), ("g6f.2xlarge", 1 / 4), ("g6f.4xlarge", 1 / 2)])
def test_a_part_of_one(name: str, part: float) -> None:
    """An L4 of which a node has a part: the memory tells which."""
    found = accelerator_speed(node(name))
    assert found is not None
    assert found.bandwidth == pytest.approx(part * 0.3e12, rel=0.02)


@pytest.mark.parametrize("name", ["inf2.xlarge", "g4ad.xlarge", "g5g.xlarge", "dl1.24xlarge", "m7i.large"])
def test_nothing_is_made_up(name: str) -> None:
    assert accelerator_speed(node(name)) is None


def test_most_types_with_nvidia_accelerators_are_known() -> None:
    types = [each for each in instances().values() if each.manufacturer == "NVIDIA"]
    unknown = {each.accelerator for each in types if accelerator_speed(each) is None}
    assert unknown == {"T4g"}


@pytest.mark.parametrize(("name", "bandwidth"), [("m7i.2xlarge", 307.2e9 / 96), ("c7g.large", 307.2e9 / 64)])
def test_one_processor(name: str, bandwidth: float) -> None:
    found = processor_speed(node(name))
    assert found is not None
    assert found.bandwidth == pytest.approx(bandwidth)
    assert found.times(8).flops == pytest.approx(8 * found.flops)


def test_processors_beside_accelerators_are_not_known() -> None:
    assert processor_speed(node("g5.xlarge")) is None
