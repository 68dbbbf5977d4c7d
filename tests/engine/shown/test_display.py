"""What a preview shows: what changes, said once, in colour only where that is wanted; or as JSON."""

import json
from io import StringIO
from typing import Any

import pulumi
import pytest

from tests.engine.support import Stack, config_map
from workbench.engine.display import Display, JsonDisplay, output_changes
from workbench.engine.state import State


def cloud(stack: Stack) -> None:
    """Register two resources of a cloud, a chart, and an object that waits for them."""
    aws = pulumi.ProviderResource("aws", "cloud", {})
    of_aws = pulumi.ResourceOptions(provider=aws)
    bucket = pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {}, of_aws)
    provider = stack.provider()
    chart = pulumi.CustomResource("kubernetes:helm.sh/v3:Release", "c", {}, pulumi.ResourceOptions(provider=provider))
    config_map("late", pulumi.ResourceOptions(provider=provider, depends_on=[bucket, chart]))


def test_planned_only_is_said_once(offline: Stack) -> None:
    offline.preview(lambda: cloud(offline))
    lines = offline.screen.splitlines()
    assert lines[0] == "dev: 1 to create, 4 planned only"
    assert lines[-1] == "4 planned only (not deployed by the local engine)"
    assert offline.screen.count("planned only") == 2


def deployed(stack: Stack, outputs: dict[str, Any]) -> None:
    """Leave the outputs of a deployment in the state."""
    with State(stack.folder / "stacks", "dev") as state:
        state.set_fact("outputs", outputs)


def exporting(**outputs: Any) -> Any:
    def program() -> None:
        for name, value in outputs.items():
            pulumi.export(name, value)

    return program


MANY = {f"m{number}": {"url": f"http://m{number}"} for number in range(50)}


def test_outputs_that_stay_are_not_shown(offline: Stack) -> None:
    deployed(offline, {"endpoints": MANY})
    offline.preview(exporting(endpoints=MANY))
    assert "Outputs" not in offline.screen
    assert "http://" not in offline.screen


def test_of_fifty_entries_the_one_that_changes_is_shown(offline: Stack) -> None:
    deployed(offline, {"endpoints": MANY, "name": "x"})
    offline.preview(exporting(endpoints={**MANY, "m7": {"url": "http://new"}}, name="x"))
    lines = offline.screen.splitlines()
    start = lines.index("Outputs:")
    assert lines[start + 1 : start + 3] == [
        '    ~ endpoints.m7.url: "http://m7" => "http://new"',
        "    1 unchanged",
    ]


@pytest.mark.parametrize(
    ("before", "after", "found", "unchanged"),
    [
        ({}, {}, [], 0),
        ({}, {"a": {"x": 1, "y": {"z": 2}}}, [("+", "a.x"), ("+", "a.y")], 0),
        ({"a": {"x": 1, "y": 2}}, {}, [("-", "a.x"), ("-", "a.y")], 0),
        ({"a": 1}, {"a": {}}, [("~", "a")], 0),
        ({}, {"a": {}}, [("+", "a")], 0),
        ({"a": 1, "b": 2}, {"a": 1}, [("-", "b")], 1),
        ({"a": {"x": 1}}, {"a": {"x": 1, "k.l": 1}}, [("+", 'a["k.l"]')], 0),
        ({}, {"a": {"$sealed": "0"}}, [("+", "a")], 0),
        ({"a": {"$sealed": "0"}}, {"a": {"$sealed": "1"}}, [("~", "a")], 0),
        ({"a": {"$sealed": "0"}}, {"a": {"$sealed": "0"}}, [], 1),
    ],
)
def test_outputs_are_compared_entry_by_entry(
    before: dict[str, Any], after: dict[str, Any], found: list[tuple[str, str]], unchanged: int
) -> None:
    compared = output_changes(before, after)
    assert [(change.op, change.path) for change in compared.changes] == found
    assert compared.unchanged == unchanged


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "stream", "colour"),
    [
        (None, Terminal(), True),
        ("", Terminal(), True),  # https://no-color.org: "when present and not an empty string"
        ("1", Terminal(), False),
        (None, StringIO(), False),
    ],
)
def test_no_color_is_obeyed(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, stream: StringIO, colour: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable is not None:
        monkeypatch.setenv("NO_COLOR", variable)
    assert Display(stream).screen.colors is colour


def test_a_preview_as_json_holds_what_changes_and_no_secret(offline: Stack) -> None:
    def program() -> None:
        cloud(offline)
        options = pulumi.ResourceOptions(provider=offline.provider("other"))
        config_map("now", options, namespace="n")
        pulumi.export("password", pulumi.Output.secret("hunter2"))
        pulumi.export("same", 1)

    deployed(offline, {"same": 1})
    engine, stream = offline.engine(program)
    engine._display = JsonDisplay(stream)
    engine.preview()
    found = json.loads(stream.getvalue())

    by_name = {step["name"]: step for step in found["resources"]}
    assert by_name["now"]["op"] == "create"
    assert by_name["now"]["type"] == "kubernetes:core/v1:ConfigMap"
    assert by_name["b"]["op"] == "pending"
    assert by_name["b"]["note"] == "planned only: the local engine has no provider for it"
    assert found["counts"] == {"create": 3, "pending": 4}
    assert found["outputs"] == [{"path": "password", "op": "+", "new": "[secret]"}]
    assert "hunter2" not in stream.getvalue()
