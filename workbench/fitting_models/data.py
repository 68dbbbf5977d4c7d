"""The answer of ``workbench fit`` as JSON."""

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .speeds import speed_of

if TYPE_CHECKING:
    from components.plan.fitting.options import FitAnswer, FitOption, Refusal
    from components.plan.fitting.question import FitQuestion


def as_json(question: "FitQuestion", answer: "FitAnswer") -> str:
    """Return every instance type with all figures; sizes are bytes on the fullest accelerator."""
    document = {
        "model": question.model,
        "engine": question.serving.engine.name,
        "version": question.serving.tag,
        "args": list(question.flags),
        "users": question.users,
        "region": question.region,
        "options": [_option(option, question.users) for option in answer.options],
        "refused": [_refused(refusal) for refusal in answer.refusals],
        "notJudged": answer.unknown or None,
    }
    return json.dumps(document, indent=2) + "\n"


def _option(option: "FitOption", users: int | None) -> dict[str, Any]:
    from components.plan.fitting.terms import terms_of

    verdict, usd, speed = option.verdict, option.usd_per_hour, speed_of(option, users)
    prices = speed.usd_per_million(float(usd)) if speed and usd is not None else None
    return {
        "instanceType": option.node.name,
        "accelerator": option.node.accelerator,
        "acceleratorsPerReplica": option.parallel.accelerators,
        "tensorParallelism": option.parallel.tensor,
        "pipelineParallelism": option.parallel.pipeline,
        "replicas": option.replicas,
        "nodes": option.nodes,
        "verdict": verdict.fit.value,
        "reason": verdict.reason,
        "usableBytes": verdict.usable,
        "neededBytes": verdict.needed,
        "cacheBytes": option.cache_bytes,
        "context": verdict.context,
        "longestContext": verdict.largest_context or None,
        "usersPerReplica": option.users or None,
        "usdPerHour": _number(usd),
        "usdPerHourOfReplicas": _number(option.share_usd_per_hour),
        "usdPerMonth": _monthly(usd),
        "usdPerMonthOfReplicas": _monthly(option.share_usd_per_hour),
        "priceSource": option.price.source if option.price else None,
        "tokensPerSecond": speed.tokens if speed else None,
        "tokensPerSecondRange": [speed.low, speed.high] if speed else None,
        "usdPerMillionTokens": prices[0] if prices else None,
        "usdPerMillionTokensRange": list(prices[1:]) if prices else None,
        "terms": [
            {"name": term.name, "bytes": term.size, "counted": term.counted, "how": term.how, "source": term.source}
            for term in terms_of(verdict)
        ],
        "notes": list(verdict.notes),
    }


def _refused(refusal: "Refusal") -> dict[str, Any]:
    return {
        "accelerator": refusal.accelerator,
        "acceleratorMemoryGib": float(refusal.memory_gib),
        "accelerators": refusal.accelerators,
        "instanceTypes": list(refusal.types),
        "reason": refusal.reason,
        "shortBytes": refusal.short_bytes or None,
        "longestContext": refusal.context or None,
    }


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _monthly(hourly: Decimal | None) -> float | None:
    from components.plan.costs.bill import HOURS_PER_MONTH

    return None if hourly is None else round(float(hourly * HOURS_PER_MONTH), 2)
