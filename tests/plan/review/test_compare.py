"""Two revisions: their models, endpoints and findings, and what can be said where one of them is refused."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.plan.costs.bill import NOTHING, Bill, ModelCost
from components.plan.review.compare import baseline_states, review
from components.plan.review.snapshot import FindingState, ManifestState, ServedModel, Snapshot
from tests.plan.review.revisions import POD, changed, deployment, finding, groups, model, revision, workload

CHAT = workload(deployment())
BASE = revision(CHAT, endpoints={"chat": {"url": "http://chat/v1", "api": "openai"}})


def test_a_revision_alone_is_compared_with_nothing() -> None:
    found = review(BASE, None)
    assert not found.is_compared
    assert not found.changes_nothing
    assert [(each.before, each.after and each.after.title) for each in found.models] == [(None, "Playground/chat")]


def test_a_revision_changes_nothing_against_itself() -> None:
    assert review(BASE, BASE).changes_nothing


def test_a_line_that_moves_is_no_change() -> None:
    warned, below = (replace(BASE, findings=(finding(severity="warning", line=line),)) for line in (3, 7))
    assert review(below, warned).changes_nothing


WRONG, OTHER = finding(), finding("also wrong")
IGNORED = replace(WRONG, ignored="we know")


@pytest.mark.parametrize(
    ("before", "after", "new", "fixed"),
    [
        ((), (WRONG,), (WRONG,), ()),
        ((WRONG,), (), (), (WRONG,)),
        ((WRONG,), (OTHER,), (OTHER,), (WRONG,)),
        ((WRONG,), (WRONG, WRONG), (WRONG,), ()),
        ((WRONG, WRONG), (WRONG,), (), (WRONG,)),
        ((WRONG,), (replace(WRONG, severity="warning"),), (replace(WRONG, severity="warning"),), (WRONG,)),
        ((WRONG,), (replace(WRONG, file="moved.yaml"),), (), ()),
        ((WRONG,), (IGNORED,), (), ()),
        ((IGNORED,), (WRONG,), (WRONG,), ()),
        ((IGNORED,), (), (), ()),
    ],
    ids=["new", "fixed", "another", "twice", "once", "milder", "file moved", "ignored now", "counts again", "gone"],
)
def test_new_and_fixed_findings(
    before: tuple[FindingState, ...],
    after: tuple[FindingState, ...],
    new: tuple[FindingState, ...],
    fixed: tuple[FindingState, ...],
) -> None:
    found = review(replace(BASE, findings=after), replace(BASE, findings=before))
    assert (found.new, found.fixed) == (new, fixed)


def test_findings_about_settings_are_of_their_file() -> None:
    settings = finding(kind="", name="", file="Pulumi.dev.yaml", severity="warning")
    elsewhere = replace(settings, file="Pulumi.prod.yaml")
    assert review(replace(BASE, findings=(elsewhere,)), replace(BASE, findings=(settings,))).new == (elsewhere,)


def named(title: str, *, serves: str = "qwen", namespace: str = "ml") -> ServedModel:
    return replace(model(title=title), model=serves, namespace=namespace)


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        (["Playground/a"], ["Playground/a"], [("Playground/a", "Playground/a")]),
        (["Playground/a"], ["InferenceService/a"], [("Playground/a", "InferenceService/a")]),
        (["Playground/a"], ["Playground/b"], [("Playground/a", "Playground/b")]),
        (["Playground/a", "Playground/b"], ["Playground/c"], [("Playground/a", None), ("Playground/b", None),
                                                              (None, "Playground/c")]),
        ([], ["Playground/a"], [(None, "Playground/a")]),
        (["Playground/a"], [], [("Playground/a", None)]),
    ],
    ids=["stays", "another family", "another name", "which of two", "new", "removed"],
)  # fmt: skip
def test_models_that_are_the_same(
    before: list[str], after: list[str], pairs: list[tuple[str | None, str | None]]
) -> None:
    old, new = (replace(BASE, models=tuple(map(named, titles))) for titles in (before, after))
    found = review(new, old).models
    assert [(each.before and each.before.title, each.after and each.after.title) for each in found] == pairs


def test_models_have_their_costs() -> None:
    cost = ModelCost("Playground/chat", "ml", NOTHING, NOTHING)
    dear = replace(cost, low=NOTHING.times(Decimal(2)), high=NOTHING)
    bills = [Bill("r", "d", models=(each,)) for each in (cost, dear)]
    (found,) = review(replace(BASE, bill=bills[1]), replace(BASE, bill=bills[0])).models
    assert (found.cost_before, found.cost_after) == (cost, dear)


def test_endpoints_that_change() -> None:
    moved = replace(BASE, endpoints={"chat": {"url": "http://chat/v2", "api": "openai"}, "new": {"url": "u"}})
    found = review(moved, BASE)
    assert [(each.name, each.before, each.after) for each in found.endpoints] == [
        ("chat", "http://chat/v1 (api openai)", "http://chat/v2 (api openai)"),
        ("new", None, "u"),
    ]
    assert not found.changes_nothing


@pytest.mark.parametrize("refused", [{"failed": "no settings"}, {"findings": (WRONG,)}])
@pytest.mark.parametrize("side", ["head", "base"])
def test_nothing_is_said_of_resources_where_a_revision_is_refused(refused: dict[str, object], side: str) -> None:
    bad = replace(Snapshot("dev"), **refused)  # type: ignore[arg-type]
    found = review(bad, BASE) if side == "head" else review(BASE, bad)
    assert (found.changes, found.blasts, found.endpoints) == ((), (), ())
    assert not found.is_compared
    assert not found.changes_nothing
    assert any("the program fails for" in note for note in found.notes)


@pytest.mark.parametrize("wrong", [(True, False), (False, True), (True, True)])
def test_restarts_are_forecast_in_spite_of_errors(wrong: tuple[bool, bool]) -> None:
    before = workload(groups(maxUnavailable=2, maxSurge=0), replicas=(4, 4, 4))
    pod = {"containers": [{**POD["containers"][0], "args": ["--max-model-len", "8192"]}]}
    body = changed(dict(before.body), "spec.leaderWorkerTemplate.workerTemplate.spec", pod)
    base, head = (
        replace(revision(each), findings=(WRONG,) * refused)
        for each, refused in zip((before, replace(before, body=body)), wrong, strict=True)
    )
    found, sound = review(head, base), review(replace(head, findings=()), replace(base, findings=()))
    assert not found.is_compared
    assert found.changes == ()
    assert [(each.replicas, each.short, each.waves) for each in found.blasts] == [
        (each.replicas, each.short, each.waves) for each in sound.blasts
    ]
    assert found.blasts[0].replicas == 4
    assert "restarts are those of the change once its errors are fixed" in found.notes


def test_workloads_that_an_error_may_hide_are_not_removed() -> None:
    found = review(replace(revision(), findings=(WRONG,)), BASE)
    assert found.blasts == ()
    assert not any("once its errors are fixed" in note for note in found.notes)


def test_an_ignored_error_refuses_nothing() -> None:
    assert review(replace(BASE, findings=(IGNORED,)), BASE).is_compared


def test_a_stack_that_the_base_does_not_have_is_all_new() -> None:
    found = review(BASE, Snapshot("dev", absent=True))
    assert [str(change.kind) for change in found.changes] == ["created"]
    assert [str(blast.disruption) for blast in found.blasts] == ["new"]


def test_a_stack_that_is_gone_takes_everything_with_it() -> None:
    found = review(Snapshot("dev", absent=True), BASE)
    assert [str(change.kind) for change in found.changes] == ["deleted"]
    assert [str(blast.disruption) for blast in found.blasts] == ["removed"]
    assert found.endpoints[0].after is None


def test_a_change_of_one_deployment() -> None:
    image = changed(deployment(), "spec.template.spec.containers.0.image", "vllm/vllm-openai:v0.21.0")
    found = review(revision(workload(image)), revision(CHAT))
    (change,) = found.changes
    assert [(field.path, field.before, field.after) for field in change.fields] == [
        ("spec.template.spec.containers[main].image", "vllm/vllm-openai:v0.20.0", "vllm/vllm-openai:v0.21.0")
    ]


def test_the_baseline_states_of_sarif() -> None:
    """SARIF 2.1.0, 3.27.24; of what the head has not, nothing is written."""
    gone, kept, come, ignored = (
        finding(reason, severity="warning") for reason in ("gone", "kept", "come", "ignored")
    )
    before = replace(BASE, findings=(gone, replace(kept, line=1), ignored))
    after = replace(BASE, findings=(kept, come, replace(ignored, ignored="known")))
    assert [*baseline_states(review(after, before)).items()] == [
        (kept, "unchanged"),
        (come, "new"),
        (replace(ignored, ignored="known"), "unchanged"),
    ]


@pytest.mark.parametrize(
    "kind", ["ScaledObject", "HTTPScaledObject", "HorizontalPodAutoscaler", "VerticalPodAutoscaler"]
)
def test_an_autoscaler_with_an_error_is_no_model(kind: str) -> None:
    error = FindingState("autoscaling-contested", "error", "chat.yaml", 1, kind, "chat", "spec", "two autoscalers")
    assert review(Snapshot("dev", findings=(error,)), None).models == ()


@pytest.mark.parametrize(("kind", "rows"), [("Playground", ["Playground/chat"]), ("OpenModel", [])])
def test_a_valid_resource_that_is_not_rendered_has_a_row_if_its_kind_serves(kind: str, rows: list[str]) -> None:
    """Also where it is the only one of its kind."""
    error = FindingState("reference-missing", "error", "chat.yaml", 1, kind, "chat", "spec", "no OpenModel named 'x'")
    head = Snapshot("dev", findings=(error,), manifests=(ManifestState(kind, "models", "chat"),))
    found = review(head, None).models
    assert [change.after.title for change in found if change.after and change.unplanned] == rows
    assert len(found) == len(rows)
