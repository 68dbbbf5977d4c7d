"""Differences between a resource in the state and in the program, and whether they can be applied in place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from components.plan.review.differences import MISSING, differences, fixed_fields, is_within, parse_path, path_text

from .values import Secret, is_sealed


@dataclass(frozen=True, slots=True)
class Change:
    """A changed field."""

    path: str
    old: Any
    new: Any
    op: str
    """``+`` added, ``-`` removed, ``~`` changed."""
    replaces: bool = False
    kind: str = ""
    """Kind of the Kubernetes object."""


def changes(old: Any, new: Any) -> list[Change]:  # noqa: ANN401 - any JSON value
    """Return the fields that differ, in the order of the new value."""
    kinds = [str(value["kind"]) for value in (new, old) if isinstance(value, dict) and "kind" in value]
    found = []
    for path, before, after in differences(old, new, is_sealed):
        if before is MISSING:
            op = "+"
        elif after is MISSING:
            op = "-"
        else:
            op = "~"
        found.append(
            Change(
                path=path_text(path),
                old=None if before is MISSING else _sealed_like(before, after),
                new=None if after is MISSING else _sealed_like(after, before),
                op=op,
                kind=kinds[0] if kinds else "",
            )
        )
    return found


def _sealed_like(value: Any, other: Any) -> Any:  # noqa: ANN401
    """Mark a value as secret if its counterpart is sealed: the field has become a secret, or no longer is one."""
    return Secret(value) if is_sealed(other) and not is_sealed(value) else value


def ignored(old: Any, new: Any, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Return ``new`` with the fields of ``ignore_changes`` reset to their old values."""
    for text in paths:
        new = _keep(old, new, parse_path(text))
    return new


def _keep(old: Any, new: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401
    if not path:
        return old
    head, rest = path[0], path[1:]
    if isinstance(new, dict) and isinstance(old, dict | _Absent):
        before = old if isinstance(old, dict) else {}
        merged = dict(new)
        for key in {**new, **before} if head == "*" else (head,):
            value = _keep(before.get(key, ABSENT), merged.get(key, ABSENT), rest)
            if value is ABSENT:
                merged.pop(key, None)
            else:
                merged[key] = value
        return merged
    if isinstance(new, list) and isinstance(old, list):
        return [
            _keep(old[index], item, rest) if index < len(old) and head in ("*", str(index)) else item
            for index, item in enumerate(new)
        ]
    if new is ABSENT and isinstance(old, dict) and (head in old or head == "*"):
        return old if not rest else _keep(old, {}, path)
    return new


class _Absent:
    """The absence of a value, which differs from null."""


ABSENT = _Absent()


def replacing(changes: Iterable[Change], inputs: Mapping[str, Any], on_changes: Sequence[str]) -> list[Change]:
    """Mark the changes that require a replacement."""
    fixed = fixed_fields(inputs, on_changes)
    return [replace(change, replaces=is_within(parse_path(change.path), fixed)) for change in changes]
