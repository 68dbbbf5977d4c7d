"""Findings as SARIF, which editors and code hosts show on the line."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from components.contract.findings.ids import RuleId
from components.contract.findings.registry import rule
from components.contract.findings.sarif import MOST_RESULTS, sarif
from components.plan.review.snapshot import FindingState
from tests.contract.findings.standard import Json, checked
from tests.fleets import GPU, open_model, playground
from workbench.cli import app

ONE = FindingState(
    rule="flags-unknown",
    severity="warning",
    file="models/a.yaml",
    line=7,
    kind="Playground",
    name="chat",
    path="spec.args[0]",
    reason="--foo is not a known flag",
)


def results(*findings: FindingState, **options: Any) -> list[Json]:
    log = checked(sarif(findings, "1.2.3", **options))
    found: list[Json] = log["runs"][0]["results"]
    return found


def rules(*findings: FindingState, **options: Any) -> list[Json]:
    found: list[Json] = checked(sarif(findings, "1.2.3", **options))["runs"][0]["tool"]["driver"]["rules"]
    return found


def marks(*findings: FindingState) -> list[str]:
    return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results(*findings)]


def uri(found: FindingState, **options: Any) -> str:
    location: Mapping[str, Any] = results(found, **options)[0]["locations"][0]["physicalLocation"]
    text: str = location["artifactLocation"]["uri"]
    return text


def test_without_a_comparison_no_finding_has_a_baseline_state() -> None:
    assert "baselineState" not in results(ONE)[0]


def test_with_a_comparison_each_finding_has_a_baseline_state() -> None:
    other = replace(ONE, line=9, severity="error")
    log = checked(sarif([ONE, other], "1.2.3", states={ONE: "unchanged", other: "new"}))
    found = [(each["level"], each["baselineState"]) for each in log["runs"][0]["results"]]
    assert found == [("error", "new"), ("warning", "unchanged")]


def test_a_finding() -> None:
    (result,) = results(ONE)
    assert result["ruleId"] == "flags-unknown"
    assert result["level"] == "warning"
    assert result["message"] == {"text": "Playground/chat: spec.args[0]: --foo is not a known flag"}
    assert result["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "models/a.yaml"}, "region": {"startLine": 7}},
            "logicalLocations": [
                {"name": "Playground/chat", "fullyQualifiedName": "Playground/chat", "kind": "object"},
                {
                    "name": "spec.args[0]",
                    "fullyQualifiedName": "Playground/chat: spec.args[0]",
                    "kind": "property",
                },
            ],
        }
    ]
    assert "suppressions" not in result


def test_a_rule() -> None:
    (found,) = rules(ONE, documentation="https://example.com/tree/main/")
    info = rule(RuleId.FLAGS_UNKNOWN)
    assert found["shortDescription"]["text"] == info.title
    assert found["help"]["text"] == info.help
    assert found["helpUri"] == "https://example.com/tree/main/docs/findings.md#flags-unknown"
    assert found["helpUri"] in found["help"]["markdown"]
    assert "helpUri" not in rules(ONE)[0], "an address that is not known is none"


def test_nothing_found_is_a_log_too() -> None:
    """GitHub closes the alerts that a later log does not have."""
    log = checked(sarif([], "0.0.0.dev0"))
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["tool"]["driver"]["semanticVersion"] == "0.0.0"


@pytest.mark.parametrize(("kind", "where"), [("Playground", "inSource"), ("", "external")])
def test_what_is_ignored_is_suppressed(kind: str, where: str) -> None:
    (result,) = results(replace(ONE, kind=kind, ignored="our own build"))
    assert result["suppressions"] == [{"kind": where, "status": "accepted", "justification": "our own build"}]


def test_a_finding_without_a_line_has_no_region() -> None:
    (result,) = results(replace(ONE, line=0, kind="", name="", file="Pulumi.prod.yaml"))
    assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "Pulumi.prod.yaml"}}
    assert [each["kind"] for each in result["locations"][0]["logicalLocations"]] == ["property"]


@pytest.mark.parametrize("file", ["<stdin>", "<program>"])
def test_what_is_no_file_has_no_place_in_one(file: str) -> None:
    assert "physicalLocation" not in results(replace(ONE, file=file))[0]["locations"][0]


@pytest.mark.parametrize(
    ("file", "folder", "found"),
    [
        ("models/a.yaml", "", "models/a.yaml"),
        ("./models//a.yaml", "", "models/a.yaml"),
        ("models/a.yaml", "teams/x", "teams/x/models/a.yaml"),
        ("../shared/a.yaml", "teams/x", "teams/shared/a.yaml"),
        ("a b#c?%d.yaml", "", "a%20b%23c%3F%25d.yaml"),
        ("c:d.yaml", "", "c%3Ad.yaml"),
        ("modèle.yaml", "", "mod%C3%A8le.yaml"),
        ("/etc/a b.yaml", "teams/x", "file:///etc/a%20b.yaml"),
    ],
)
def test_a_file_is_a_uri(file: str, folder: str, found: str) -> None:
    assert uri(replace(ONE, file=file), folder=folder) == found


@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).filter(lambda text: text[0] not in "/<"))
def test_any_name_of_a_file_comes_back(name: str) -> None:
    steps = [step for step in name.split("/") if step not in ("", ".")]
    if ".." not in steps:
        assert unquote(uri(replace(ONE, file=name))) == "/".join(steps)


def test_a_fingerprint_survives_other_lines_and_numbers() -> None:
    moved = replace(ONE, line=99, reason="--foo is not a known flag of another version")
    assert marks(ONE) == marks(moved)
    assert re.fullmatch(r"[0-9a-f]{16}:1", marks(ONE)[0])


@pytest.mark.parametrize(
    "other",
    [{"rule": "flags-deprecated"}, {"file": "b.yaml"}, {"kind": "Service"}, {"name": "other"}, {"path": "spec.x"}],
    ids=lambda change: next(iter(change)),
)
def test_a_fingerprint_tells_findings_apart(other: dict[str, str]) -> None:
    assert marks(ONE) != marks(replace(ONE, **other))  # type: ignore[arg-type]


def test_findings_that_are_alike_are_counted() -> None:
    first, second = marks(ONE, replace(ONE, reason="--bar is not a known flag"))
    assert first.endswith(":1")
    assert second == first.replace(":1", ":2")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("add {name: http}", "add {name: http}"),  # no placeholder: those are numbers
        ("use {0} and {12}", "use {{0}} and {{12}}"),  # 3.11.5
        ("see [here](https://evil.example)", "see [here\\](https://evil.example)"),  # 3.11.6
        ("limits[nvidia.com/gpu] is 2", "limits[nvidia.com/gpu] is 2"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),  # plain text
    ],
)
def test_what_users_wrote_is_text(reason: str, text: str) -> None:
    (result,) = results(replace(ONE, reason=reason, path=""))
    assert result["message"] == {"text": f"Playground/chat: {text}"}


def test_very_many_findings_are_cut_from_the_least_severe() -> None:
    notes = [replace(ONE, rule="sizing-bounds", severity="note", name=str(i)) for i in range(MOST_RESULTS)]
    log = checked(sarif([*notes, ONE, replace(ONE, severity="error")], "1.0.0"))
    kept = log["runs"][0]["results"]
    assert len(kept) == MOST_RESULTS
    assert [each["level"] for each in kept[:3]] == ["error", "warning", "note"]
    (told,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("2 of 25002 findings are left out")


FINDINGS = st.builds(
    FindingState,
    rule=st.sampled_from([str(each) for each in RuleId]),
    severity=st.sampled_from(["error", "warning", "note"]),
    file=st.text(min_size=1, max_size=20),
    line=st.integers(0, 10**6),
    kind=st.sampled_from(["", "Playground"]),
    name=st.text(max_size=10),
    path=st.text(max_size=20),
    reason=st.text(min_size=1, max_size=40),
    ignored=st.sampled_from(["", "because"]),
)


@given(st.lists(FINDINGS, max_size=8))
def test_any_findings_are_a_log(findings: list[FindingState]) -> None:
    log = checked(sarif(findings, "1.0.0"))
    assert len(log["runs"][0]["results"]) == len(findings)
    assert log == sarif(findings, "1.0.0")


def test_every_rule_within_githubs_limits() -> None:
    assert len(rules(*(replace(ONE, rule=str(each)) for each in RuleId))) == len(RuleId)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = open_model(flavors=[{**GPU, "limits": {"nvidia.com/gpu": 2}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
    ignored = playground("other", annotations={"ignore.inference-platform/nodes-too-small": "two are four"})
    Path("a.yaml").write_text(yaml.safe_dump_all([model, playground(), ignored]))
    done = CliRunner().invoke(app, ["validate", "a.yaml", "--output", "sarif"])
    assert done.exit_code == 1, "as with every other output"
    log = checked(json.loads(done.stdout))
    found = [(each["ruleId"], each["level"], "suppressions" in each) for each in log["runs"][0]["results"]]
    assert found == [("nodes-too-small", "error", False), ("nodes-too-small", "error", True)]
