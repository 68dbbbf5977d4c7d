"""What watches GPUs and nodes: exporters that see no GPU or share it, and node repair without its agent."""

from typing import Any

import pytest

from components.clouds.aws.monitoring import AGENT, CLOUDWATCH, check_monitoring, check_repair
from components.clouds.aws.nodes.launch import Boot
from components.clouds.aws.words import NodeImage, Provisioner
from tests.clouds.aws.environments import environment, flavor, one, planned

_SHOWN = "[settings.nvidia-container-runtime]\nvisible-devices-envvar-when-unprivileged = true\n"
_EXPORTER = "dcgm-exporter"
_NEURON = {"aws.amazon.com/neuron": 1}


def rules(
    addons: list[str],
    charts: list[str],
    kind: str = "g5.2xlarge",
    limits: dict[str, Any] | None = None,
    **changes: Any,
) -> list[str]:
    where = environment(**changes)
    groups = planned(one(flavor(kind, limits), where=where), where)
    return [str(problem.rule) for problem in check_monitoring(groups, where, addons, charts, "Pulumi.dev.yaml")]


@pytest.mark.parametrize(
    ("addons", "charts", "changes", "expected"),
    [
        ([], [], {"image": NodeImage.BOTTLEROCKET}, []),
        ([], [_EXPORTER], {}, []),
        ([CLOUDWATCH], [], {}, []),
        ([], [_EXPORTER], {"image": NodeImage.BOTTLEROCKET}, ["monitoring-blind"]),
        ([], ["gpu-operator"], {"image": NodeImage.BOTTLEROCKET}, ["monitoring-blind"]),
        ([CLOUDWATCH], [], {"image": NodeImage.BOTTLEROCKET}, ["monitoring-blind"]),
        ([], [_EXPORTER], {"image": NodeImage.BOTTLEROCKET, "boot": Boot(user_data=_SHOWN)}, []),
        (
            [],
            [_EXPORTER],
            {"image": NodeImage.BOTTLEROCKET, "boot": Boot(user_data=_SHOWN.replace("true", "false"))},
            ["monitoring-blind"],
        ),
        ([CLOUDWATCH], [_EXPORTER], {}, ["monitoring-twice"]),
        ([CLOUDWATCH], ["gpu-operator"], {}, ["monitoring-twice"]),
        ([CLOUDWATCH], [_EXPORTER], {"image": NodeImage.BOTTLEROCKET}, ["monitoring-twice", "monitoring-blind"]),
        # DCGM is of NVIDIA.
        ([CLOUDWATCH], [_EXPORTER], {"kind": "inf2.xlarge", "limits": _NEURON}, []),
    ],
)
def test_exporters(addons: list[str], charts: list[str], changes: dict[str, Any], expected: list[str]) -> None:
    assert rules(addons, charts, **changes) == expected


@pytest.mark.parametrize("provisioner", Provisioner)
def test_repair_needs_the_agent(provisioner: Provisioner) -> None:
    where = environment(node_repair=True, provisioner=provisioner)
    (problem,) = check_repair(where, [CLOUDWATCH])
    assert f'add {AGENT}: "" to cluster.addons' in problem.reason
    assert list(check_repair(where, [AGENT])) == []
    assert list(check_repair(environment(), [])) == []
