"""Every stack of the project comes up, stays as it is, and goes, within the waits of its providers."""

import dataclasses
from pathlib import Path

import pytest

from tests.provider_model.engine import Engine, Outcome
from tests.provider_model.program import Program, program_in
from tests.provider_model.world import World
from tests.stacks.edits.cases import bases
from tests.stacks.shipped import ROOT

SHIPPED = [
    (".", "dev"),
    (".", "staging"),
    (".", "prod"),
    (".", "local"),
    ("examples/eks-karpenter-spot", "dev"),
    ("examples/policy-pack", "dev"),
    ("examples/llmd", "shared"),
    ("templates/eks-python", "local"),
    ("templates/cluster-python", "shared"),
]


@pytest.mark.parametrize(("folder", "stack"), SHIPPED, ids=["-".join(each) for each in SHIPPED])
@pytest.mark.parametrize("slow", [False, True], ids=["as expected", "as slow as expected"])
def test_a_stack_of_the_project(folder: str, stack: str, slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / folder)
    check(_program(folder, stack), slow=slow)


@pytest.mark.parametrize("name", bases())
@pytest.mark.parametrize("slow", [False, True], ids=["as expected", "as slow as expected"])
def test_a_stack_that_is_edited(name: str, slow: bool) -> None:
    check(bases()[name].program(), slow=slow)


_PROGRAMS: dict[tuple[str, str], Program] = {}


def _program(folder: str, stack: str) -> Program:
    if (folder, stack) not in _PROGRAMS:
        _PROGRAMS[folder, stack] = program_in(Path(ROOT, folder), stack)
    return _PROGRAMS[folder, stack]


def check(program: Program, *, slow: bool) -> None:
    assert program.snapshot.failed == ""
    assert program.resources
    world = World(slow=slow)
    first = Engine(world, program).run()
    assert (first.failed, first.lost) == ("", [])
    assert world.cluster.short_of() == []
    again = Engine(world, program).run()
    assert again == Outcome()
    nothing = Program(dataclasses.replace(program.snapshot, workloads=(), models=(), groups=()))
    last = Engine(world, nothing).run()
    if any(resource.protected for resource in program.resources):
        assert "protected" in last.failed
        return
    # Who deletes the stack wants its logs and volumes gone.
    lost = [loss for loss in last.lost if " is deleted with its " not in loss]
    assert (last.failed, lost, list(world.live)) == ("", [], [])
