"""Validates one object of a known kind, as the admission of the API server does."""

import contextlib
import copy
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from .base import Json
from .kinds import Kind
from .meta import Resource
from .misfits import misfits
from .problems import Hints
from .rules import NameRule

_ROUNDS = 8
"""Maximum number of passes that remove invalid fields; each pass may reveal fields that others hid."""
Found = tuple[tuple[str | int, ...], str]
"""The path of a problem and its reason."""


def check(value: dict[str, Any], kind: Kind, *, odd: bool = True) -> tuple[Resource | None, list[Found]]:
    """Validate one object of a known kind as the admission of the API server does.

    Args:
        value: The object in wire form; it is not changed.
        kind: Its kind.
        odd: Whether the object may contain nulls or floats, which need normalization.

    Returns:
        The resource, or None if it is invalid, and all problems as path and reason. Status is checked only for
        unknown fields and dropped, as on creation, unless the kind reads it.
    """
    problems: list[Found] = []
    observed: Any = None
    if odd or "status" in value:
        from .schema.narrowing import schema_graph
        from .schema.structural import normalize

        schema = schema_graph(kind)
        value = normalize(value, schema, schema.root)
        if "status" in value and "status" in schema.root["properties"]:
            from .schema.structural import unknown_fields

            observed, hints = value["status"], Hints()
            for path in unknown_fields(observed, schema, schema.root["properties"]["status"], ("status",)):
                hint = hints.did_you_mean(str(path[-1]), schema.fields_at(path[:-1]))
                problems.append((path, f"unknown field{hint}"))
            value = {key: inner for key, inner in value.items() if key != "status"}
    try:
        resource = kind.model.model_validate(value, context=kind)
    except ValidationError as error:
        from .messages import explain

        reasons = list(explain(error, kind))
        return None, [*problems, *_name_problems(value, kind, reasons), *reasons]
    if kind.reads_status and observed is not None:
        # A status with an invalid value is dropped rather than reported: a controller wrote it, not the user.
        with contextlib.suppress(ValidationError):
            seen = kind.model.model_validate({**value, "status": observed}, context=kind)
            of_another_release = kind.release and any(
                path[0] == "status" for path, _ in misfits(seen, kind, kind.release)
            )
            resource = resource if of_another_release else seen
    if kind.release:
        problems += misfits(resource, kind, kind.release)
    return (None if problems else resource), problems


def without_faults(
    value: dict[str, Any], kind: Kind, problems: list[Found], *, odd: bool = True
) -> tuple[Resource | None, list[Found]]:
    """Remove the invalid fields of a rejected object, so that the rest of it can be checked.

    Args:
        value: The object in wire form; it is not changed.
        kind: Its kind.
        problems: The problems that :func:`check` returned for it.
        odd: Whether the object may contain nulls or floats.

    Returns:
        The resource, or None if a required field is invalid, and further problems. Rules over several fields are
        checked only if every field is valid, so unknown fields hide their problems; these are returned here. Problems
        hidden by an invalid value are not returned, because they may disappear once the value is corrected.
    """
    from .schema.embedded import UNKNOWN

    remaining, more = copy.deepcopy(value), list[Found]()
    unknown = [problem for problem in problems if problem[1].startswith(UNKNOWN)]
    wrong, hidden = unknown or problems, bool(unknown)
    for _ in range(_ROUNDS):
        if not all(_removed(remaining, path) for path, _ in wrong):
            return None, more
        # The rest is read in the union of all releases, because fields that the release lacks are not invalid.
        resource, wrong = check(remaining, kind.at(""), odd=odd)
        if hidden:
            # A "missing" field may be the misspelled one, so problems of the maps that contain it are dropped. So is
            # a problem of the field itself: another release may require what this one does not have.
            owners = {path[:depth] for path, _ in unknown for depth in range(len(path) + 1)}
            more += [problem for problem in wrong if problem not in problems and problem[0] not in owners]
            hidden = False
        if resource is not None:
            if kind.release:
                more += [misfit for misfit in misfits(resource, kind, kind.release) if misfit not in problems]
            return resource, more
    return None, more


def _removed(value: Json, path: tuple[str | int, ...]) -> bool:
    """Remove the field at a path, or else its nearest parent in a map; return whether a field was removed.

    List items are not removed on their own, because the indexes of the others would change.
    """
    steps = list(path)
    while len(steps) > 1:
        owner, is_there = value, True
        for step in steps[:-1]:
            try:
                owner = owner[step]
            except (KeyError, IndexError, TypeError):
                is_there = False
                break
        if is_there and isinstance(owner, dict) and steps[-1] in owner:
            del owner[steps[-1]]
            return True
        steps.pop()
    return False


def _name_problems(value: dict[str, Any], kind: Kind, known: list[Found]) -> list[Found]:
    """Check the name of an object that is invalid elsewhere, for which pydantic skips the rules of the root model."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or any(path == ("metadata", "name") for path, _ in known):
        return []
    named = SimpleNamespace(metadata=SimpleNamespace(name=name))
    rules = [rule for rule in kind.model.rules if isinstance(rule, NameRule)]
    return [problem for rule in rules for problem in rule.problems(named)]
