"""The prometheus-adapter chart's ``rules``, as the program reads them."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def adapter_config(rules: Mapping[str, Any]) -> Json:
    """Return the adapter's config file for the chart value ``rules``, as the chart's ConfigMap template makes it.

    Raises:
        ValueError: the rules rely on something that only the chart has: its default rules, or another ConfigMap.
    """
    if rules.get("default", True):
        raise ValueError(
            "rules.default is true unless set to false, and the chart's default rules are not known here"
        )
    if rules.get("existing"):
        raise ValueError("rules.existing replaces all rules by a ConfigMap that is not known here")
    unknown = rules.keys() - {"default", "existing", "custom", "external", "resource"}
    if unknown:
        raise ValueError(f"the chart knows no rules.{', rules.'.join(sorted(unknown))}")
    config: Json = {}
    for value, key in (("custom", "rules"), ("external", "externalRules"), ("resource", "resourceRules")):
        if rules.get(value):
            config[key] = rules[value]
    return config


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
