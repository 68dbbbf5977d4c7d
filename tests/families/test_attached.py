"""A kind that is attached finds what all other resources become, whatever the order of files and of names."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from components.contract.findings.collector import Findings
from components.contract.load import LoadedResource
from components.families import load
from components.fleet.library import Library
from components.fleet.options import Options
from components.fleet.rendered import Rendered
from components.plan.rendering import render_fleet
from tests.families.program import registered
from tests.families.test_toy import MANIFESTS
from tests.toy.family import FAMILY
from tests.toy.rendering import render_nudge


@pytest.fixture(params=[True, False], ids=["attached", "not attached"])
def attached(request: pytest.FixtureRequest, seen: dict[str, bool]) -> Iterator[bool]:
    """The toy with a Nudge that looks for its workload in the library."""

    def looking(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
        item = render_nudge(source, library, options, findings)
        name = item.autoscalers[0].target[2]
        seen[name] = library.workload("default", name) is not None
        return item

    pair, blend, nudge = FAMILY.members
    family = replace(FAMILY, members=(pair, blend, replace(nudge, render=looking, attached=request.param)))
    with registered(family):
        yield request.param


@pytest.fixture
def seen() -> dict[str, bool]:
    return {}


@pytest.mark.parametrize("order", [1, -1])
def test_it_is_rendered_last(attached: bool, seen: dict[str, bool], order: int) -> None:
    found = render_fleet(load([MANIFESTS]).resources[::order])
    assert [str(problem) for problem in found.problems] == []
    # By the names of their kinds, Nudge < Pair and Nudge < Playground.
    assert seen == {"duo-first": attached, "chat": attached}
