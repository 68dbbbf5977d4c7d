"""Profiles of models without a benchmark and without reference figures, estimated as ``workbench fit`` does."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from livefleet import estimated_pace

if TYPE_CHECKING:
    from components.fleet.levels import Load
    from components.performance.sizing.assessments import Candidate
    from components.performance.sizing.cases import Profile
    from components.plan.fitting.options import FitOption

_ENGINE = "vllm"
_MILLI = 1000


def estimated_candidates(model: str, load: "Load") -> "tuple[Candidate, ...]":
    """Return the accelerators that a model of the catalog fits on one node; none if the catalog does not have it."""
    from components.checks.memory.cases import Fit
    from components.fleet.cloud_providers import default_provider
    from components.plan.fitting.names import catalog_name
    from components.plan.fitting.options import fit_answer
    from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice

    name, serving = catalog_name(model), engine_choice(_ENGINE)
    if not isinstance(name, str) or not isinstance(serving, EngineChoice):
        return ()
    tokens = max(1, int(load.input_tokens + load.output_tokens))
    question = FitQuestion(name, serving, default_provider().prices.region, context=tokens)
    found = [option for option in fit_answer(question).options if option.spread == 1]
    roomy = [option for option in found if option.verdict.fit is Fit.FITS]
    candidates: dict[tuple[str, int], Candidate] = {}
    for option in roomy or found:
        for candidate in _candidate(name, option, load, tokens):
            candidates.setdefault((candidate.profile.accelerator, candidate.profile.count), candidate)
    return tuple(candidates.values())


def _candidate(model: str, option: "FitOption", load: "Load", tokens: int) -> "Iterator[Candidate]":
    """Yield the profile of an option, if its accelerator and its speed are known."""
    from components.performance.sizing.accelerators import name_on
    from components.performance.sizing.assessments import Candidate
    from components.performance.sizing.cases import Profile

    estimate, accelerator = estimated_pace(option.verdict, option.node.name), name_on(option.node)
    batch = min(option.users, estimate.pace.batch) if estimate else 0
    if estimate is None or accelerator is None or batch < 1:
        return
    # In the middle of a response, a request has its prompt and half of its tokens in the cache.
    cached = float(load.input_tokens + load.output_tokens / 2)
    one, all_ = (estimate.pace.step(number, cached=number * cached) * _MILLI for number in (1, batch))
    beta = (all_ - one) / (batch - 1) if batch > 1 else 0.0
    profile = Profile(accelerator, option.per_node, round(one - beta, 4), round(beta, 6), batch)
    ends = (_scaled(profile, 1 / estimate.spread), _scaled(profile, estimate.spread))
    doubt = (
        f"{model} has no benchmark here; its speed is estimated from memory bandwidth and FLOP/s, published "
        f"measurements are within a factor of {estimate.spread:g}, and the time for prompts is left out"
    )
    yield Candidate(profile, f"estimate on {option.node.name}", batch, tokens, doubt, ends, is_estimated=True)


def _scaled(profile: "Profile", factor: float) -> "Profile":
    return replace(profile, alpha=round(profile.alpha * factor, 4), beta=round(profile.beta * factor, 6))
