"""Ranges that open the API server to the internet."""

import pytest

from components.clouds.aws.api_server import open_ranges
from stacks.cloud_args import cloud_problems
from tests.plan.costs.stacks import AWS, settings_of


@pytest.mark.parametrize(
    ("ranges", "opened"),
    [
        ([], ""),
        (["203.0.113.0/24"], ""),
        (["17.0.0.0/8"], ""),
        (["not a range"], ""),
        (["0.0.0.0/0"], "0.0.0.0/0"),
        (["203.0.113.0/24", "0.0.0.0/0"], "0.0.0.0/0"),
        (["0.0.0.0/1", "128.0.0.0/1"], "0.0.0.0/0"),
        (["16.0.0.0/8", "17.0.0.0/8"], "16.0.0.0/7"),
        (["64.0.0.0/2", "203.0.113.0/24"], "64.0.0.0/2"),
    ],
)
def test_ranges_wider_than_any_organization_has(ranges: list[str], opened: str) -> None:
    assert open_ranges(ranges) == opened


@pytest.mark.parametrize(("ranges", "count"), [(["203.0.113.0/24"], 0), (["0.0.0.0/0"], 1)])
def test_a_stack_is_warned(ranges: list[str], count: int) -> None:
    settings = settings_of({**AWS, "cluster": {"version": "1.35", "publicAccessCidrs": ranges}})
    paths = [problem.path for problem in cloud_problems(settings) if problem.rule == "api-server-open"]
    assert paths == ["cluster.publicAccessCidrs"] * count
