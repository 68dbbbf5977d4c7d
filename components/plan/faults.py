"""Messages for invalid settings, the same for a stack's file and for the arguments of a component."""

import typing
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from ..contract.messages import reason_of
from ..contract.problems import near_or_some
from .section import Section


class SettingsFault(NamedTuple):
    """An invalid key or value.

    Attributes:
        unknown: Whether the key does not exist.
    """

    path: tuple[str | int, ...]
    reason: str
    unknown: bool = False


def faults(error: ValidationError, settings: type[Section], *, by_name: bool = False) -> Iterator[SettingsFault]:
    """Yield every problem of settings.

    Args:
        error: The error that pydantic raised.
        settings: The type of the settings.
        by_name: Whether keys are in Python's spelling, not in that of the wire format.
    """
    for detail in error.errors():
        # pydantic appends "[key]" to the location of an invalid map key.
        path = tuple(part for part in detail["loc"] if part != "[key]")
        if detail["type"] == "extra_forbidden":
            known = keys_below(settings, path[:-1], by_name=by_name)
            hint = near_or_some(str(path[-1]), known, "known keys", "the reference lists all settings")
            yield SettingsFault(path, f"unknown key{hint}", unknown=True)
        elif detail["type"] == "missing":
            yield SettingsFault(path, "is required")
        elif detail["type"] == "several":
            yield from (SettingsFault((*path, *below), reason) for below, reason in detail["ctx"]["items"])
        elif not path:
            key, _, what = detail["msg"].removeprefix("Value error, ").partition(": ")
            yield SettingsFault((key,), what)
        else:
            yield SettingsFault(path, reason_of(detail, repr))


def keys_below(settings: type[Section], path: Sequence[str | int], *, by_name: bool = False) -> list[str]:
    """Return the keys of the section at a path; keys of mappings are skipped."""
    section = settings
    for part in path:
        for name, field in section.model_fields.items():
            if part in (name, field.alias):
                section = _section_in(field.annotation) or section
                break
    fields = {name: field for name, field in section.model_fields.items() if not field.exclude}
    return list(fields) if by_name else [field.alias or name for name, field in fields.items()]


def _section_in(annotation: object) -> type[Section] | None:
    """Return the section that a field holds, also in a mapping or beside None."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((s for s in map(_section_in, typing.get_args(annotation)) if s), None)
