"""Label selectors, as the API server and the scheduler read them."""

import re
from collections.abc import Mapping
from typing import Any


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a label selector, as Kubernetes' objects hold them, chooses what has some labels."""
    wanted = selector.get("matchLabels") or {}
    return wanted.items() <= labels.items() and all(
        is_met(each, labels) for each in selector.get("matchExpressions") or ()
    )


def is_met(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether labels meet one expression of a selector, of pods or of nodes."""
    found, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt" | "Lt" as operator if found is not None and re.fullmatch(r"-?\d+", found):
            bound = int(next(iter(values), "0"))
            return int(found) > bound if operator == "Gt" else int(found) < bound
    return False
