"""Where several checks speak of one field, the first cause speaks; what the README shows of it happens."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from components.contract.problems import Problem, Severity, root_causes
from components.families import objects
from components.plan.plan import plan
from tests.fleets import open_model, playground
from workbench.cli import app

ROOT = Path(__file__).parents[2]
FLAVOR = {"name": "a10g", "limits": {"nvidia.com/gpu": 2}}


def flavored(**params: str) -> list[str]:
    model = open_model(flavors=[{**FLAVOR, "params": params}])
    found = plan(objects([model, playground()])).problems
    return [f"{problem.severity}: {problem.reason}" for problem in found]


def test_gpus_that_a_node_lacks_are_not_to_be_used() -> None:
    (problem,) = flavored(**{"INSTANCE-TYPE": "g5.2xlarge"})
    assert problem.startswith("error")
    assert "has only 1" in problem
    assert "add params: {TP" not in problem


def test_gpus_that_a_node_has_are() -> None:
    """The counter-example: four GPUs, two asked for, one used."""
    (problem,) = flavored(**{"INSTANCE-TYPE": "g5.12xlarge"})
    assert problem.startswith("warning")
    assert "add params: {TP: '2'}" in problem


def test_the_readme_shows_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs instead of one in the shipped sample, word for word."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("$ workbench validate stacks/models/qwen-chat.yaml\n")[2].partition("```")[0]
    shutil.copytree(ROOT / "stacks" / "models", tmp_path / "stacks" / "models")
    sample = tmp_path / "stacks" / "models" / "qwen-chat.yaml"
    sample.write_text(sample.read_text().replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["validate", "stacks/models/qwen-chat.yaml"])
    assert result.exit_code == 1
    assert " ".join(result.stdout.split()) == " ".join(shown.split())


PROBLEMS = st.builds(
    Problem,
    file=st.just("a.yaml"),
    line=st.sampled_from([1, 2]),
    kind=st.just("K"),
    name=st.sampled_from("ab"),
    path=st.sampled_from(["", "spec", "spec.a", "spec.b"]),
    reason=st.sampled_from(["x", "y", "z"]),
    severity=st.sampled_from(list(Severity)),
)


@given(st.lists(PROBLEMS))
def test_no_error_is_lost_and_no_field_without_one_is_silent(problems: list[Problem]) -> None:
    left = list(root_causes(problems))
    assert [p for p in left if p.is_error] == list(dict.fromkeys(p for p in problems if p.is_error))
    assert len(left) == len(set(left))

    def places(found: list[Problem]) -> set[tuple[int, str, str]]:
        return {(p.line, p.name, p.path) for p in found}

    assert places(left) == places(problems)
    for place in places([p for p in left if p.is_error]):
        if place[2].startswith("spec."):
            assert all(p.is_error for p in left if (p.line, p.name, p.path) == place)


@pytest.mark.parametrize(("path", "left"), [("", len(Severity)), ("spec", len(Severity)), ("spec.a", 1)])
def test_a_resource_as_a_whole_is_no_field(path: str, left: int) -> None:
    """Two things that are wrong with a resource need not have to do with each other."""
    found = [
        Problem(file="a.yaml", line=1, kind="K", name="a", path=path, reason=severity.value, severity=severity)
        for severity in Severity
    ]
    assert len(list(root_causes(found))) == left
