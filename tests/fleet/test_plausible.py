"""Implausible amounts, and misspelled names of device resources."""

import time
from typing import Any

import pytest

from components.contract.problems import did_you_mean, nearest, some_of
from components.fleet.nodes.fit import nearest_types
from components.fleet.plausible import _implausible


def found(resources: dict[str, Any]) -> dict[str, str]:
    return {str(path[-1]): reason for path, reason, _ in _implausible({"spec": {"resources": resources}}, ("x",))}


@pytest.mark.parametrize(
    ("resources", "field", "said"),
    [
        ({"memory": "64"}, "memory", "write '64Gi' for gibibytes"),
        ({"memory": "64M"}, "memory", "did you mean '64Gi'?"),
        ({"memory": "64m"}, "memory", "thousandths of a byte"),
        ({"limits": {"nvidia.com/gpu": 1, "memory": "64M"}}, "memory", "did you mean '64Gi'?"),
        ({"limits": {"memory": "100"}}, "memory", "100 bytes"),
        ({"requests": {"memory": "64Pi"}}, "memory", "more than any instance type has"),
        ({"requests": {"cpu": 4000}}, "cpu", "write '4000m' for 4 cores"),
        ({"limits": {"nvidia.com/gpu": 1, "cpu": "4m"}}, "cpu", "write '4' for 4 cores"),
        ({"limits": {"nvidia.com/gpus": 1}}, "nvidia.com/gpus", "did you mean 'nvidia.com/gpu'?"),
        ({"limits": {"gpu": 1}}, "gpu", "did you mean"),
    ],
)
def test_implausible_amounts_are_found(resources: dict[str, Any], field: str, said: str) -> None:
    assert said in found(resources)[field]


@pytest.mark.parametrize(
    "resources",
    [
        {"cpu": "4", "memory": "16Gi"},
        {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"nvidia.com/gpu": 8, "memory": "1Ti"}},
        {"requests": {"cpu": "10m", "memory": "16Mi"}},
        {"requests": {"cpu": "192", "memory": "0"}},
        {"limits": {"example.com/fpga": 1, "hugepages-2Mi": "5Gi", "vpc.amazonaws.com/efa": 4}},
        {"limits": {"amd.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1}},
    ],
)
def test_usual_amounts_are_not(resources: dict[str, Any]) -> None:
    assert found(resources) == {}


@pytest.mark.parametrize(("count", "is_found"), [(0, False), (30, False), (1000, True)])
def test_hundreds_of_replicas(count: int, is_found: bool) -> None:
    assert bool(list(_implausible({"spec": {"maxReplicas": count}}, ()))) == is_found


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("A100-80GB", "p4de.24xlarge"),
        ("a100", "p4d.24xlarge"),
        ("H100", "p5.48xlarge"),
        ("NVIDIA-A10", "g5.xlarge"),
        ("l4", "g6.xlarge"),
        ("p4d24xlarge", "did you mean p4d.24xlarge"),
        ("g5.2xl", "did you mean g5.2xlarge"),
    ],
)
def test_accelerators_lead_to_instance_types(name: str, offered: str) -> None:
    assert offered in nearest_types(name)


def test_nothing_is_offered_for_what_is_unknown() -> None:
    assert nearest_types("mi300x") == ""
    assert nearest("replicas", ["replicas"]) == ""
    assert did_you_mean("zzz", ["replicas"]) == ""
    assert some_of([str(number) for number in range(30)]) == "0, 1, 2, 3, 4 and 25 more"


def test_the_search_for_a_name_is_bounded() -> None:
    start = time.process_time()
    nearest("x" * 1_000_000, ["y" * 1_000_000])
    nearest("replica", (f"name-{number}" for number in range(10**9)))
    nearest_types("a-" * 100_000)
    assert time.process_time() - start < 5
