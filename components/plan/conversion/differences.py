"""Differences between two values, by path."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...contract.base import Json
from ...contract.problems import field_path


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A part of a rendered resource that another rendering does not have in the same form.

    Attributes:
        path: The part, such as ``pods[leader].containers[server].image``.
        before: Its value in the first rendering; None if it is absent.
        after: Its value in the second rendering; None if it is absent.
    """

    path: str
    before: Json
    after: Json


def differences(before: Json, after: Json, path: tuple[str, ...] = ()) -> Iterator[Mismatch]:
    """Yield the smallest parts that differ; maps are compared by key, everything else as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*before, *(key for key in after if key not in before)):
            yield from differences(before.get(key), after.get(key), (*path, str(key)))
    elif before != after:
        yield Mismatch(field_path(path), before, after)
