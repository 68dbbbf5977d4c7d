"""What counts as a secret changes from version to version: a stored state shows no change for that alone."""

import json
from typing import Any

import pulumi
import pytest

from tests.engine.support import Stack, config_map
from workbench.engine.state import State, StateRow
from workbench.engine.values import Secret, resealed, reveal, seal

HIDDEN, PLAIN = "server:\n  token: hunter2zanzibar\n", "[PAD]"
KEY = b"k" * 32


def program(stack: Stack, hidden: str = HIDDEN, plain: str = PLAIN) -> Any:
    def run() -> None:
        opts = pulumi.ResourceOptions(provider=stack.provider())
        config_map("c", opts, file=hidden, pad_token=plain)
        pulumi.export("endpoint", {"pad_token": plain})

    return run


def stored(stack: Stack) -> None:
    """Leave a state in which the secret is in clear and the lookalike sealed, as an earlier version wrote both."""
    engine, _ = stack.engine(program(stack))
    graph = engine.record(preview=True)
    with State(stack.folder / "stacks", "dev") as state:
        rows = []
        for urn, node in graph.nodes.items():
            inputs = seal(reveal(dict(node.inputs)), state.key)
            if inputs.get("kind") == "ConfigMap":
                inputs["data"]["pad_token"] = seal(Secret(PLAIN), state.key)
                assert inputs["data"]["file"] == HIDDEN
            registration = node.registration
            where = ("c", "u") if registration.is_object else ("", "")
            identity = (registration.type, registration.parent, registration.provider)
            rows.append(StateRow(urn, *identity, *where, inputs=inputs))
        state.write(rows)
        state.set_fact("outputs", {"endpoint": {"pad_token": seal(Secret(PLAIN), state.key)}})


def test_a_state_of_an_earlier_version_has_no_changes(offline: Stack) -> None:
    stored(offline)
    offline.preview(program(offline))
    assert ": no changes" in offline.screen
    assert "Outputs" not in offline.screen


def test_another_value_is_a_change_that_shows_no_secret(offline: Stack) -> None:
    stored(offline)
    offline.preview(program(offline, HIDDEN.replace("2z", "3z"), "[PAD2]"))
    assert "1 to update" in offline.screen
    assert "hunter" not in offline.screen


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ({"a": "x"}, {"a": Secret("x")}, True),
        ({"a": Secret("x")}, {"a": "x"}, True),
        ({"a": "x"}, {"a": Secret("y")}, False),
        ({"a": Secret("x")}, {"a": "y"}, False),
        ({"a": {"b": ["x", 1]}}, {"a": Secret({"b": ["x", 1]})}, True),
        ({"a": ["x", "z"]}, {"a": [Secret("x")]}, False),
        ({"a": "x", "b": 1}, {"a": Secret("x")}, False),
    ],
)
def test_values_are_the_same_sealed_or_not(old: Any, new: Any, *, same: bool) -> None:
    before, after = seal(old, KEY), seal(new, KEY)
    assert (json.dumps(resealed(before, after, KEY)) == json.dumps(after)) is same


def test_what_was_in_clear_leaves_the_file(offline: Stack) -> None:
    stored(offline)
    with State(offline.folder / "stacks", "dev") as state:
        urn, row = next((urn, row) for urn, row in state.rows().items() if "ConfigMap" in urn)
        assert "hunter2" in json.dumps(row.inputs)
        sealed = {**(row.inputs or {}), "data": {"file": seal(Secret(HIDDEN), state.key)}}
        state.write([StateRow(urn, row.type, row.parent, row.provider, "c", "u", inputs=sealed)])
    left = b"".join(path.read_bytes() for path in (offline.folder / "stacks").iterdir())
    assert b"hunter2" not in left
