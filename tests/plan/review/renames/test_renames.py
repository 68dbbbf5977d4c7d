"""What a report says of renames, in each family."""

from dataclasses import replace

import pytest

from components.plan.review.compare import baseline_states, review
from components.plan.review.review import Interruption, Review
from components.plan.review.snapshot import FindingState
from tests.plan.review.renames.cases import CASES, CHAT, MOVED, TALK, Case, edited
from tests.plan.review.renames.planning import planned
from toolkit.screen import Screen
from workbench.planning.formats.text import text
from workbench.planning.wording.resources import blast_lines
from workbench.planning.wording.sentences import verdict


def reviewed(case: Case) -> Review:
    before = planned(case.before, most=case.most, zones=case.zones, namespace=case.namespaces[0])
    file = "others.yaml" if case.moves_file else "models.yaml"
    after = planned(case.after, most=case.most, zones=case.zones, namespace=case.namespaces[1], file=file)
    return review(after, before)


def named(findings: tuple[FindingState, ...]) -> list[str]:
    return sorted(f"{each.rule} {each.kind}/{each.name}" for each in findings)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_rename(case: Case) -> None:
    found = reviewed(case)
    both = [(each.before, each.after) for each in found.models if each.before and each.after]
    moved = [(old.title, new.title) for old, new in both if old.key != new.key]
    assert sorted(moved) == sorted(case.moved)
    assert [each.before.title for each in found.models if each.before and not each.after] == [*case.gone]
    assert [each.after.title for each in found.models if each.after and not each.before] == [*case.come]
    assert named(found.new) == sorted(case.new)
    assert named(found.fixed) == sorted(case.fixed)
    assert (found.head.is_refused, found.base and found.base.is_refused) == (case.refused, case.refused)
    assert {blast.title: blast.pending for blast in found.blasts if blast.pending} == case.pending
    assert ("Pending" in verdict(found)) == bool(case.pending)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_no_part_of_a_report_contradicts_another_one(case: Case) -> None:
    found = reviewed(case)
    written = " ".join(text(found, Screen(400)).split())
    assert ("stay Pending" in written or "stays Pending" in written) == bool(case.pending)
    told = [each for each in found.blasts if each.disruption is not Interruption.NONE]
    for line, blast in zip(blast_lines(found), told, strict=True):
        assert (blast.title in case.pending) == ("Pending" in line.effect)
        if blast.title in case.pending:
            assert line.unavailable != "none"
            assert line.duration == "until there is room"
    for title in case.pending:
        assert title in verdict(found)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_takes_the_place_of_a_workload_is_the_one_that_it_became(case: Case) -> None:
    """Each of several workloads of a model goes on under its own new name."""
    found = reviewed(case)
    gone = {each.title for each in found.blasts if each.disruption is Interruption.REMOVED}
    for blast in found.blasts:
        if blast.disruption is Interruption.NEW and case.moved and not case.come:
            (why,) = blast.because
            assert why.removeprefix("replaces ") in gone


def test_the_verdict_names_what_finds_no_room() -> None:
    found = reviewed(Case("", CHAT, edited(CHAT, TALK), MOVED))
    assert "replicas of Deployment models/qwen-talk stay Pending for lack of GPUs" in verdict(found)
    (new,) = [each for each in found.blasts if each.disruption is Interruption.NEW]
    assert (new.short, new.seconds, new.estimate) == (1, None, "")
    assert new.warning == (
        "a replica stays Pending until there is room: 2 accelerators are required at once, 1 of them until the "
        "removed workloads are deleted, but node group g5-2xlarge has room for 1 (at most 1 node)"
    )


def test_a_new_replica_waits_for_a_node_while_the_old_one_has_its_own() -> None:
    found = reviewed(Case("", CHAT, edited(CHAT, TALK), MOVED, most={"g5.2xlarge": 2}))
    (new,) = [each for each in found.blasts if each.disruption is Interruption.NEW]
    assert "node 7 min" in new.estimate


def test_other_node_groups_that_take_the_pods_have_room_too() -> None:
    only = "          INSTANCE-TYPE: g5.2xlarge\n"
    further = "      - {name: l4, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g6.2xlarge}}\n"
    two = edited(CHAT, (only, only + further))
    found = reviewed(Case("", two, edited(two, TALK), MOVED))
    assert [blast.pending for blast in found.blasts] == [0, 0]
    assert "Pending" not in verdict(found)


def test_a_finding_of_something_renamed_is_updated_in_sarif() -> None:
    before, after = planned(CHAT), planned(edited(CHAT, TALK))
    wrong = FindingState("r", "warning", "models.yaml", 1, "Playground", "qwen-chat", "spec", "qwen-chat is odd")
    now = replace(wrong, name="qwen-talk", reason="qwen-talk is odd")
    found = review(replace(after, findings=(now,)), replace(before, findings=(wrong,)))
    assert baseline_states(found) == {now: "updated"}


def test_findings_that_are_ignored_after_a_rename_are_not_fixed() -> None:
    before, after = planned(CHAT), planned(edited(CHAT, TALK))
    wrong = FindingState("r", "warning", "models.yaml", 1, "Playground", "qwen-chat", "spec", "qwen-chat is odd")
    now = replace(wrong, name="qwen-talk", reason="qwen-talk is odd")
    found = review(replace(after, findings=(replace(now, ignored="known"),)), replace(before, findings=(wrong,)))
    assert (found.new, found.fixed) == ((), ())


@pytest.mark.parametrize(
    ("name", "path", "reason"),
    [
        ("qwen-talk", "spec", "qwen-talk has qwen-chatter, and talk"),
        ("qwen-other", "spec", "qwen-talk has qwen-chatter, and chat"),
        ("qwen-talk", "spec.size", "qwen-talk has qwen-chatter, and chat"),
    ],
    ids=["another text", "another object", "another field"],
)
def test_findings_that_differ_by_more_than_a_name_are_others(name: str, path: str, reason: str) -> None:
    before, after = planned(CHAT), planned(edited(CHAT, TALK))
    text = "qwen-chat has qwen-chatter, and chat"
    wrong = FindingState("r", "warning", "models.yaml", 1, "Playground", "qwen-chat", "spec", text)
    now = replace(wrong, name=name, path=path, reason=reason)
    found = review(replace(after, findings=(now,)), replace(before, findings=(wrong,)))
    assert (found.new, found.fixed) == ((now,), (wrong,))


def test_names_may_change_their_order_in_a_text() -> None:
    before, after = planned(CHAT), planned(edited(CHAT, TALK))
    wrong = FindingState("r", "warning", "models.yaml", 0, "", "", "", "not checked: qwen-chat, qwen-small")
    now = replace(wrong, reason="not checked: qwen-small, qwen-talk")
    found = review(replace(after, findings=(now,)), replace(before, findings=(wrong,)))
    assert (found.new, found.fixed) == ((), ())


def test_snapshots_of_older_versions_have_no_manifests() -> None:
    before, after = (replace(planned(each), manifests=()) for each in (CHAT, edited(CHAT, TALK)))
    found = review(after, before)
    assert [(each.before and each.before.title, each.after and each.after.title) for each in found.models] == [*MOVED]
