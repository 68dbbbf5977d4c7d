"""Every model of the catalog has an answer: an instance type, or the reason why none is named."""

from functools import cache

import pytest

from components.checks.memory.catalog import names
from components.plan.fitting.options import FitAnswer, fit_answer
from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice

LATEST = engine_choice("vllm")
assert isinstance(LATEST, EngineChoice)
CONTEXT = 4096


@cache
def fitted(name: str) -> FitAnswer:
    assert isinstance(LATEST, EngineChoice)
    return fit_answer(FitQuestion(name, LATEST, "us-east-1", context=CONTEXT))


@pytest.mark.parametrize("name", sorted(names()))
def test_a_model_fits_something_or_the_reason_is_stated(name: str) -> None:
    answer = fitted(name)
    if answer.options:
        prices = [option.usd_per_hour for option in answer.options if option.usd_per_hour is not None]
        assert prices == sorted(prices)
        assert all(option.verdict.context == CONTEXT for option in answer.options)
        assert all(option.verdict.margin >= 0 or option.verdict.fit == "tight" for option in answer.options)
    else:
        assert answer.unknown or any(refusal.short_bytes for refusal in answer.refusals)


def test_few_models_fit_nothing() -> None:
    """Those of which no source has the size, and those that exceed four nodes."""
    without = {name for name in names() if not fitted(name).options}
    assert len(without) <= len(list(names())) // 10, sorted(without)
