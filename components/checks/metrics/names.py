"""Names and values of manifests in PromQL queries: invalid names are rejected, values are quoted.

Names of metrics and labels cannot be quoted everywhere, so one with ``{`` or ``"`` in it would change the query. The
grammar is that of Prometheus' data model, which is also what the engines export.
"""

import json
import re
from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.names import is_label_value
from ...contract.problems import Problem, field_path
from .uses import MetricUse
from .words import Adapter

_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_METRIC_NAME = "__name__"


def quoted(value: str) -> str:
    """Quote a string for PromQL."""
    # JSON can contain lone surrogates, which cannot be encoded in UTF-8.
    return json.dumps(value.encode(errors="replace").decode(), ensure_ascii=False)


def is_queryable(use: MetricUse) -> bool:
    """Tell whether the name of a metric is valid in a query."""
    return use.metric is not None or _METRIC.fullmatch(use.name) is not None


def queryable_labels(use: MetricUse) -> dict[str, str]:
    """Return the label matchers of a metric that are valid in Prometheus."""
    matchers = {str(key): str(value) for key, value in (use.selector.get("matchLabels") or {}).items()}
    return {key: value for key, value in matchers.items() if _is_label(key)}


def check_names(use: MetricUse, adapter: Adapter) -> Iterator[Problem]:
    """Reject metric and label names that are invalid in Prometheus, and values that the API server rejects.

    External metrics that no engine exports may come from another provider, with names of its own.
    """
    keda = adapter == Adapter.KEDA
    if use.kind == "External" and not keda and use.metric is None:
        return
    if not is_queryable(use):
        reason = f"{use.name!r} is not a valid Prometheus metric name; use letters, digits, '_' and ':'"
        yield use.problem("metric.name", reason, rule=RuleId.METRICS_NAME)
    labels = use.selector.get("matchLabels") or {}
    expressions = use.selector.get("matchExpressions") or ()
    keys: list[tuple[tuple[str | int, ...], str]] = [(("matchLabels", str(key)), str(key)) for key in labels]
    keys += [(("matchExpressions", i, "key"), str(expression.get("key"))) for i, expression in enumerate(expressions)]
    for path, key in keys:
        if not _is_label(key):
            reason = f"{key!r} is not a valid Prometheus label; use letters, digits and '_'"
            yield use.problem(f"metric.selector.{field_path(path)}", reason, rule=RuleId.METRICS_NAME)
    for key, value in labels.items():
        if not keda and not is_label_value(str(value)):
            reason = (
                f"must be at most 63 letters, digits, '-', '_' and '.', found {str(value)!r}; select by another "
                "label, or use adapter 'keda'"
            )
            yield use.problem(
                f"metric.selector.{field_path(('matchLabels', str(key)))}", reason, rule=RuleId.METRICS_NAME
            )


def _is_label(key: str) -> bool:
    return key != _METRIC_NAME and _LABEL.fullmatch(key) is not None
