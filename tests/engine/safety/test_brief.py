"""What ``up`` shows of changes: counts of much, and each row of little."""

import re
from collections.abc import Callable

import pulumi

from tests.engine.support import Stack, config_map
from workbench.engine.local import RunOptions


def program(stack: Stack, count: int, version: str = "1", changed: int = 2) -> Callable[[], None]:
    def run() -> None:
        options = pulumi.ResourceOptions(provider=stack.provider())
        for number in range(count):
            config_map(f"cm-{number}", options, n=version if number < changed else "1")
        pulumi.export("endpoints", {"one": {"url": "http://one" + "x" * 300}})

    return run


def brief(stack: Stack) -> None:
    stack.options = RunOptions(wait=False, brief=True)
    stack.details = False


def test_creations_are_counted_in_the_headline(stack: Stack) -> None:
    brief(stack)
    assert stack.up(program(stack, 60)).ok
    assert re.fullmatch(r"dev: 61 created in \d\.\d s\n", stack.screen)


def test_few_changes_are_shown_each_beside_many_creations(stack: Stack) -> None:
    brief(stack)
    stack.up(program(stack, 5))
    stack.up(program(stack, 60, "2"))
    headline, *rows = stack.screen.splitlines()
    assert re.fullmatch(r"dev: 55 created, 2 updated in \d\.\d s", headline)
    assert [row.split(maxsplit=5) for row in rows] == [
        ["CHANGE", "COUNT", "KIND", "NAME", "FIELDS"],
        ["~", "updated", "1", "ConfigMap", "default/cm-0", 'data.n: "1" => "2"'],
        ["~", "updated", "1", "ConfigMap", "default/cm-1", 'data.n: "1" => "2"'],
    ]


def test_who_is_asked_sees_the_changes_before(stack: Stack) -> None:
    brief(stack)
    stack.up(program(stack, 5))
    seen: list[str] = []

    def agree(question: str) -> bool:
        seen.append(question)
        return True

    stack.options = RunOptions(wait=False, confirm=agree)
    stack.up(program(stack, 60, "2"))
    planned, *rows, done = stack.screen.splitlines()
    assert planned == "dev: 55 to create, 2 to update"
    assert [row.split()[1:5] for row in rows[1:]] == [
        ["update", "1", "ConfigMap", "default/cm-0"],
        ["update", "1", "ConfigMap", "default/cm-1"],
        ["create", "55", "ConfigMap", "default/cm-10"],
    ]
    assert done.startswith("dev: 55 created, 2 updated in ")
    assert seen == ["Apply these 57 changes?"]


def test_with_details_each_resource_and_field_is_shown(stack: Stack) -> None:
    stack.options = RunOptions(wait=False)
    stack.up(program(stack, 60))
    assert stack.screen.count("kubernetes:core/v1:ConfigMap") == 60
    stack.up(program(stack, 60, "2"))
    assert stack.screen.count('~ data.n: "1" => "2"') == 2


def test_many_updates_are_counted_by_kind(stack: Stack) -> None:
    brief(stack)
    stack.up(program(stack, 60, changed=60))
    stack.up(program(stack, 60, "2", changed=60))
    assert "~ updated     60  ConfigMap  default/cm-0 and 59 more" in stack.screen.splitlines()
