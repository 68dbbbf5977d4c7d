"""Label selectors, evaluated as by the API server and the scheduler."""

import re
from collections.abc import Mapping
from typing import Any


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a label selector matches labels."""
    equal = selector.get("matchLabels") or {}
    return equal.items() <= labels.items() and all(
        is_met(expression, labels) for expression in selector.get("matchExpressions") or ()
    )


def is_met(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether labels match an expression of a label selector or a node selector."""
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator if value is not None and re.fullmatch(r"-?\d+", value):
            bound = int(next(iter(values), "0"))
            return int(value) > bound if operator == "Gt" else int(value) < bound
    return False
