"""What is deployed is what was approved."""

import json
from pathlib import Path
from typing import Any

import pytest

from ci.approval import previewed
from ci.errors import PipelineError
from tests.workflows.projects import step

URN = "urn:pulumi:dev::fleet::kubernetes:apps/v1:Deployment::chat"


def preview(*steps: dict[str, Any]) -> str:
    """What ``pulumi preview --json`` prints (pulumi/pulumi pkg/display/json.go: previewDigest, previewStep)."""
    return json.dumps({"config": {}, "steps": list(steps), "duration": 1234, "changeSummary": {}})


def update(replicas: int, **state: Any) -> dict[str, Any]:
    old = {"urn": URN, "type": "kubernetes:apps/v1:Deployment", "inputs": {"spec": {"replicas": 1}}}
    new = {**old, "inputs": {"spec": {"replicas": replicas}}, **state}
    return {"op": "update", "urn": URN, "oldState": old, "newState": new, "detailedDiff": None}


CREATE = {"op": "create", "urn": f"{URN}-2", "newState": {"inputs": {"a": "[secret]"}}}
SAME = {"op": "same", "urn": f"{URN}-3", "oldState": {"inputs": {}}, "newState": {"inputs": {}}}

EQUAL = {
    "in another order": (preview(update(2), CREATE), preview(CREATE, update(2))),
    "with what stays": (preview(update(2)), preview(update(2), SAME)),
    "later": (preview(update(2)), preview(update(2, modified="2026-01-02T00:00:00Z"))),
    "with outputs": (preview(update(2)), preview(update(2, outputs={"status": "new"}))),
}
DIFFERENT = {
    "another value": (preview(update(2)), preview(update(3))),
    "another resource": (preview(update(2)), preview(update(2), CREATE)),
    "another operation": (preview(update(2)), preview({**update(2), "op": "replace"})),
    "protection goes": (preview(update(2, protect=True)), preview(update(2))),
    "drift": (preview(update(2)), preview({**update(2), "oldState": {"inputs": {"spec": {"replicas": 9}}}})),
    "nothing any more": (preview(update(2)), preview()),
}


@pytest.mark.parametrize("case", EQUAL)
def test_the_same_is_the_same(case: str) -> None:
    first, second = map(previewed, EQUAL[case])
    assert first == second


@pytest.mark.parametrize("case", DIFFERENT)
def test_something_else_is_not(tmp_path: Path, case: str) -> None:
    first, second = DIFFERENT[case]
    (tmp_path / "first.json").write_text(first)
    (tmp_path / "second.json").write_text(second)
    told = step(["approve", str(tmp_path / "first.json")], {"GITHUB_OUTPUT": str(tmp_path / "out")})
    outputs = dict(line.split("=") for line in (tmp_path / "out").read_text().splitlines())
    assert told.returncode == 0
    assert outputs["changes"] == "1"
    again = step(["approve", str(tmp_path / "first.json"), "--expect", outputs["digest"]])
    assert again.returncode == 0
    other = step(["approve", str(tmp_path / "second.json"), "--expect", outputs["digest"]])
    assert other.returncode == 2
    assert "differs from the approved one" in other.stderr


def test_operations_are_counted() -> None:
    found = previewed(preview(update(2), CREATE, SAME, {**CREATE, "urn": "x"}))
    assert (found.operations, found.changes) == ({"create": 2, "update": 1}, 3)
    assert previewed(preview(SAME)).changes == 0


@pytest.mark.parametrize(
    "text", ["", "error: no stack", "[]", "3", '{"steps": [3]}', '{"steps": [{"op": "create"}]}']
)
def test_what_is_no_preview(text: str) -> None:
    with pytest.raises(PipelineError, match="not the output of `pulumi preview --json`"):
        previewed(text)


def test_a_digest_that_is_missing_is_not_approved(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(preview())
    assert step(["approve", str(tmp_path / "a.json"), "--expect", ""]).returncode == 2
