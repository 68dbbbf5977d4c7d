"""What is asked of an engine, in no engine's words: how answers are planned, whatever the API."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .bodies import ApiError
from .texts import AnswerText, FixedText, PlannedText, natural_length, planned_text, seed_of

if TYPE_CHECKING:
    from ..pods.pod import LivePod


Form = Callable[[int], str]
"""Returns the text of a structured answer for a seed; raises an ``ApiError`` where there is none."""
_MOST_STOPS = 64
ASSUMED_CONTEXT = 131_072
"""Tokens of a request with its answer, where the model's context is not known: that of most models of 2024 to 2026. A
request without any bound would take hours."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How long an answer may be, and what else it depends on.

    Attributes:
        most: Tokens that the client wants at most.
        least: Tokens before which it does not end.
        endless: Whether it goes past its own end.
        stops: Sequences that end it.
        seed: The client's.
        fitted: Whether an answer that does not fit into the context ends there; otherwise it is refused.
        form: What the answer must be; None for free text.
    """

    most: int | None = None
    least: int = 0
    endless: bool = False
    stops: tuple[str, ...] = ()
    seed: object = None
    fitted: bool = False
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is answered.

    Attributes:
        key: What the answer depends on.
    """

    tokens: int
    key: object


def plan_answer(pod: "LivePod", model: str, prompt: Prompt, sampling: Sampling, index: int = 0) -> PlannedText:
    """Return the answer to a prompt.

    A structured answer ends where its form does, as with a grammar: no minimum of tokens makes it longer.

    Raises:
        ApiError: it does not fit into the model's context, has more ends than can be looked for, or no text has the
            form that is asked for.
    """
    if len(sampling.stops) > _MOST_STOPS:
        raise ApiError(400, f"stop: at most {_MOST_STOPS} sequences, found {len(sampling.stops)}", "stop")
    seed = seed_of(model, prompt.key, sampling.seed, index)
    most = _most(pod.workload.context, prompt.tokens, sampling)
    if sampling.form is not None:
        fixed = FixedText(sampling.form(seed))
        return replace(planned_text(fixed, fixed.length, most, sampling.stops), structured=True)
    natural = most + 1 if sampling.endless else max(natural_length(seed), sampling.least)
    return planned_text(AnswerText(model, seed), natural, most, sampling.stops)


def _most(known: int | None, prompt: int, sampling: Sampling) -> int:
    context = known or ASSUMED_CONTEXT
    room = context - prompt
    wanted = sampling.most
    if room < 1 or (wanted is not None and wanted > room and not sampling.fitted):
        asks = f" and {wanted} of the answer" if wanted is not None else ""
        raise ApiError(
            400,
            f"This model's maximum context length is {context} tokens. However, your request has {prompt} input "
            f"tokens{asks}. Please reduce the length of the input or of the answer.",
            "max_tokens" if room >= 1 else "messages",
            "context",
        )
    return room if wanted is None else min(wanted, room)
