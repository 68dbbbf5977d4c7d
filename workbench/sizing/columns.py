"""JSON and CSV output: a row for each accelerator, with every figure of the queueing model."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment
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
"""Column names of the figures of one replica under its share of the load."""


def rows(assessments: "Sequence[Assessment]") -> list[dict[str, Value]]:
    """Return one row for each assessment, all with the same columns in the same order."""
    return [dict(_cells(assessment)) for assessment in assessments]


def _cells(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    from components.performance.sizing.arrays.states import ROOM

    candidate, profile, sized = assessment.candidate, assessment.candidate.profile, assessment.sized
    question, load = assessment.question, assessment.question.load
    yield "accelerator", profile.accelerator
    yield "feasible", sized.is_feasible
    yield "chosen", assessment.chosen
    yield "reason", sized.reason

    yield "requestsPerMinute", float(load.per_minute)
    yield "users", question.loop.users if question.loop else None
    yield "thinkSeconds", question.loop.think_s if question.loop else None
    yield "inputTokens", float(load.input_tokens)
    yield "outputTokens", float(load.output_tokens)
    yield "sloItlMs", question.targets.itl_ms
    yield "sloTtftMs", question.targets.ttft_ms
    yield "prefillMs", question.prefill_ms

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

    yield "replicas", sized.replicas if sized.is_feasible else None
    yield "totalAccelerators", sized.accelerators if sized.is_feasible else None
    for name, figure in _FIGURES.items():
        yield name, getattr(sized.behaviour, figure) if sized.behaviour else None
    yield "ttftP95Ms", assessment.ttft_p95_ms

    price = candidate.price
    yield "centsPerAcceleratorHour", float(price.cents_per_hour) if price else None
    yield "priceSource", price.source if price else None
    yield "centsPerHour", assessment.cents_per_hour
    yield "usdPerMonth", assessment.usd_per_month
    yield "usdPerMillionOutputTokens", assessment.usd_per_million_tokens

    yield from _checked_cells(assessment)

    # The range of uncertain reference figures; for measured profiles both ends are the row itself.
    for name, end, usd in zip(
        ("fastest", "slowest"), assessment.ends or (sized, sized), assessment.usd_per_month_ends, strict=True
    ):
        yield f"{name}BetaMs", end.case.profile.beta
        yield f"{name}Batch", end.case.profile.batch
        yield f"{name}Feasible", end.is_feasible
        yield f"{name}Replicas", end.replicas if end.is_feasible else None
        yield f"{name}UsdPerMonth", usd


def _checked_cells(assessment: "Assessment") -> Iterator[tuple[str, Value]]:
    """Yield what the simulation found, with one replica fewer, and with users until the targets are missed."""
    checked = assessment.checked
    yield "queueingReplicas", checked.queueing if checked else None
    yield "simulatedRequests", checked.played.requests if checked else None
    runs = {
        "simulated": checked and checked.played,
        "fewer": checked and checked.fewer,
        "most": checked and checked.most,
        "broken": checked and checked.broken,
    }
    for name, run in runs.items():
        yield f"{name}Users", run.users if run else None
        yield f"{name}ItlMs", run.itl_ms if run else None
        yield f"{name}TtftP95Ms", run.ttft_p95_ms if run else None


def as_dict(assessments: "Sequence[Assessment]", model: str) -> dict[str, Any]:
    accelerators = rows(assessments)
    chosen = next((row["accelerator"] for row in accelerators if row["chosen"]), None)
    literal = assessments[0].question.literal
    return {"model": model, "literal": literal, "chosen": chosen, "accelerators": accelerators}
