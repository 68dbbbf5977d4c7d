"""Plan the answer to a prompt, independent of the engine's API."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .bodies import ApiError
from .texts import AnswerText, FixedText, PlannedText, natural_length, planned_text, seed_of

if TYPE_CHECKING:
    from ..pods.pod import LivePod


Form = Callable[[int], str]
"""Returns the text of a structured answer for a seed; raises ``ApiError`` if none can be generated."""
_MOST_STOPS = 64
ASSUMED_CONTEXT = 131_072
"""Tokens of a request with its answer, where the model's context is not known: that of most models of 2024 to 2026. A
request without any bound would take hours."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters.

    Attributes:
        most: Maximum tokens; None for no limit.
        least: Minimum tokens.
        endless: Whether the end-of-sequence token is ignored.
        stops: Stop sequences.
        seed: Seed of the client.
        fitted: Whether answers are truncated at the end of the context; otherwise such requests are rejected.
        form: Form of structured output; None for free text.
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
    """A prompt.

    Attributes:
        key: Its content, on which the answer depends.
    """

    tokens: int
    key: object


def plan_answer(pod: "LivePod", model: str, prompt: Prompt, sampling: Sampling, index: int = 0) -> PlannedText:
    """Return the answer to a prompt.

    A minimum of tokens does not extend structured answers, as with a grammar.

    Raises:
        ApiError: the request does not fit into the context, has too many stop sequences, or its form cannot be
            generated.
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
