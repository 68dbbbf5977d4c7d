"""What a terminal shows: the answer on one screen, and everything else with --details."""

from dataclasses import replace

import pytest

from components.checks.memory.cases import Fit
from components.plan.review.compare import review
from components.plan.review.review import ModelChange, Review
from components.plan.review.snapshot import Snapshot
from tests.plan.review.formats.samples import (
    ALONE,
    BASE,
    HEAD,
    NOTHING,
    OLD,
    SOUND,
    WHOLE,
    cost,
    finding,
    model,
    verdict,
)
from toolkit.screen import Screen
from workbench.planning.formats.text import text

SECTIONS = (
    "dev: nothing can be deployed",
    "does not pass: 1 error is new",
    "WORKLOAD",
    "replaced: aws:eks/nodeGroup g6e",
    "deleted: Service models/old",
    "operator upgrade: Example v1 → v2",
    "MODEL",
    "Requests of the trace",
    "error[memory-exceeded] models/chat.yaml:9",
    "warning[field-no-effect] models/chat.yaml:7",
    "1 error, 1 warning, 1 ignored (--details: ",
)
DETAILS = (
    "ignored[memory-tight] models/chat.yaml:11",
    "Fixed (1)",
    "Models",
    "Memory of the fullest GPU",
    "Resource changes",
    "Running replicas",
    "Upgrade of the operator: Example v1 → v2",
    "Endpoint changes",
    "Changes by resource",
    "Sources and assumptions",
    "1 error, 1 warning, 1 ignored",
)


def _in_order(lines: list[str], sections: tuple[str, ...]) -> bool:
    places = [next(at for at, line in enumerate(lines) if line.startswith(section)) for section in sections]
    return places == sorted(places)


def test_the_answer_comes_first() -> None:
    assert _in_order(text(WHOLE).splitlines(), SECTIONS)


def test_details_follow() -> None:
    assert _in_order(text(WHOLE, details=True).splitlines(), DETAILS)


def test_rows_have_their_figures() -> None:
    rows = [line.split() for line in text(SOUND, Screen(120)).splitlines()]
    assert ["MODEL", "FITS", "GPUS", "$/MONTH", "START"] in rows
    assert ["embed", "(new)", "not", "checked", "1", "L40S", "730", "-"] in rows
    assert ["old", "(removed)", "-", "-", "-365", "-"] in rows
    assert "1 model does not change (--details)" in text(SOUND)  # coder


def test_changed_fields_are_in_the_details() -> None:
    lines = text(WHOLE, details=True).splitlines()
    assert "+ Deployment models/embed" in lines
    assert "    spec.replicas: 1 → 2" in lines
    assert "spec.replicas: 1 → 2" not in text(WHOLE)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("details", [False, True])
def test_lines_are_as_wide_as_the_screen(width: int, details: bool) -> None:
    assert max(map(len, text(SOUND, Screen(width), details=details).splitlines())) <= width


def test_colours_are_for_terminals_alone() -> None:
    assert "\x1b" not in text(WHOLE)
    assert "\x1b[" in text(WHOLE, Screen(120, colors=True))


def test_little_is_said_of_nothing() -> None:
    assert text(NOTHING).startswith("dev: nothing changes, 1 model fits, ")
    assert len(text(NOTHING).splitlines()) <= 6


def test_without_a_base_nothing_is_compared() -> None:
    assert "Compared with" not in text(ALONE, details=True)
    assert "→" not in text(ALONE)


def _many(number: int, *, wrong: int = 0) -> Review:
    names = [f"m{place:03d}" for place in range(number)]
    findings = tuple(
        replace(
            finding("nodes-too-small", "error", "too small; choose another"), file=f"models/{name}.yaml", name=name
        )
        for name in names[:wrong]
    )
    models = tuple(model(name, verdict(Fit.FITS, 20)) for name in names)
    assert HEAD.bill
    bill = replace(HEAD.bill, models=tuple(cost(name, "1", "1", "1") for name in names))
    return review(replace(HEAD, models=models, workloads=(), findings=findings, bill=bill), None)


@pytest.mark.parametrize("wrong", [0, 100])
@pytest.mark.parametrize("number", [1, 30, 300])
def test_the_first_screen_answers(number: int, wrong: int) -> None:
    found = _many(number, wrong=min(number, wrong))
    lines = text(found).splitlines()
    assert len(lines) <= 24
    if number > 11:
        assert any(line.endswith("more models (--details)") for line in lines)
    detailed = text(found, details=True)
    assert all(change.after and change.after.title.partition("/")[2] in detailed for change in found.models)


def test_of_what_has_an_error_there_are_no_figures() -> None:
    lines = text(_many(3, wrong=1), Screen(120)).splitlines()
    assert "1 model not planned, 2 fit, the planned models cost $1,460 a month" in " ".join(lines[:2])
    rows = {words[0]: words[1:] for line in lines if (words := line.split())[0].startswith("m0")}
    assert rows["m000"] == ["not", "planned", "-", "-", "-"]
    assert rows["m001"][-2:] == ["730", "-"]


def test_a_model_that_an_error_hides_is_not_removed() -> None:
    wrong = finding("contract", "error", "unknown field")
    base = replace(BASE, findings=(OLD,))
    gone = replace(HEAD, models=(HEAD.models[1],), findings=(wrong,))
    written = text(review(gone, base))
    assert "removed" not in written
    (row,) = (line for line in written.splitlines() if line.startswith("chat"))
    assert row.split()[1:3] == ["not", "planned"]
    # Without an error, it is removed.
    assert "chat (removed)" in text(review(replace(gone, findings=()), base))


def test_settings_that_cannot_be_read_remove_nothing() -> None:
    found = review(Snapshot("dev", failed="a: unknown key"), replace(BASE, findings=(OLD,)))
    assert found.fixed == ()
    assert all(change.unplanned for change in found.models)
    assert text(found) == "dev: no plan can be made\nerror\n  a: unknown key\n"


def test_each_reason_for_no_plan_has_its_file_and_what_to_do() -> None:
    reasons = (
        "Pulumi.dev.yaml: p:cloud: must be 'none' or 'aws', found 'awss'; did you mean 'aws'?\n"
        "Pulumi.dev.yaml:7:1: p:x: is required; write under config:\n    p:x: y"
    )
    assert text(review(Snapshot("dev", failed=reasons), None)).splitlines() == [
        "dev: no plan can be made",
        "error Pulumi.dev.yaml",
        "  p:cloud: must be 'none' or 'aws', found 'awss'",
        "  help: did you mean 'aws'?",
        "error Pulumi.dev.yaml:7:1",
        "  p:x: is required",
        "  help: write under config: p:x: y",
    ]


def test_errors_of_the_base_alone_make_nothing_new() -> None:
    base = replace(BASE, models=(), findings=(finding("contract", "error", "unknown field"),))
    found = review(replace(HEAD, models=(HEAD.models[0],), findings=()), base)
    assert found.models[0].was_unplanned
    assert "(new)" not in text(found)
    assert "not compared: the base has errors" in text(found)


def test_a_new_model_is_new() -> None:
    assert isinstance(SOUND.models[2], ModelChange)
    assert "embed (new)" in text(SOUND)
