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
_MAX_STOPS = 64
ASSUMED_CONTEXT = 131_072
"""Tokens of a request with its answer if the model's context is unknown: that of most models of 2024 to 2026.
Without a bound, a request could take hours."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters.

    Attributes:
        max_tokens: None for no limit.
        min_tokens: Does not apply to structured output.
        ignore_eos: Whether the end-of-sequence token is ignored.
        stops: Stop sequences.
        seed: Seed of the client.
        truncate: Whether answers are truncated at the end of the context; otherwise such requests are rejected.
        form: Form of structured output; None for free text.
    """

    max_tokens: int | None = None
    min_tokens: int = 0
    ignore_eos: bool = False
    stops: tuple[str, ...] = ()
    seed: object = None
    truncate: bool = False
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

    Raises:
        ApiError: the request does not fit into the context, has too many stop sequences, or its form cannot be
            generated.
    """
    if len(sampling.stops) > _MAX_STOPS:
        raise ApiError(400, f"stop: at most {_MAX_STOPS} sequences, found {len(sampling.stops)}", "stop")
    context = pod.workload.context or ASSUMED_CONTEXT
    requested, available = sampling.max_tokens, context - prompt.tokens
    if available < 1 or (requested is not None and requested > available and not sampling.truncate):
        answer = f" and {requested} of the answer" if requested is not None else ""
        raise ApiError(
            400,
            f"This model's maximum context length is {context} tokens. However, your request has {prompt.tokens} "
            f"input tokens{answer}. Please reduce the length of the input or of the answer.",
            "max_tokens" if available >= 1 else "messages",
            "context",
        )
    limit = available if requested is None else min(requested, available)
    seed = seed_of(model, prompt.key, sampling.seed, index)
    if sampling.form is not None:
        fixed = FixedText(sampling.form(seed))
        return replace(planned_text(fixed, fixed.length, limit, sampling.stops), structured=True)
    natural = limit + 1 if sampling.ignore_eos else max(natural_length(seed), sampling.min_tokens)
    return planned_text(AnswerText(model, seed), natural, limit, sampling.stops)
