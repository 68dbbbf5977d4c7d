"""Forecasts of changes against the real controllers: generated replicas, strategies, edits and room on the nodes.

INFERENCE_PLATFORM_ROLLOUTS says how many changes of each kind there are; every fifth of them is also timed.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from components.plan.review.edits import Edit
from components.plan.rollouts import Rollout
from tests.cluster.rollouts.cases import KINDS, Case, generated
from tests.cluster.rollouts.observed import Trial
from toolkit.kube import Kube

ROLLOUTS = int(os.environ.get("INFERENCE_PLATFORM_ROLLOUTS", "6"))
TIMED = max(2, ROLLOUTS // 5)
SHORTEST, LONGEST = 200.0, 400.0
_TOGETHER = 10


def planned(case: Case) -> Rollout:
    edit = Edit.of(case.body("x", changed=False), case.body("x", changed=True))
    return edit.rollout(case.after, case.before, case.room)


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


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_as_long_as_its_waves(rollout_kube: Kube, kind: str) -> None:
    """The plan adds up the starts of the waves; each pod takes a time of its own within the range of a start."""
    cases = list(generated(kind, TIMED))

    def seconds(number: int) -> float:
        trial = Trial(rollout_kube, f"{kind.lower()}-timed-{number}", cases[number])
        try:
            return trial.timed(Random(number), SHORTEST, LONGEST)
        finally:
            trial.clean()

    with ThreadPoolExecutor(_TOGETHER) as pool:
        durations = list(pool.map(seconds, range(len(cases))))
    outside = [
        f"{case}: {planned(case).waves} waves, but {duration:.0f} seconds"
        for case, duration in zip(cases, durations, strict=True)
        if not SHORTEST * planned(case).waves <= duration <= LONGEST * planned(case).waves
    ]
    assert not outside, f"{len(outside)} of {len(cases)}:\n" + "\n".join(outside)
