"""Finds the stacks that a change affects: those whose settings or models changed, or all if code changed."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import PipelineError
from .repository import Repository

STACK_NAME = re.compile(r"(?!\.+\Z)[A-Za-z0-9_.-]{1,100}")
"""Stack names that Pulumi accepts; they become folder names too."""
_SETTINGS = re.compile(r"Pulumi\.(.+)\.yaml")
_PROJECT = "Pulumi.yaml"
_NO_CODE = (".ci/", ".github/", "ci/", "docs/", "examples/", "policy/", "tests/", ".git", ".pre-commit", "LICENSE")
"""Paths on which no plan depends. Everything else counts as code: an extra plan is better than a missing one."""


@dataclass(frozen=True, slots=True)
class Touched:
    """Stacks that a change affects.

    Attributes:
        stacks: The changed file that affects each stack, sorted by stack.
        new: Stacks that the base lacks.
        removed: Stacks that only the base has.
    """

    stacks: Mapping[str, str] = field(default_factory=dict)
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def touched(repository: Repository, base: str) -> Touched:
    """Return the stacks that the commits since ``base`` affect.

    Args:
        repository: The repository; uncommitted changes do not count.
        base: The merge base.
    """
    prefix = repository.prefix
    before, after = _sources(repository, base), _sources(repository, "HEAD")
    reasons: dict[str, str] = {}
    for path in repository.changed(base):
        affected: Collection[str] = {
            stack
            for sources in (before, after)
            for stack, paths in sources.items()
            if any(path == source or path.startswith(f"{source}/") or source == "." for source in paths)
        }
        inside = path.removeprefix(prefix)
        is_code = path.startswith(prefix) and not inside.startswith(_NO_CODE) and not inside.endswith(".md")
        if not affected and is_code:
            affected = after
        for stack in affected:
            reasons.setdefault(stack, path)
    return Touched(
        {stack: reasons[stack] for stack in sorted(reasons) if stack in after},
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
    )


def _sources(repository: Repository, revision: str) -> dict[str, set[str]]:
    """Return the sources of each stack: its settings, and all paths that they contain."""
    prefix = repository.prefix
    names = repository.files(revision)
    declared = _config(repository, revision, _PROJECT) if _PROJECT in names else {}
    defaults = {
        key: value["default"] for key, value in declared.items() if isinstance(value, dict) and "default" in value
    }
    stacks: dict[str, set[str]] = {}
    for name in names:
        match = _SETTINGS.fullmatch(name)
        if match and STACK_NAME.fullmatch(match[1]):
            settings = {**defaults, **_config(repository, revision, name)}
            paths = {posixpath.normpath(prefix + text) for text in _texts(settings)}
            stacks[match[1]] = {prefix + name, *(path for path in paths if not path.startswith(("..", "/")))}
    return stacks


def _config(repository: Repository, revision: str, name: str) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(repository.read(revision, name))
    except yaml.YAMLError:  # its plan reports the error
        return {}
    config = content.get("config") if isinstance(content, dict) else None
    return config if isinstance(config, dict) else {}


def _texts(value: object) -> Iterator[str]:
    """Yield every text that may be a path. A false path costs a plan; a missing one would hide a change."""
    if isinstance(value, str):
        if value and "\0" not in value and "://" not in value:
            yield value
    elif isinstance(value, Mapping):
        yield from (text for item in value.values() for text in _texts(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts(item))


def stack_name(text: object) -> str:
    """Validate the name of a stack.

    Raises:
        PipelineError: it is invalid.
    """
    if isinstance(text, str) and STACK_NAME.fullmatch(text):
        return text
    raise PipelineError(f"{text!r} is not the name of a stack: up to 100 of A-Z, a-z, 0-9, _, . and -")
