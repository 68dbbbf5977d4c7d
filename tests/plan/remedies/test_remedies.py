"""Every step that a finding offers, taken literally, ends the finding and brings no error."""

import copy
import os
import random
import re
from collections import Counter

import pytest

from components.contract.problems import Problem, Severity
from components.families import objects
from components.plan.plan import plan
from tests.plan.remedies.manifests import Spec, mistakes_of, right
from tests.plan.remedies.steps import Documents, alternatives, follow

MANIFESTS = int(os.environ.get("INFERENCE_PLATFORM_REMEDIES", "25"))
_FIGURES = re.compile(r"\d[\d.,]*")


def _problems(documents: Documents) -> list[Problem]:
    found = plan(objects(copy.deepcopy(documents))).problems
    return [each for each in found if each.severity is not Severity.NOTE]


def _key(problem: Problem) -> tuple[str, ...]:
    """Identify a finding whatever its figures and positions are."""
    cause = _FIGURES.sub("N", problem.reason.partition(";")[0])
    return problem.rule, problem.kind, problem.name, cause


def _errors(documents: Documents) -> set[str]:
    return {each.rule for each in _problems(documents) if each.severity is Severity.ERROR}


def _with(spec: Spec, *names: str) -> Documents:
    wrong = copy.deepcopy(spec)
    for name in names:
        mistakes_of(spec.engine)[name](wrong)
    return wrong.documents()


@pytest.mark.parametrize("seed", range(MANIFESTS))
def test_every_step_of_a_finding_ends_it_and_brings_no_error(seed: int) -> None:
    choice = random.Random(seed)
    spec = right(choice)
    assert _errors(spec.documents()) == set(), spec
    names = choice.sample([*mistakes_of(spec.engine)], choice.choice((1, 1, 2)))
    documents = _with(spec, *names)
    # One mistake may hide the other.
    before = _errors(documents).union(*(_errors(_with(spec, name)) for name in names))
    for problem in _problems(documents):
        for step in alternatives(problem):
            edited = follow(step, problem, documents, spec.engine)
            if edited is None:
                continue
            after = _problems(edited)
            assert _key(problem) not in map(_key, after), (names, step, problem)
            errors = {each.rule: each.reason for each in after if each.severity is Severity.ERROR}
            assert set(errors) <= before, (names, step, problem, errors)


def test_most_steps_are_taken() -> None:
    """A step that is not recognized proves nothing."""
    taken: Counter[bool] = Counter()
    for seed in range(60):
        choice = random.Random(seed)
        spec = right(choice)
        documents = _with(spec, *choice.sample([*mistakes_of(spec.engine)], 1))
        for problem in _problems(documents):
            taken.update(follow(step, problem, documents, spec.engine) is not None for step in alternatives(problem))
    assert taken[True] > 2 * taken[False], taken
