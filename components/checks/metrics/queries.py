"""PromQL for what dashboards and alerts ask of every engine alike."""

import re
from collections.abc import Callable, Collection, Mapping

from ...engines.metrics import Metric, engine_metrics

WINDOW = "5m"
BY = "namespace, model, workload"
_WORD = re.compile(r"<<([a-z_]+)((?: [a-z0-9_.]+)*)>>")


def expand(text: str, engines: Collection[str], selector: str, words: Mapping[str, str]) -> str | None:
    """Fill in the words of a query; None where no engine has what it asks for.

    Args:
        text: A query with words such as ``<<gauge queue>>``.
        engines: The engines to ask.
        selector: Label matchers of every series of an engine.
        words: Further words and what they stand for.
    """
    empty = False

    def filled(match: re.Match[str]) -> str:
        nonlocal empty
        word, arguments = match[1], match[2].split()
        if word == "selector":
            return selector
        if word in words:
            return words[word]
        found = _ASKED[word](arguments, engines, selector)
        empty = empty or not found
        return found

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


_ASKED: Mapping[str, Callable[[list[str], Collection[str], str], str]] = {
    "gauge": _gauge,
    "rate": _rate,
    "quantile": _quantile,
}


def _any(kind: str, engines: Collection[str], term: Callable[[Metric], str]) -> str:
    """Join the terms of all engines in brackets.

    ``or`` takes the first of two spellings that a version has side by side: their labels are the same.
    """
    metrics = (m for name, facts in engine_metrics().items() if name in engines for m in facts.of_kind(kind))
    terms = [term(metric) for metric in metrics]
    return f"({' or '.join(terms)})" if terms else ""
