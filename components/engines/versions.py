"""Versions in image tags, and spans of versions in which a fact holds."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Version = tuple[int, ...]
"""Without trailing zeros, so that 0.20 equals 0.20.0."""
ANY: Version = ()
"""An unknown version, which may have everything that any version has."""

POST = 10_000
"""The part of a version that stands for post-release n is this plus n: ``0.5.5.post3`` follows ``0.5.5``, and is not
``0.5.5.3``, which some engines number too."""

_UNDATED = "@"
"""Suffix that marks a tag without the engine's version; it cannot occur in image tags."""
_NUMBERS = re.compile(r"v?(\d{1,3}(?:\.\d+)+)(?:\.post(\d{1,3}))?")
"""A version; numbers that start with a year are dates."""
_BUILD = re.compile(r"(?:^|-)b(\d+)(?=-|$)")
_BOUNDS = {"since": "from", "absent": "absent", "until": "until"}


@functools.lru_cache(maxsize=4096)
def version_of(tag: str, *, builds: bool = False) -> Version | None:
    """Return the version in a tag; None, which counts as the newest, if it has none.

    Tags marked by :func:`without_version` have the version :data:`ANY`.

    Args:
        tag: Such as ``v0.8.3`` or ``0.8.3-cu121``.
        builds: Whether versions are build numbers, as in ``server-b6500``.
    """
    if tag.endswith(_UNDATED):
        return ANY
    if builds:
        build = _BUILD.search(tag)
        return (int(build[1]),) if build else None
    numbers = _NUMBERS.match(tag)
    if numbers is None:
        return None
    version = tuple(int(part) for part in numbers[1].split("."))
    return (*version, POST + int(numbers[2])) if numbers[2] else without_trailing_zeros(version)


def without_version(tag: str) -> str:
    """Mark a tag as not containing the engine's version."""
    return f"{tag.removesuffix(_UNDATED)}{_UNDATED}"


def engine_title(engine: str, tag: str) -> str:
    """Return the name and version of an engine for messages."""
    if tag.endswith(_UNDATED):
        return f"any known version of {engine}"
    return f"{engine} {tag or '(newest version)'}"


def without_trailing_zeros(version: Version) -> Version:
    while len(version) > 1 and version[-1] == 0:
        version = version[:-1]
    return version


def format_version(version: Version, *, builds: bool = False) -> str:
    if builds:
        return f"b{version[0]}"
    if version[-1] > POST:
        return f"{format_version(version[:-1])}.post{version[-1] - POST}"
    return ".".join(map(str, version if len(version) > 1 else (*version, 0)))


def read_version(value: str | Sequence[int]) -> Version:
    """Return a version in a table: its text, or the list of its parts."""
    if isinstance(value, str):
        return version_of(value) or ANY
    return without_trailing_zeros(tuple(value))


class VersionSpan(NamedTuple):
    """The versions that have something: a flag, a value, a metric, a feature, the user of an image.

    The version None is the newest; :data:`ANY` is an unknown version.

    Attributes:
        since: First version with it; None if all versions have it, or if that is unknown.
        absent: Last version known to lack it, unless it is the version right before ``since``.
        until: First version known to lack it again.
        gone: Whether the newest version lacks it, if ``until`` is unknown.
        gaps: Versions in between that lack it, each from the first one to before the second.
        never: Whether no version that is still in use has it.
        deprecated: First version that deprecates it; True if only the newest is known to.
    """

    since: Version | None = None
    absent: Version | None = None
    until: Version | None = None
    gaps: tuple[tuple[Version, Version], ...] = ()
    gone: bool = False
    never: bool = False
    deprecated: Version | bool = False

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "VersionSpan":
        """Read the columns :data:`COLUMNS` of a row."""
        if COLUMNS.isdisjoint(row):
            return ALWAYS
        bounds = {name: read_version(row[column]) for name, column in _BOUNDS.items() if column in row}
        deprecated = row.get("deprecated", False)
        return cls(
            **bounds,
            gaps=tuple((read_version(start), read_version(end)) for start, end in row.get("gaps", ())),
            gone=row.get("gone", False),
            never=row.get("never", False),
            deprecated=deprecated if isinstance(deprecated, bool) else read_version(deprecated),
        )

    def is_before(self, version: Version | None) -> bool:
        """Return whether a version certainly does not have it yet."""
        if not version:
            return False
        if self.absent is not None:
            return version <= self.absent
        return self.since is not None and version < self.since

    def is_after(self, version: Version | None) -> bool:
        """Return whether a version certainly no longer has it."""
        if self.never:
            return True
        if version is None:
            return self.gone or self.until is not None
        return version != ANY and self.ended(version) is not None

    def ended(self, version: Version) -> Version | None:
        """Return the first version that lacks it again if it is not after this one; None if the version has it."""
        if self.until is not None and version >= self.until:
            return self.until
        return next((start for start, end in self.gaps if start <= version < end), None)

    def includes(self, version: Version | None) -> bool:
        """Return whether a version may have it."""
        return self is ALWAYS or not (self.is_before(version) or self.is_after(version))

    def is_deprecated(self, version: Version | None) -> bool:
        """Return whether a version deprecates it."""
        if isinstance(self.deprecated, bool):
            return self.deprecated and version is None
        return version is None or version >= self.deprecated


ALWAYS = VersionSpan()


def covering(spans: Iterable[VersionSpan]) -> VersionSpan:
    """Return the span of what has several spellings, from the first version with one of them to the last."""
    distinct = tuple(dict.fromkeys(spans))
    if len(distinct) < 2:
        return distinct[0] if distinct else ALWAYS
    first = min(distinct, key=lambda span: span.since or ANY)
    ends = [span.until for span in distinct if span.until is not None]
    return VersionSpan(first.since, first.absent, max(ends) if len(ends) == len(distinct) else None)


COLUMNS = frozenset({*_BOUNDS.values(), "gaps", "gone", "never", "deprecated"})
"""Columns of a row that describe a span."""
