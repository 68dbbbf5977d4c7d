"""What updates do to resources of AWS: which are replaced, and which replace nodes."""

import functools
from typing import Any

from ...api.tables import table


def replaced_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource that only a new one can have; nothing where no source says it."""
    return tuple(_updates()["replaced"].get(type_token, ()))


def rolling_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces the nodes that are made of it."""
    return tuple(_updates()["rolled"].get(type_token, ()))


@functools.cache
def _updates() -> dict[str, dict[str, list[str]]]:
    found: dict[str, Any] = table(__package__, "updates.yaml")
    return found
