"""Replicas of operators have no disruption budget, and a note says so where the settings ask for budgets."""

from dataclasses import replace

import pytest

from components.checks.hardening.settings import Hardening
from components.contract.findings.ids import RuleId
from components.families import objects
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.resources.serving.test_operated_replicas import ENVIRONMENT, KINDS, RELEASES

SELECTED = {
    "Playground": ("leaderworkerset.sigs.k8s.io/name: chat", "with maxUnavailable: 1"),
    "InferenceService": ("inference.llmkube.dev/service: chat", "with maxUnavailable: 1"),
    "ModelServing": (
        "modelserving.volcano.sh/name: chat, modelserving.volcano.sh/role: leader",
        "with minAvailable, as a number",
    ),
}
ASKED = replace(ENVIRONMENT, hardening=Hardening(disruption_budgets=True))


def notes(kind: str, replicas: int, environment: Environment) -> list[str]:
    documents = KINDS[kind]({"replicas": replicas}, scaled=False)
    found = plan(objects(documents, releases=RELEASES), environment).problems
    return [problem.reason for problem in found if problem.rule is RuleId.DRAIN_BUDGET]


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_says_what_to_create(kind: str) -> None:
    (reason,) = notes(kind, 3, ASKED)
    assert all(part in reason for part in SELECTED[kind])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("replicas", "environment"),
    [
        (3, ENVIRONMENT),
        (1, ASKED),
        (3, replace(ASKED, options=replace(ASKED.options, realization=Realization.NATIVE))),
    ],
    ids=["budgets disabled", "one replica", "native"],
)
def test_no_note(kind: str, replicas: int, environment: Environment) -> None:
    assert notes(kind, replicas, environment) == []
