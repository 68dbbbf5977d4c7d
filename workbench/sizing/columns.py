"""A row of figures for each accelerator, for other programs: every step of the model of queues under one name."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment
    from components.performance.sizing.cases import Sized

Value = str | int | float | bool | None
_FIGURES = {
    "perReplicaPerMinute": "per_minute",
    "throughputPerMinute": "throughput",
    "utilisation": "utilisation",
    "inSystem": "in_system",
    "inService": "in_service",
    "responseMs": "response_ms",
    "serviceMs": "service_ms",
    "itlMs": "itl_ms",
    "waitMs": "wait_ms",
    "waitP95Ms": "wait_p95_ms",
}
"""What one replica does at its share of the requests, by column."""


def rows(assessments: "Sequence[Assessment]") -> list[dict[str, Value]]:
    """Return the figures of each; all have the same columns, in the same order."""
    return [dict(_row(each)) for each in assessments]


def _row(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    candidate, sized = assessment.candidate, assessment.sized
    yield "accelerator", candidate.profile.accelerator
    yield "feasible", sized.is_feasible
    yield "chosen", assessment.chosen
    yield "reason", sized.reason
    yield from _asked(assessment)
    yield from _profile(assessment)
    yield from _rates(sized)
    yield from _behaviour(assessment)
    yield from _costs(assessment)
    yield from _ends(assessment)


def _asked(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    question, load = assessment.question, assessment.question.load
    yield "requestsPerMinute", float(load.per_minute)
    yield "inputTokens", float(load.input_tokens)
    yield "outputTokens", float(load.output_tokens)
    yield "sloItlMs", question.promise.itl_ms
    yield "sloTtftMs", question.promise.ttft_ms
    yield "prefillMs", question.prefill_ms


def _profile(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    candidate, profile = assessment.candidate, assessment.candidate.profile
    yield "acceleratorsPerReplica", profile.count
    yield "alphaMs", profile.alpha
    yield "betaMs", profile.beta
    yield "batch", profile.batch
    yield "publishedBatch", candidate.batch
    yield "batchLimit", candidate.most
    yield "batchLimitSource", candidate.limit or None
    yield "profileSource", candidate.source
    yield "tokenMsAlone", profile.alpha + profile.beta
    yield "tokenMsFull", profile.alpha + profile.beta * profile.batch


def _rates(sized: "Sized") -> Iterator[tuple[str, Value]]:
    from components.performance.sizing.arrays.states import ROOM

    yield "modelTokens", int(sized.case.output_tokens)
    yield "serviceLimitMs", sized.service_limit_ms
    yield "waitLimitMs", sized.wait_limit_ms
    yield "room", ROOM * sized.case.profile.batch
    yield "lambdaMinPerMinute", sized.slowest_per_minute
    yield "lambdaMaxPerMinute", sized.capacity_per_minute
    yield "itlPerMinute", sized.itl_per_minute
    yield "ttftPerMinute", sized.ttft_per_minute
    yield "mostPerMinute", sized.most_per_minute
    yield "limit", sized.limit.value


def _behaviour(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    sized = assessment.sized
    yield "replicas", sized.replicas if sized.is_feasible else None
    yield "totalAccelerators", sized.accelerators if sized.is_feasible else None
    for name, figure in _FIGURES.items():
        yield name, getattr(sized.behaviour, figure) if sized.behaviour else None
    yield "ttftP95Ms", assessment.ttft_p95_ms


def _costs(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    price = assessment.candidate.price
    yield "centsPerAcceleratorHour", float(price.cents_per_hour) if price else None
    yield "priceSource", price.source if price else None
    yield "centsPerHour", assessment.cents_per_hour
    yield "usdPerMonth", assessment.usd_per_month
    yield "usdPerMillionOutputTokens", assessment.usd_per_million_tokens


def _ends(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    """Yield the figures of the fastest and of the slowest that it may be; those of the row where nobody doubts it."""
    for word, sized, usd in zip(
        ("fastest", "slowest"),
        assessment.ends or (assessment.sized, assessment.sized),
        assessment.usd_per_month_ends,
        strict=True,
    ):
        yield f"{word}BetaMs", sized.case.profile.beta
        yield f"{word}Batch", sized.case.profile.batch
        yield f"{word}Feasible", sized.is_feasible
        yield f"{word}Replicas", sized.replicas if sized.is_feasible else None
        yield f"{word}UsdPerMonth", usd


def as_dict(assessments: "Sequence[Assessment]", model: str) -> dict[str, Any]:
    """Return everything, for programs."""
    found = rows(assessments)
    chosen = next((row["accelerator"] for row in found if row["chosen"]), None)
    return {"model": model, "literal": assessments[0].question.literal, "chosen": chosen, "accelerators": found}
