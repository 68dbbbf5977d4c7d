"""Which instance types the nodes for CoreDNS and the controllers may have."""

import pytest

from components.clouds.aws.nodes.system import system_problems
from components.clouds.aws.words import NodeImage


def found(*types: str) -> list[str]:
    return [reason for _, reason in system_problems(types, 2, NodeImage.AL2023, None)]


@pytest.mark.parametrize(
    "name", ["t3.large", "t3a.xlarge", "m8g.large", "c8g.xlarge", "m8i-flex.large", "i7ie.xlarge"]
)
def test_current_types_are_known(name: str) -> None:
    assert found(name) == []


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (["t3.lage"], "unknown instance type 't3.lage'; did you mean t3.large"),
        (["m9z.large"], "unknown instance type 'm9z.large'; did you mean m9g.large"),
        (["t3.nano"], "t3.nano has 0.5 GiB, which the node itself needs, so that no pod fits; use a larger type"),
        (["t3.micro"], "t3.micro has 1 GiB, which"),
        (["t3.large", "t4g.large"], "mixed architectures in one group: t3.large is amd64, t4g.large is arm64"),
        (["g5.xlarge"], "system pods do not need accelerators"),
    ],
)
def test_what_cannot_work_is_refused(types: list[str], reason: str) -> None:
    (only,) = found(*types)
    assert only.startswith(reason)
