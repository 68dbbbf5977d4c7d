"""Edits of a running fleet: what ``plan`` says is what the facts of the providers say, and what the model does.

An edit that ``plan`` refuses would fail, lose something or have no effect.
"""

from collections.abc import Iterator

import pytest

from components.plan.review.resources import PROTECTED
from components.plan.review.review import Review
from tests.provider_model.agreement import refusals, update
from tests.provider_model.engine import Engine, Kind, Outcome
from tests.provider_model.world import CLUSTER, World
from tests.stacks.edits.cases import Case, bases, cases
from tests.stacks.shipped import Clock


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datetime.datetime", Clock)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_edit(case: Case) -> None:
    before = case.before.program()
    world = World()
    first = Engine(world, before).run()
    assert first.failed == ""
    after = case.after.program()
    result, outcome, disagreements = update(world, before, after)
    assert [*_wrong(case, result), *disagreements] == []
    assert (outcome is None) == bool(case.refused)
    if outcome is None and after.resources:
        deserved = Engine(world, after).run()
        assert deserved.failed or deserved.lost or deserved.without_effect or _loses_cluster(deserved)


@pytest.mark.parametrize("setting", [{"cluster.serviceCidr": "172.21.0.0/16"}, {"clusterName": "other"}])
def test_no_object_of_a_replaced_cluster_stays_in_the_state_alone(setting: dict[str, str]) -> None:
    """``pulumi up`` without a plan before it: all objects are created again in the new cluster."""
    before = bases()["managed"]
    world = World()
    assert Engine(world, before.program()).run().failed == ""
    outcome = Engine(world, before.changed({"set": setting}).program()).run()
    assert (outcome.failed, [text for text in outcome.lost if "cluster that was replaced" in text]) == ("", [])
    assert _loses_cluster(outcome)


def _loses_cluster(outcome: Outcome) -> bool:
    return any(CLUSTER in urn and kind is Kind.REPLACED for urn, kind in outcome.changes.items())


def _wrong(case: Case, result: Review) -> Iterator[str]:
    """Yield in what a review differs from the facts."""
    refused = refusals(result)
    if case.refused:
        if not any(case.refused in text or PROTECTED in text for text in refused):
            yield f"not refused because of {case.refused}: {refused}"
        return
    yield from (f"refused: {text}" for text in refused)
    kinds = {
        kind: {change.urn.rpartition("::")[2] for change in result.changes if change.kind.value == kind}
        for kind in ("created", "updated", "replaced", "deleted")
    }
    for kind, names in case.named.items():
        missing = names & (kinds["replaced"] | kinds["deleted"]) if kind == "kept" else names - kinds[kind]
        yield from (f"{name} is not {kind}" for name in sorted(missing))
    restarts = sum(blast.replicas for blast in result.blasts if blast.disruption.value.startswith("rolls"))
    if restarts != case.restarts:
        yield f"{restarts} replicas restart, not {case.restarts}"
    emptied = {finding.path for finding in result.new if finding.rule == "change-deletes-contents"} - {""}
    if emptied != {case.empties} - {""}:
        yield f"deleted with contents because of {emptied or 'nothing'}, not of {case.empties or 'nothing'}"
    if case.in_place and (kinds["created"] or kinds["replaced"] or kinds["deleted"]):
        yield "not in place"
    if case.nothing and result.changes:
        yield f"{len(result.changes)} resources change"
