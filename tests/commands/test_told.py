"""What is said of a plan without errors: warnings as such, and what was decided as information."""

import pulumi
import pytest

from components.contract.problems import Problem, Severity
from components.resources.serving.arguments import InvalidArguments, log_warnings, report

PROBLEMS = [
    Problem(file="a.yaml", line=1, kind="K", name="n", path="spec", reason=str(each), severity=each)
    for each in Severity
]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Level and text of what is logged."""
    lines: list[tuple[str, str]] = []
    for level in ("debug", "info", "warn", "error"):
        monkeypatch.setattr(pulumi.log, level, lambda text, _=None, level=level: lines.append((level, text)))
    return lines


def test_each_has_its_level(logged: list[tuple[str, str]]) -> None:
    log_warnings(PROBLEMS, str)
    assert logged == [("warn", "a.yaml:1: K/n: spec: warning"), ("info", "a.yaml:1: K/n: spec: note")]


def test_an_error_is_raised_after_all_else_is_told(logged: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidArguments, match="spec: error") as caught:
        report(PROBLEMS)
    assert [level for level, _ in logged] == ["warn", "info"]
    assert "note" not in str(caught.value)


def test_a_note_alone_stops_nothing(logged: list[tuple[str, str]]) -> None:
    report(PROBLEMS[2:])
    assert [level for level, _ in logged] == ["info"]


def test_a_note_is_no_error() -> None:
    assert [problem.is_error for problem in PROBLEMS] == [True, False, False]
    assert PROBLEMS[2].as_dict()["severity"] == "note"
