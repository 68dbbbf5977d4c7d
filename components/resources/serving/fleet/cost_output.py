"""The output ``cost``: plain numbers in a stable order."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ....plan.costs.bill import Amounts, Bill, CostItem, ModelCost, TrafficEstimate, by_month, cents
from ....plan.plan import Plan
from .outputs import output_name

_UNIT_PRICE = 6
"""Decimals of a unit price: a GiB costs a fraction of a cent per hour."""


def cost_of(planned: Plan, bill: Bill) -> dict[str, Any]:
    """Return the cost of an environment in US dollars, rounded to cents."""
    models: dict[str, Any] = {}
    for model in bill.models:
        _, _, name = model.title.partition("/")
        key = output_name(planned, model.namespace, name)
        models[model.title if key in models else key] = _model(model)
    return {
        "usdPerMonth": _month(bill.usd_per_hour),
        "usdPerHour": _hour(bill.usd_per_hour),
        "modelsUsdPerMonth": _month(bill.models_usd_per_hour),
        "models": models,
        "items": [_item(item) for item in bill.items],
        "unpriced": [item.name for item in bill.unpriced],
        "region": bill.region,
        "date": bill.date,
        "notes": list(bill.notes),
        "estimates": [_estimate(estimate) for estimate in bill.estimates],
    }


def _model(model: ModelCost) -> dict[str, Any]:
    counted = {"accelerators": _numbers(model.accelerators, float)}
    if model.usd_per_hour is None or model.low is None or model.high is None:
        return {**counted, "unpriced": model.unpriced}
    return {
        "usdPerMonth": _month(model.usd_per_hour),
        "usdPerHour": _hour(model.usd_per_hour),
        "usdPerMonthRange": {"low": float(by_month(model.low).now), "high": float(by_month(model.high).now)},
        **counted,
    }


def _item(item: CostItem) -> dict[str, Any]:
    line = {
        "name": item.name,
        "kind": item.kind.value,
        "unit": item.unit,
        "count": _numbers(item.counts, float),
    }
    price, usd = item.price, item.usd_per_hour
    if price is None or usd is None:
        return {**line, "unpriced": item.unpriced}
    unit_prices = {
        "usd": price.usd,
        "low": price.low,
        "high": price.high,
        "committed": price.committed,
        "committed3Y": price.committed_3y,
    }
    return {
        **line,
        "usdPerMonth": _month(usd),
        "usdPerUnitHour": {
            key: round(float(value), _UNIT_PRICE) for key, value in unit_prices.items() if value is not None
        },
        "bought": price.bought,
        "source": price.source,
    }


def _estimate(estimate: TrafficEstimate) -> dict[str, Any]:
    usd = estimate.usd_per_month
    return {
        "name": estimate.name,
        "gbPerMonth": _numbers(estimate.gigabytes, lambda number: round(float(number), 1)),
        **({"unpriced": estimate.unpriced} if usd is None else {}),
        **({"usdPerMonth": _numbers(usd, lambda amount: float(cents(amount)))} if usd else {}),
        "assumptions": list(estimate.assumptions),
        "unknown": list(estimate.unknown),
        "source": estimate.source,
    }


def _month(usd_per_hour: Amounts) -> dict[str, float]:
    return _numbers(by_month(usd_per_hour), float)


def _hour(usd_per_hour: Amounts) -> dict[str, float]:
    return _numbers(usd_per_hour, lambda usd: float(cents(usd)))


def _numbers(amounts: Amounts, number: Callable[[Decimal], float]) -> dict[str, float]:
    return {"now": number(amounts.now), "min": number(amounts.least), "max": number(amounts.most)}
