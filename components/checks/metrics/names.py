"""Names and values of manifests on their way into queries: what is no name is refused, and values are quoted.

A name of a metric or label cannot be quoted everywhere, so that one with ``{`` or ``"`` in it would be read as a part
of the query. The grammar is that of Prometheus' data model, which is also what the engines export.
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
_OWN = "__name__"
"""The label that is the metric's name."""


def quoted(value: str) -> str:
    """Return a text as PromQL quotes it, whatever is in it."""
    # Half a character, which JSON can name, cannot be sent to anybody.
    return json.dumps(value.encode(errors="replace").decode(), ensure_ascii=False)


def is_askable(use: MetricUse) -> bool:
    """Tell whether everything that a metric names may stand in a query."""
    return use.metric is not None or _METRIC.fullmatch(use.name) is not None


def askable_labels(use: MetricUse) -> dict[str, str]:
    """Return the labels that a metric selects, as far as Prometheus can have them."""
    found = {str(key): str(value) for key, value in (use.selector.get("matchLabels") or {}).items()}
    return {key: value for key, value in found.items() if _is_label(key)}


def check_names(use: MetricUse, adapter: Adapter) -> Iterator[Problem]:
    """Yield the names of a metric that Prometheus cannot have, and values that the API server refuses.

    An external metric that nothing here exports may come from somebody else's provider, with names of its own.
    """
    keda = adapter == Adapter.KEDA
    if use.kind == "External" and not keda and use.metric is None:
        return
    if not is_askable(use):
        reason = f"{use.name!r} is not the name of a Prometheus metric: use letters, digits, '_' and ':'; correct it"
        yield use.problem("metric.name", reason, rule=RuleId.METRICS_NAME)
    labels = use.selector.get("matchLabels") or {}
    expressions = use.selector.get("matchExpressions") or ()
    keys: list[tuple[tuple[str | int, ...], str]] = [(("matchLabels", str(key)), str(key)) for key in labels]
    keys += [(("matchExpressions", i, "key"), str(each.get("key"))) for i, each in enumerate(expressions)]
    for path, key in keys:
        if not _is_label(key):
            reason = f"{key!r} is not a label that Prometheus can select by: use letters, digits and '_'; correct it"
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
    return key != _OWN and _LABEL.fullmatch(key) is not None
