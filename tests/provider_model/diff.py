"""Which inputs of a resource differ."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Path = tuple[str, ...]
_PLACEHOLDER = re.compile(r"\[[^\[\]]+\]")
_STEP = re.compile(r"[^.\[\]\"]+")


def changed_paths(old: Any, new: Any, ignored: Iterable[str], is_renewed: Callable[[str], bool]) -> Iterator[Path]:
    """Yield the paths at which two values differ; a placeholder that becomes another value differs."""
    skipped = [steps(path) for path in ignored]
    for path in _differing(old, new, (), is_renewed):
        if not any(path[: len(skip)] == skip for skip in skipped):
            yield path


def _differing(old: Any, new: Any, path: Path, is_renewed: Callable[[str], bool]) -> Iterator[Path]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _differing(old.get(key), new.get(key), (*path, key), is_renewed)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and not _are_words(old, new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differing(one, other, (*path, str(number)), is_renewed)
    elif _plain(old) != _plain(new) or any(map(is_renewed, placeholders(new))):
        yield path


def _are_words(*lists: list[Any]) -> bool:
    return all(isinstance(each, str) for values in lists for each in values)


def _plain(value: Any) -> Any:
    """Lists of words are sets in nearly all schemas of the provider."""
    return sorted(value) if isinstance(value, list) and _are_words(value) else value


def placeholders(value: Any) -> Iterator[str]:
    """Yield the unknown values in a value."""
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from placeholders(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from placeholders(inner)


def steps(path: str) -> Path:
    return tuple(_STEP.findall(path))


def is_at(path: Path, fields: Iterable[str]) -> bool:
    """Whether a path is at, below or above one of some fields; numbers of lists do not count."""
    plain = tuple(step for step in path if not step.isdigit())
    for name in fields:
        field = steps(name)
        if plain[: len(field)] == field or field[: len(plain)] == plain:
            return True
    return False
