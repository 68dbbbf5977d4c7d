"""One resource as it was last applied, and how it is stored."""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


class Intent(enum.StrEnum):
    """What was begun with a resource and not finished."""

    SETTLED = ""
    """Nothing."""
    CREATING = "creating"
    UPDATING = "updating"
    REPLACING = "replacing"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class StateRow:
    """One resource as it was last applied."""

    urn: str
    type: str
    parent: str = ""
    provider: str = ""
    cluster: str = ""
    """uid of the cluster's kube-system namespace: a new cluster at an old address has none of this."""
    uid: str = ""
    """uid of the object; empty until the API server has answered."""
    intent: Intent = Intent.SETTLED
    inputs: Mapping[str, Any] | None = None
    """Last inputs, secrets sealed."""
    dependencies: tuple[str, ...] = ()
    protect: bool = False
    retain: bool = False
    deleted_with: str = ""
    adopted: bool = False
    """Whether somebody else's object was there before; it is left standing when the stack goes."""
    replaced_by: str = ""
    """URN of the resource whose new object took the place of this one, which is deleted last."""

    def settled(self, uid: str) -> "StateRow":
        """Return the row after its step succeeded."""
        return replace(self, uid=uid, intent=Intent.SETTLED)


def values_of(row: StateRow) -> tuple[str, ...]:
    """Return the columns of a row."""
    options = {
        "protect": row.protect,
        "retain": row.retain,
        "deletedWith": row.deleted_with,
        "adopted": row.adopted,
        "replacedBy": row.replaced_by,
    }
    return (
        row.urn, row.type, row.parent, row.provider, row.cluster, row.uid, row.intent.value,
        json.dumps(row.inputs), json.dumps(row.dependencies), json.dumps(options),
    )  # fmt: skip


def row_in(columns: Sequence[object]) -> StateRow:
    """Return the row that is stored.

    Raises:
        ValueError: something else is stored; names the column and what it must hold.
    """
    for name, value in zip(_COLUMNS, columns, strict=True):
        _check(isinstance(value, str), f"{name} must be text, found {type(value).__name__}")
    urn, type_, parent, provider, cluster, uid, intent, *rest = map(str, columns)
    if urn.count("::") < _URN_PARTS - 1:
        raise ValueError("its URN has too few parts")
    inputs, dependencies, options = (_decoded(*stored) for stored in zip(_COLUMNS[-3:], rest, strict=True))
    _check(inputs is None or isinstance(inputs, dict), "inputs must be an object or null")
    _check(not cluster or inputs is None or _is_object(inputs), "inputs must be a Kubernetes object")
    _check(_texts(dependencies), "dependencies must be a list of URNs")
    _check(isinstance(options, dict), "options must be an object")
    flags = [options.get(name, False) for name in ("protect", "retain", "adopted")]
    _check(all(isinstance(flag, bool) for flag in flags), "protect, retain and adopted must be true or false")
    others = [options.get(name, "") for name in ("deletedWith", "replacedBy")]
    _check(_texts(others), "deletedWith and replacedBy must be URNs")
    return StateRow(
        urn, type_, parent, provider, cluster, uid, Intent(intent), inputs, tuple(dependencies),
        protect=flags[0], retain=flags[1], adopted=flags[2], deleted_with=others[0], replaced_by=others[1],
    )  # fmt: skip


_COLUMNS = (
    "urn", "type", "parent", "provider", "cluster", "uid", "intent", "inputs", "dependencies", "options",
)  # fmt: skip
_URN_PARTS = 4


def _decoded(column: str, text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{column} is not JSON: {error}") from None


def _check(fits: object, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_object(inputs: Mapping[str, Any]) -> bool:
    meta = inputs.get("metadata")
    named = isinstance(meta, dict) and isinstance(meta.get("name"), str)
    return named and isinstance(inputs.get("apiVersion"), str) and isinstance(inputs.get("kind"), str)
