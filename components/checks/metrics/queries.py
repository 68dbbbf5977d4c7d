"""PromQL queries of dashboards and alerts over the metrics of all engines."""

import re
from collections.abc import Callable, Collection, Mapping

from ...engines.metrics import Metric, engine_metrics

WINDOW = "5m"
BY = "namespace, model, workload"
_WORD = re.compile(r"<<([a-z_]+)((?: [a-z0-9_.]+)*)>>")


def expand(text: str, engines: Collection[str], selector: str, words: Mapping[str, str]) -> str | None:
    """Expand the placeholders of a query; None if no engine exports a required metric.

    Args:
        text: A query with placeholders such as ``<<gauge queue>>``.
        engines: Names of the engines whose metrics are queried.
        selector: Label matchers for every series of an engine.
        words: Further placeholders and their values.
    """
    empty = False

    def filled(match: re.Match[str]) -> str:
        nonlocal empty
        word, arguments = match[1], match[2].split()
        if word == "selector":
            return selector
        if word in words:
            return words[word]
        term = _TERMS[word](arguments, engines, selector)
        empty = empty or not term
        return term

    query = _WORD.sub(filled, text)
    return None if empty else query


def _gauge(arguments: list[str], engines: Collection[str], selector: str) -> str:
    return _any(arguments[0], engines, lambda metric: f"{metric.name}{{{selector}}}")


def _rate(arguments: list[str], engines: Collection[str], selector: str) -> str:
    def rate(metric: Metric) -> str:
        series = f"{metric.name}_sum" if metric.type == "histogram" else metric.name
        return f"rate({series}{{{selector}}}[{WINDOW}])"

    return _any(arguments[0], engines, rate)


def _quantile(arguments: list[str], engines: Collection[str], selector: str) -> str:
    share, kind = arguments
    rates = _any(kind, engines, lambda metric: f"rate({metric.name}_bucket{{{selector}}}[{WINDOW}])")
    return f"histogram_quantile({share}, sum by ({BY}, le) {rates})" if rates else ""


_TERMS: Mapping[str, Callable[[list[str], Collection[str], str], str]] = {
    "gauge": _gauge,
    "rate": _rate,
    "quantile": _quantile,
}


def _any(kind: str, engines: Collection[str], term: Callable[[Metric], str]) -> str:
    """Join the terms of all engines with ``or``, in parentheses.

    If a version exports a metric under two names with the same labels, ``or`` uses the first.
    """
    metrics = (m for name, facts in engine_metrics().items() if name in engines for m in facts.of_kind(kind))
    terms = [term(metric) for metric in metrics]
    return f"({' or '.join(terms)})" if terms else ""
