"""Rules of the prometheus-adapter, which turn series into metrics of autoscalers (lws-hpa spec 2.4)."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...engines.metrics import Metric, gateway_metrics
from ...fleet.objects import Object
from .names import is_queryable, quoted
from .uses import MetricUse

_SELECTED = "<<.Series>>{<<.LabelMatchers>>}"
_NAMESPACE = {"namespace": {"resource": "namespace"}}
_POD = {"pod": {"resource": "pod"}}
_VARIANTS = ("inferno_desired_replicas", "wva_desired_replicas")
"""The signal of llm-d's controller, up to v0.4.2 and from v0.5.0 on."""


def variant_rule(name: str) -> Object:
    """Return the rule of the controller's signal (WVA spec 10; config/samples/prometheus-adapter-values.yaml).

    The controller's own label ``namespace`` arrives as ``exported_namespace``. One value per variant, while
    upstream's sample returns every series: an autoscaler adds them up, and the controller leaves a stale series
    behind when a variant changes its accelerator.
    """
    overrides = {"exported_namespace": {"resource": "namespace"}, "variant_name": {"resource": "deployment"}}
    return {
        "seriesQuery": f'{name}{{variant_name!="",exported_namespace!=""}}',
        "resources": {"overrides": overrides},
        "name": {"matches": f"^{name}", "as": name},
        "metricsQuery": f"max({name}{{<<.LabelMatchers>>}}) by (exported_namespace, variant_name)",
    }


def adapter_rules(uses: Iterable[MetricUse], window: str) -> Object:
    """Return the chart's ``rules`` for the used metrics, each once, ordered by name.

    Without ``default: false``, the chart exposes every series under names of its own.
    """
    used = [use for use in uses if is_queryable(use)]
    return {
        "default": False,
        "custom": _distinct((use for use in used if use.kind == "Pods"), lambda use: _custom(use, window)),
        "external": _distinct((use for use in used if use.kind == "External"), lambda use: _external(use, window)),
    }


def adapter_config(rules: Object) -> Object:
    """Return the adapter's configuration for the chart value ``rules`` without default rules.

    Source: prometheus-community/helm-charts at cf408a29, charts/prometheus-adapter/templates/configmap.yaml.
    """
    parts = (("rules", rules.get("custom")), ("externalRules", rules.get("external")))
    return {key: of_kind for key, of_kind in parts if of_kind}


def has_rules(rules: Mapping[str, Any]) -> bool:
    """Return whether any metric needs a rule."""
    return bool(rules.get("custom") or rules.get("external"))


def adapter_config_map(key: str, rules: Object) -> Object:
    """Return the ConfigMap that the chart of an existing adapter reads as ``rules.existing``.

    Args:
        key: Namespace and name.
        rules: The chart value ``rules``.
    """
    namespace, _, name = key.partition("/")
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"config.yaml": json.dumps(adapter_config(rules), indent=2, sort_keys=True) + "\n"},  # JSON is YAML
    }


def _distinct(uses: Iterable[MetricUse], rule: Callable[[MetricUse], Object | None]) -> list[Object]:
    rules = (rule(use) for use in uses)
    by_name = {str(body["name"]["as"]): body for body in rules if body}
    return [by_name[name] for name in sorted(by_name)]


def _custom(use: MetricUse, window: str) -> Object | None:
    metric = use.metric
    if metric is not None and metric.type == "histogram" and use.quantile is None:
        return None
    if use.quantile:
        # A percentile per pod. The adapter treats pods without requests as 0.
        query = f"histogram_quantile({use.quantile}, sum(rate({_SELECTED}[{window}])) by (<<.GroupBy>>, le))"
    else:
        query = f"{_query(metric, window)} by (<<.GroupBy>>)"
    return {
        "seriesQuery": f'{{__name__={quoted(use.series)},namespace!="",pod!=""}}',
        "resources": {"overrides": {**_NAMESPACE, **_POD}},
        "name": {"as": use.name},
        "metricsQuery": query,
    }


def _external(use: MetricUse, window: str) -> Object | None:
    """Return the rule of an external metric; None if no engine exports it, because another provider may."""
    metric = use.metric
    if metric is None or metric.type == "histogram":
        return None
    if metric.name in _VARIANTS:
        return variant_rule(metric.name)
    # The label with the autoscaler's namespace. Gateways may run in a namespace of their own.
    label = metric.namespace or (None if is_gateway(metric) else "namespace")
    labelled = f',{label}!=""' if label else ""
    return {
        "seriesQuery": f'{{__name__="{metric.name}"{labelled}}}',
        "resources": {"overrides": {label: {"resource": "namespace"}}} if label else {"namespaced": False},
        "name": {"as": use.name},
        "metricsQuery": _query(metric, window),
    }


def is_gateway(metric: Metric) -> bool:
    """Return whether a gateway exports a metric, not an engine."""
    return metric in gateway_metrics()


def _query(metric: Metric | None, window: str) -> str:
    """Aggregate to one value: the rate of counters, the mean of ratios, the sum of anything else."""
    if metric is not None and metric.type == "counter":
        return f"sum(rate({_SELECTED}[{window}]))"
    return f"avg({_SELECTED})" if metric is not None and metric.ratio else f"sum({_SELECTED})"
