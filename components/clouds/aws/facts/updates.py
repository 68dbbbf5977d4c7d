"""What updates do to resources of AWS: which are replaced, and which replace nodes."""

import functools
from collections.abc import Mapping
from typing import Any

from ....contract.tables import load_table


def replaced_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource that only a new one can have; nothing where no source says it."""
    return tuple(_updates()["replaced"].get(type_token, ()))


def order_free_fields(type_token: str) -> tuple[str, ...]:
    """Return the lists of a resource whose order has no meaning."""
    return tuple(_updates()["sets"].get(type_token, ()))


def renewed_outputs(type_token: str) -> Mapping[str, tuple[str, ...]]:
    """Return the outputs of a resource that an update in place changes, each with the fields that do it."""
    found: Mapping[str, list[str]] = _updates()["renewed"].get(type_token, {})
    return {output: tuple(fields) for output, fields in found.items()}


def deletes_first(type_token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether a replacement deletes a resource before the new one is there, unless the program says otherwise.

    ``nameRequiresDeleteBeforeReplace`` in pkg/tfbridge/schema.go of pulumi/pulumi-terraform-bridge at 59de6c66: so it
    is for a resource with a name of its own, which no second one could have, unless Pulumi makes the names up. A
    resource in the plugin framework has no such rule (pkg/pf/tfbridge/provider_diff.go).
    """
    rules = _updates()["first"]
    if not type_token.startswith("aws:") or type_token in rules["never"]:
        return False
    return type_token in rules["always"] or inputs.get(rules["named"].get(type_token, "name")) is not None


def rolling_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces the nodes that are made of it."""
    return tuple(_updates()["rolled"].get(type_token, ()))


@functools.cache
def _updates() -> dict[str, dict[str, Any]]:
    found: dict[str, Any] = load_table(__package__, "updates.yaml")
    return found
