"""Forecasts of changes against the real controllers: generated replicas, strategies, edits and room on the nodes.

INFERENCE_PLATFORM_ROLLOUTS says how many changes of each kind there are.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from components.plan.rollouts import Rollout, rollout_of
from tests.cluster.rollouts.cases import KINDS, Case, generated
from tests.cluster.rollouts.observed import Trial
from toolkit.kube import Kube

ROLLOUTS = int(os.environ.get("INFERENCE_PLATFORM_ROLLOUTS", "6"))
_TOGETHER = 6


def planned(case: Case) -> Rollout:
    return rollout_of(case.body("x", changed=True), case.after, case.before, case.room)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planned_happens(rollout_kube: Kube, kind: str) -> None:
    cases = list(generated(kind, ROLLOUTS))
    trials = [Trial(rollout_kube, f"{kind.lower()}-{number}", case) for number, case in enumerate(cases)]

    def observed(trial: Trial) -> Rollout:
        try:
            return trial.run()
        finally:
            trial.clean()

    with ThreadPoolExecutor(_TOGETHER) as pool:
        outcomes = list(pool.map(observed, trials))
    different = [
        f"{case}:\n  planned {planned(case)}\n  but     {outcome}"
        for case, outcome in zip(cases, outcomes, strict=True)
        if planned(case) != outcome
    ]
    assert not different, f"{len(different)} of {len(cases)}:\n" + "\n".join(different)
