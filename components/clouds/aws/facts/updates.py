"""Effects of updates on resources of AWS: replacement of the resource, or of nodes."""

import functools
from collections.abc import Mapping
from typing import Any

from ....contract.tables import load_table


def replaced_fields(type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a resource whose change requires replacement; empty if no source states any."""
    row = _updates()["types"].get(type_token, {})
    conditions = _updates()["conditional"].get(type_token, {})
    return (
        *row.get("replaced", ()),
        *(path for path, condition in conditions.items() if _holds(condition, _at(before, path), _at(after, path))),
        *(("region",) if row and type_token not in _updates()["global"] else ()),
    )


def known_arguments(type_token: str) -> frozenset[str] | None:
    """Return the arguments of a resource whose effect a source states; None for a type without any."""
    row = _updates()["types"].get(type_token)
    if row is None:
        return None
    return frozenset({"region", *(path.partition(".")[0] for path in (*row["replaced"], *row["updated"]))})


def replacing_provider_input(type_token: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the changed input of the provider that replaces a resource; empty if none does."""
    regional = type_token.startswith("aws:") and type_token not in _updates()["global"]
    return "region" if regional and before.get("region") != after.get("region") else ""


def _holds(condition: str, before: Any, after: Any) -> bool:  # noqa: ANN401  any JSON value
    """Whether a change meets a condition for replacement; one of unknown values does."""
    if condition == "removed":
        return before is not None and after is None
    if condition == "decreases" and all(isinstance(value, int | float) for value in (before, after)):
        return bool(after < before)
    return bool(before != after)


def _at(value: Any, path: str) -> Any:  # noqa: ANN401
    for step in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def order_free_fields(type_token: str) -> tuple[str, ...]:
    """Return the lists of a resource whose order has no meaning."""
    return tuple(_updates()["sets"].get(type_token, ()))


def renewed_outputs(type_token: str) -> Mapping[str, tuple[str, ...]]:
    """Return the outputs of a resource that an update in place changes, each with the fields that cause it."""
    outputs: Mapping[str, list[str]] = _updates()["renewed"].get(type_token, {})
    return {output: tuple(fields) for output, fields in outputs.items()}


def deletes_first(type_token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether a replacement deletes a resource before it creates the new one, unless the program overrides it.

    This applies to resources with a fixed name, which two resources cannot share, and not to auto-named ones
    (``nameRequiresDeleteBeforeReplace`` in pkg/tfbridge/schema.go of pulumi/pulumi-terraform-bridge at 59de6c66).
    Resources of the plugin framework have no such rule (pkg/pf/tfbridge/provider_diff.go).
    """
    rules = _updates()["first"]
    if not type_token.startswith("aws:") or type_token in rules["never"]:
        return False
    return type_token in rules["always"] or inputs.get(rules["named"].get(type_token, "name")) is not None


def rolling_fields(type_token: str) -> tuple[str, ...]:
    """Return the fields of a resource whose change replaces the nodes created from it."""
    return tuple(_updates()["rolled"].get(type_token, ()))


def update_effects(type_token: str) -> Mapping[str, str]:
    """Return what else an update of a resource in place does, by the field that changes."""
    effects: Mapping[str, str] = _updates()["effects"].get(type_token, {})
    return effects


def rolling_on_removal(type_token: str) -> tuple[str, ...]:
    """Return those of the rolling fields that list what nodes may have: only nodes with a removed value go."""
    return tuple(_updates()["rolled_on_removal"].get(type_token, ()))


@functools.cache
def _updates() -> dict[str, dict[str, Any]]:
    table: dict[str, Any] = load_table(__package__, "updates.yaml")
    return table
