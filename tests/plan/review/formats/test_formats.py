"""Which function writes which format."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from components.contract.problems import Problem
from tests.plan.review.formats.samples import ALONE, HEAD, WHOLE
from workbench.planning.formats import SUFFIXES, ReviewFormat, format_of, show, write
from workbench.planning.formats.links import Links

STARTS = {
    ReviewFormat.TEXT: "dev: ",
    ReviewFormat.MARKDOWN: "**Plan of dev:** ",
    ReviewFormat.HTML: "<!DOCTYPE html>",
    ReviewFormat.JSON: '{\n  "schemaVersion": 1,',
    ReviewFormat.SARIF: '{\n  "$schema": "https://docs.oasis-open.org/sarif/',
}


@pytest.mark.parametrize("form", ReviewFormat)
def test_each_format_has_its_writer_and_its_suffix(form: ReviewFormat) -> None:
    assert write(WHOLE, form).startswith(STARTS[form])
    assert write(WHOLE, form).endswith("\n")
    assert show(WHOLE, form).startswith(STARTS[form])
    (suffix,) = (suffix for suffix, found in SUFFIXES.items() if found is form)
    assert format_of(Path(f"plan{suffix.upper()}")) is form


def test_findings_are_logged_at_their_place_in_the_repository() -> None:
    links = Links("https://h/blob/abc/infra", "https://h/blob/abc/infra/docs/findings.md", "infra")
    (run,) = json.loads(write(WHOLE, ReviewFormat.SARIF, links))["runs"]
    assert len(run["results"]) == len(WHOLE.head.findings) == 3
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("memory-exceeded", "error")
    location = first["locations"][0]["physicalLocation"]
    assert (location["artifactLocation"]["uri"], location["region"]["startLine"]) == ("infra/models/chat.yaml", 9)
    addresses = {rule["id"]: rule.get("helpUri") for rule in run["tool"]["driver"]["rules"]}
    assert addresses["memory-exceeded"] == "https://h/blob/abc/infra/docs/findings.md#memory-exceeded"
    assert [each["suppressions"][0]["justification"] for each in run["results"] if "suppressions" in each] == [
        "measured on the real device"
    ]


def test_a_secret_in_a_reason_stays_out_of_every_format() -> None:
    """A finding is made of a problem, which masks what it quotes; no format goes around that."""
    token = "hf_" + "aB3dE5gH7jK9" * 3
    problem = Problem(file="a.yaml", line=1, kind="Playground", name="x", path="spec", reason=f"found {token}")
    reason = str(problem.as_dict()["reason"])
    review = replace(WHOLE, head=replace(HEAD, findings=(replace(HEAD.findings[0], reason=reason),)))
    for form in ReviewFormat:
        assert token not in write(review, form)


def test_sarif_says_what_is_new_where_something_is_compared() -> None:
    compared, alone = (json.loads(write(each, ReviewFormat.SARIF))["runs"][0]["results"] for each in (WHOLE, ALONE))
    assert {each["baselineState"] for each in compared} == {"new", "unchanged"}
    assert not any("baselineState" in each for each in alone)
