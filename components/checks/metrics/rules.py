"""Rules of the prometheus-adapter: how a series becomes a metric of an autoscaler (lws-hpa spec 2.4)."""

from collections.abc import Callable, Iterable
from decimal import Decimal

from ...engines.metrics import Metric, gateway_metrics
from ...fleet.objects import Object
from .names import is_askable, quoted
from .uses import MetricUse

_SELECTED = "<<.Series>>{<<.LabelMatchers>>}"
_NAMESPACE = {"namespace": {"resource": "namespace"}}
_POD = {"pod": {"resource": "pod"}}
WVA_RULE: Object = {
    "seriesQuery": 'inferno_desired_replicas{variant_name!="",exported_namespace!=""}',
    "resources": {
        "overrides": {
            "exported_namespace": {"resource": "namespace"},
            "variant_name": {"resource": "deployment"},
        }
    },
    "name": {"matches": "^inferno_desired_replicas", "as": "inferno_desired_replicas"},
    "metricsQuery": "max(inferno_desired_replicas{<<.LabelMatchers>>}) by (exported_namespace, variant_name)",
}
"""WVA spec 10: the controller's own label ``namespace`` arrives as ``exported_namespace``.

One value per variant, where upstream's sample hands out every series: an autoscaler adds up what it gets, and the
controller leaves a series behind when a variant changes its accelerator.
"""


def adapter_rules(uses: Iterable[MetricUse], window: str) -> Object:
    """Return the ``rules`` of the chart for what is used, each metric once, in the order of their names.

    Without ``default: false`` the chart exposes every series there is, under names of its own.
    """
    used = [use for use in uses if is_askable(use)]
    return {
        "default": False,
        "custom": _distinct((use for use in used if use.kind == "Pods"), lambda use: _custom(use, window)),
        "external": _distinct((use for use in used if use.kind == "External"), lambda use: _external(use, window)),
    }


def _distinct(uses: Iterable[MetricUse], rule: Callable[[MetricUse], Object | None]) -> list[Object]:
    rules = (rule(use) for use in uses)
    by_name = {_name(found): found for found in rules if found}
    return [by_name[name] for name in sorted(by_name)]


def _name(rule: Object) -> str:
    return str(rule["name"]["as"])


def _custom(use: MetricUse, window: str) -> Object | None:
    metric = use.metric
    if metric is not None and metric.type == "histogram" and use.quantile is None:
        return None
    return {
        "seriesQuery": f'{{__name__={quoted(use.series)},namespace!="",pod!=""}}',
        "resources": {"overrides": {**_NAMESPACE, **_POD}},
        "name": {"as": use.name},
        "metricsQuery": _percentile(use.quantile, window)
        if use.quantile
        else f"{_query(metric, window)} by (<<.GroupBy>>)",
    }


def _percentile(quantile: Decimal, window: str) -> str:
    """Return a percentile of what each pod measured; the adapter takes that of a pod without requests for 0."""
    return f"histogram_quantile({quantile}, sum(rate({_SELECTED}[{window}])) by (<<.GroupBy>>, le))"


def _external(use: MetricUse, window: str) -> Object | None:
    """Return the rule of an external metric; none for what nothing here exports: somebody else provides it."""
    metric = use.metric
    if metric is None or metric.type == "histogram":
        return None
    if metric.name == "inferno_desired_replicas":
        return WVA_RULE
    label = _namespace_label(use)
    known = f',{label}!=""' if label else ""
    return {
        "seriesQuery": f'{{__name__="{metric.name}"{known}}}',
        "resources": {"overrides": {label: {"resource": "namespace"}}} if label else {"namespaced": False},
        "name": {"as": use.name},
        "metricsQuery": _query(metric, window),
    }


def _namespace_label(use: MetricUse) -> str | None:
    """Return the label by which the autoscaler's namespace is found; gateways may stand in one of their own."""
    metric = use.metric
    if metric is None or metric.namespace:
        return metric.namespace if metric else "namespace"
    return None if is_gateway(metric) else "namespace"


def is_gateway(metric: Metric) -> bool:
    """Tell whether a metric comes from in front of the engines."""
    return metric in gateway_metrics()


def _query(metric: Metric | None, window: str) -> str:
    """One value: counters by their rate, shares by their mean, all else added up."""
    if metric is not None and metric.type == "counter":
        return f"sum(rate({_SELECTED}[{window}]))"
    return f"avg({_SELECTED})" if metric is not None and metric.ratio else f"sum({_SELECTED})"
