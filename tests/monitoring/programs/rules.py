"""Rules of prometheus-adapter: filled in as it does, and written for tests."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def promql(rule: Mapping[str, Any], series: str, matchers: str, group_by: str) -> str:
    """Fill a rule's metricsQuery in as the adapter does."""
    query: str = rule["metricsQuery"]
    for name, value in ((".Series", series), (".LabelMatchers", matchers), (".GroupBy", group_by)):
        query = query.replace(f"<<{name}>>", value)
    return query


def overrides(**resources: str) -> Json:
    """The ``resources`` of a rule: which label names which resource."""
    return {"overrides": {label: {"resource": resource} for label, resource in resources.items()}}


def names(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rules call their metrics, where they say so without captures."""
    return [rule["name"]["as"] for rule in rules if "$" not in rule.get("name", {}).get("as", "$")]
