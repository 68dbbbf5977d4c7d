"""Versions in the tags of images, and the spans of versions in which something holds: the only readers of both."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Version = tuple[int, ...]
"""Without zeros at its end, so that 0.20 is 0.20.0."""
ANY: Version = ()
"""The version of an image that does not tell it: what some version has, it may have."""

_UNDATED = "@"
"""Ends what stands for a tag that tells nothing of the engine's version; no tag of an image has it."""
_NUMBERS = re.compile(r"v?(\d{1,3}(?:\.\d+)+)")
"""A version; what starts with a year is a date."""
_BUILD = re.compile(r"(?:^|-)b(\d+)(?=-|$)")
_BOUNDS = {"since": "from", "absent": "absent", "until": "until"}


@functools.lru_cache(maxsize=4096)
def version_of(tag: str, *, builds: bool = False) -> Version | None:
    """Return the version that a tag names; None for one without, which counts as the newest.

    It is :data:`ANY` for a tag that was marked as telling nothing of the version.

    Args:
        tag: Such as ``v0.8.3`` or ``0.8.3-cu121``.
        builds: Whether the version is the number of a build, as in ``server-b6500``.
    """
    if tag.endswith(_UNDATED):
        return ANY
    if builds:
        build = _BUILD.search(tag)
        return (int(build[1]),) if build else None
    numbers = _NUMBERS.match(tag)
    return without_trailing_zeros(tuple(int(part) for part in numbers[1].split("."))) if numbers else None


def without_version(tag: str) -> str:
    """Mark a tag as telling nothing of the engine's version, whatever it looks like."""
    return f"{tag.removesuffix(_UNDATED)}{_UNDATED}"


def engine_title(engine: str, tag: str) -> str:
    """Return how messages name an engine of the version in a tag."""
    if tag.endswith(_UNDATED):
        return f"any known version of {engine}"
    return f"{engine} {tag or '(newest version)'}"


def without_trailing_zeros(version: Version) -> Version:
    """Return a version without zeros at its end."""
    while len(version) > 1 and version[-1] == 0:
        version = version[:-1]
    return version


def format_version(version: Version, *, builds: bool = False) -> str:
    """Return how people write a version."""
    if builds:
        return f"b{version[0]}"
    return ".".join(map(str, version if len(version) > 1 else (*version, 0)))


@dataclass(frozen=True, slots=True)
class Span:
    """The versions in which something holds: a flag, a value, a metric, a feature, the user of an image.

    A version of None is the newest, and :data:`ANY` one that is not known.

    Attributes:
        since: First version with it; None where every one has it, or it is not known.
        absent: Last version known to lack it, if not the one right before ``since``.
        until: First version known to lack it again.
        gone: The newest version lacks it, since which one is not known.
        never: No version that is still run has it.
        deprecated: First version that warns of it; True where only the newest is known to.
    """

    since: Version | None = None
    absent: Version | None = None
    until: Version | None = None
    gone: bool = False
    never: bool = False
    deprecated: Version | bool = False

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Span":
        """Read the columns ``from``, ``absent``, ``until``, ``gone``, ``never`` and ``deprecated`` of a row."""
        if COLUMNS.isdisjoint(row):
            return ALWAYS
        bounds = {
            name: without_trailing_zeros(tuple(row[column])) for name, column in _BOUNDS.items() if column in row
        }
        deprecated = row.get("deprecated", False)
        return cls(
            **bounds,
            gone=row.get("gone", False),
            never=row.get("never", False),
            deprecated=deprecated if isinstance(deprecated, bool) else without_trailing_zeros(tuple(deprecated)),
        )

    def is_before(self, version: Version | None) -> bool:
        """Tell whether a version surely does not have it yet."""
        if not version:
            return False
        if self.absent is not None:
            return version <= self.absent
        return self.since is not None and version < self.since

    def is_after(self, version: Version | None) -> bool:
        """Tell whether a version surely does not have it any more."""
        if self.never:
            return True
        if version is None:
            return self.gone or self.until is not None
        return self.until is not None and version != ANY and version >= self.until

    def includes(self, version: Version | None) -> bool:
        """Tell whether a version may have it."""
        return self is ALWAYS or not (self.is_before(version) or self.is_after(version))

    def is_deprecated(self, version: Version | None) -> bool:
        """Tell whether a version warns of it."""
        if isinstance(self.deprecated, bool):
            return self.deprecated and version is None
        return version is None or version >= self.deprecated


ALWAYS = Span()
COLUMNS = frozenset({*_BOUNDS.values(), "gone", "never", "deprecated"})
"""Columns of a row that say something of versions."""
