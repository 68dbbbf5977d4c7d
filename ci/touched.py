"""Which stacks a change touches: those whose settings it changes, or whose models; any code touches all of them."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import PipelineError
from .repository import Repository

STACK_NAME = re.compile(r"(?!\.+\Z)[A-Za-z0-9_.-]{1,100}")
"""What Pulumi takes for one; it becomes the name of a folder, too."""
_SETTINGS = re.compile(r"Pulumi\.(.+)\.yaml")
_PROJECT = "Pulumi.yaml"
_NO_CODE = (".ci/", ".github/", "ci/", "docs/", "examples/", "policy/", "tests/", ".git", ".pre-commit", "LICENSE")
"""What no plan depends on. Anything else counts as code: a plan too many is better than one too few."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change touches.

    Attributes:
        stacks: Why each stack is touched, by name, in the order of names.
        new: Those that the base has not.
        removed: Those that only the base has.
    """

    stacks: Mapping[str, str] = field(default_factory=dict)
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def touched(repository: Repository, base: str) -> Touched:
    """Return what the commits since ``base`` touch.

    Args:
        repository: Whose HEAD is looked at; changes that are not committed do not count.
        base: The commit from which the present one forked.
    """
    prefix = repository.prefix
    before, after = _sources(repository, base), _sources(repository, "HEAD")
    reasons: dict[str, str] = {}
    for path in repository.changed(base):
        for stack in _reached(path, prefix, before, after):
            reasons.setdefault(stack, path)
    return Touched(
        {stack: reasons[stack] for stack in sorted(reasons) if stack in after},
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
    )


def _reached(path: str, prefix: str, before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> Iterable[str]:
    """Return the stacks that a changed path reaches."""
    named = {stack for sources in (before, after) for stack, places in sources.items() if _within(path, places)}
    if named:
        return named
    inside = path.removeprefix(prefix)
    quiet = not path.startswith(prefix) or inside.startswith(_NO_CODE) or inside.endswith(".md")
    return () if quiet else after


def _within(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") or place == "." for place in places)


def _sources(repository: Repository, revision: str) -> dict[str, set[str]]:
    """Return, by stack, its settings and everything that they name: models, shapes, prices, whatever comes."""
    prefix = repository.prefix
    names = repository.files(revision)
    defaults = _config(repository, revision, _PROJECT) if _PROJECT in names else {}
    stacks: dict[str, set[str]] = {}
    for name in names:
        found = _SETTINGS.fullmatch(name)
        if found and STACK_NAME.fullmatch(found[1]):
            settings = {**_defaults(defaults), **_config(repository, revision, name)}
            places = {posixpath.normpath(prefix + text) for text in _texts(settings)}
            stacks[found[1]] = {prefix + name, *(place for place in places if not place.startswith(("..", "/")))}
    return stacks


def _config(repository: Repository, revision: str, name: str) -> dict[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(repository.read(revision, name))
    except yaml.YAMLError:  # its own plan says what is wrong with it
        return {}
    config = read.get("config") if isinstance(read, dict) else None
    return config if isinstance(config, dict) else {}


def _defaults(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value["default"] for key, value in declared.items() if isinstance(value, dict) and "default" in value
    }


def _texts(value: object) -> Iterator[str]:
    """Yield every text that may be a path: one setting too many costs a plan, one too few hides a change."""
    if isinstance(value, str):
        if value and "\0" not in value and "://" not in value:
            yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in _texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))


def stack_name(text: object) -> str:
    """Return the name of a stack as it is.

    Raises:
        PipelineError: it is none.
    """
    if isinstance(text, str) and STACK_NAME.fullmatch(text):
        return text
    raise PipelineError(f"{text!r} is not the name of a stack: up to 100 of A-Z, a-z, 0-9, _, . and -")
