"""The core Service of a model, which llmaz's kind of that name is not, and the address that a cloud gives it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .types import Object

BALANCED = ("loadBalancer.ingress[0].hostname", "loadBalancer.ingress[0].ip")
"""Where the status of a Service has the address of its load balancer: AWS gives names, others numbers."""
_STEP = re.compile(r"[^.\[\]]+")


def core_service(objects: Iterable[Object]) -> Object | None:
    """Return the core Service among the objects of a workload; None where an operator makes it."""
    return next((body for body in objects if _is_core_service(body)), None)


def is_balanced(body: Mapping[str, Any]) -> bool:
    """Tell whether an object is a core Service that asks for a load balancer."""
    return _is_core_service(body) and body["spec"].get("type") == "LoadBalancer"


def _is_core_service(body: Mapping[str, Any]) -> bool:
    return (body["apiVersion"], body["kind"]) == ("v1", "Service")


def address_in(status: Mapping[str, Any] | None, fields: Iterable[str]) -> str | None:
    """Return the first of some fields of a status that is there; None as long as there is none."""
    return next((found for found in (_at(status, field) for field in fields) if found), None)


def _at(status: object, field: str) -> Any:  # noqa: ANN401 - any JSON
    found: Any = status
    for step in _STEP.findall(field):
        try:
            found = found[int(step) if step.isdecimal() else step]
        except (KeyError, IndexError, TypeError):
            return None
    return found
