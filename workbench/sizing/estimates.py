"""Profiles of models without a benchmark and without reference figures, estimated as ``workbench fit`` does."""

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from livefleet import estimated_pace

if TYPE_CHECKING:
    from components.fleet.levels import Load
    from components.performance.sizing.assessments import Candidate
    from components.performance.sizing.cases import Profile
    from components.plan.fitting.options import FitOption
    from livefleet import TokenPace

_ENGINE = "vllm"
_MILLI = 1000


class EstimatedCandidate(NamedTuple):
    """An accelerator that a model fits, with the pace that its profile is a line through."""

    candidate: "Candidate"
    pace: "TokenPace"


@functools.lru_cache(maxsize=8)
def estimated_candidates(
    model: str, load: "Load", prefill_ms: int | None = None, itl_ms: int = 0
) -> "tuple[EstimatedCandidate, ...]":
    """Return the accelerators that a model fits on one node; none if nothing is known of the model.

    Args:
        model: Its name.
        load: The requests, whose rate is ignored.
        prefill_ms: The measured time of a prompt, which takes the place of the estimate.
        itl_ms: The target for the time between tokens, near which the profile is exact; 0 for none.
    """
    from components.checks.memory.cases import Fit
    from components.fleet.cloud_providers import default_provider
    from components.plan.fitting.names import served_name
    from components.plan.fitting.options import fit_answer
    from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice

    name, serving = served_name(model), engine_choice(_ENGINE)
    if not isinstance(name, str) or not isinstance(serving, EngineChoice):
        return ()
    question = FitQuestion(name, serving, default_provider().prices.region, context=tokens_of(load))
    found = [option for option in fit_answer(question).options if option.spread == 1]
    roomy = [option for option in found if option.verdict.fit is Fit.FITS]
    candidates: dict[tuple[str, int], EstimatedCandidate] = {}
    for option in roomy or found:
        for estimated in _estimated(name, option, load, prefill_ms, itl_ms):
            profile = estimated.candidate.profile
            candidates.setdefault((profile.accelerator, profile.count), estimated)
    return tuple(candidates.values())


def _estimated(
    model: str, option: "FitOption", load: "Load", prefill_ms: int | None, itl_ms: int
) -> "Iterator[EstimatedCandidate]":
    """Yield the profile of an option, if its accelerator and its speed are known."""
    from components.performance.sizing.accelerators import name_on
    from components.performance.sizing.assessments import Candidate
    from components.performance.sizing.cases import Profile

    estimate, accelerator = estimated_pace(option.verdict, option.node.name), name_on(option.node)
    batch = min(option.users, estimate.pace.batch) if estimate else 0
    if estimate is None or accelerator is None or batch < 1:
        return
    pace = replace(estimate.pace, batch=batch)
    if prefill_ms is not None:
        pace = with_prefill(pace, prefill_ms, load)
    # While the engine computes a prompt, all answers wait. Each request waits for its own before the first token, and
    # between its tokens for one of each request beside it.
    prompt = pace.prompt(int(load.input_tokens)) * _MILLI
    between = prompt / max(1, int(load.output_tokens) - 1)
    # In the middle of a response, a request has its prompt and half of its tokens in the cache.
    cached = float(load.input_tokens + load.output_tokens / 2)

    def step(requests: int) -> float:
        return pace.step(requests, cached=requests * cached) * _MILLI

    # With experts, steps are no line: more requests activate fewer new ones. The line is exact for a single request
    # and for as many as the target allows.
    allowed = sum(step(number) + between * number <= itl_ms for number in range(1, batch + 1)) if itl_ms else batch
    most = max(2, allowed)
    slope = (step(most) - step(1)) / (most - 1) if batch > 1 else 0.0
    alpha = step(1) - slope
    # With few tokens after a long prompt, its own counts between the tokens, too: too slow rather than too fast.
    base = max(0.0, alpha - between)
    profile = Profile(
        accelerator,
        option.per_node,
        round(base, 4),
        round(slope + between, 6),
        batch,
        gamma=round(alpha + prompt, 4),
    )
    low = _scaled(profile, 1 / estimate.faster, 1 / estimate.spread)
    high = _scaled(profile, estimate.slower, estimate.spread)
    ends = (low, replace(high, gamma=high.gamma + estimate.beside_ms))
    doubt = (
        f"{model} has no benchmark here; its speed is estimated from memory bandwidth and FLOP/s; nine of ten "
        f"published measurements are at most {estimate.faster:g} times faster or {estimate.slower:g} times slower, "
        f"and times to the first token are within a factor of {estimate.spread:g} and {estimate.beside_ms:g} ms"
    )
    candidate = Candidate(
        profile=profile,
        source=f"estimate on {option.node.name}",
        batch=batch,
        tokens=tokens_of(load),
        doubt=doubt,
        ends=ends,
        is_estimated=True,
    )
    yield EstimatedCandidate(candidate, pace)


def tokens_of(load: "Load") -> int:
    """Return the whole tokens of a request, prompt and answer; at least 1."""
    return max(1, int(load.input_tokens + load.output_tokens))


def with_prefill(pace: "TokenPace", prefill_ms: float, load: "Load") -> "TokenPace":
    """Return a pace whose prompts take a measured time; without input tokens, a prompt is one token."""
    return replace(pace, prefill=prefill_ms / _MILLI / max(1, int(load.input_tokens)), attention=0.0)


def _scaled(profile: "Profile", factor: float, prompts: float) -> "Profile":
    return replace(
        profile,
        alpha=round(profile.alpha * factor, 4),
        beta=round(profile.beta * factor, 6),
        gamma=round(profile.gamma * prompts, 4),
    )
