"""What ``up`` shows where tables follow: counts of much, and each row of little."""

from collections.abc import Callable

import pulumi

from tests.engine.support import Stack, config_map
from workbench.engine.local import RunOptions


def program(stack: Stack, count: int, version: str = "1") -> Callable[[], None]:
    def run() -> None:
        options = pulumi.ResourceOptions(provider=stack.provider())
        for number in range(count):
            config_map(f"cm-{number}", options, n=version if number < 2 else "1")
        pulumi.export("endpoints", {"one": {"url": "http://one" + "x" * 300}})

    return run


def brief(stack: Stack) -> None:
    stack.options = RunOptions(wait=False, brief=True)


def test_many_changes_are_counted_by_kind(stack: Stack) -> None:
    brief(stack)
    assert stack.up(program(stack, 60)).ok
    lines = stack.screen.splitlines()
    assert " + 61 to create: 60 ConfigMap, 1 provider" in lines
    assert len(lines) < 12
    assert max(map(len, lines)) < 100
    assert "Outputs: 1; run `workbench outputs` to show them" in lines


def test_few_changes_are_shown_each(stack: Stack) -> None:
    brief(stack)
    stack.up(program(stack, 60))
    stack.up(program(stack, 60, "2"))
    assert [line.split()[2:5] for line in stack.screen.splitlines() if "ConfigMap  " in line] == [
        ["kubernetes:core/v1:ConfigMap", name, "update"] for name in ("cm-0", "cm-1")
    ]
    assert stack.screen.count('~ data.n: "1" => "2"') == 2


def test_beside_many_creations_what_changes_is_shown(stack: Stack) -> None:
    brief(stack)
    stack.up(program(stack, 5))
    stack.up(program(stack, 60, "2"))
    assert " + 55 to create: 55 ConfigMap" in stack.screen
    assert " ~ 2 to update: 2 ConfigMap" in stack.screen
    assert stack.screen.count('~ data.n: "1" => "2"') == 2


def test_who_is_asked_sees_everything(stack: Stack) -> None:
    stack.options = RunOptions(wait=False)
    stack.up(program(stack, 60))
    assert stack.screen.count("kubernetes:core/v1:ConfigMap") == 60
    assert "http://one" in stack.screen
