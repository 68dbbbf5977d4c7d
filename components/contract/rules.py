"""Validation rules shared by several families."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .base import Json, Rule, Violation, no_local_check
from .names import is_dns1123_subdomain


class NameRule(Rule):
    """A rule about only the name of a resource, which is checked even if other fields are invalid."""


def name_rule(message: str, good: Callable[[str], bool], cel: str) -> NameRule:

    def broken(resource: Json) -> Iterator[Violation]:
        if not good(resource.metadata.name):
            yield ("metadata", "name"), f", found {resource.metadata.name!r}"

    return NameRule(f"metadata.name {message}", broken, cel)


def check_parts(rule: Rule, parts: Callable[[Json], Iterable[tuple[tuple[str | int, ...], Json]]]) -> Rule:
    """Return a rule of an object that checks its parts; the API server checks them by the rule of the inner type.

    Pydantic checks the rules of an outer type only if those of its inner types hold. As a rule of the whole object,
    this one is checked together with all others, so that users see all problems at once.

    Args:
        rule: The rule of the inner type.
        parts: Returns the path and value of each part.
    """

    def broken(value: Json) -> Iterator[Violation]:
        for path, part in parts(value):
            for inner, detail in rule.broken(part):
                yield (*path, *inner), detail

    return Rule(rule.message, broken, "", span=rule.span)


def server_only(rule: Rule) -> Rule:
    """Return a rule that only the API server checks; here, another rule or a type covers it."""
    return Rule(rule.message, no_local_check, rule.cel, span=rule.span)


OBJECT_NAME = name_rule(
    "must be a DNS-1123 subdomain: at most 253 lower-case letters, digits, '-' and '.'",
    is_dns1123_subdomain,
    "",  # the API server checks this for every custom resource
)
"""The name rule of every custom resource; some kinds have no stricter one."""


def unique_names(items: Sequence[Any] | None, field: str) -> Iterator[Violation]:
    """Yield every item with the name of an earlier one, as the API server does for a list map keyed by name."""
    for index, name in duplicates([item.name for item in items or ()]):
        yield (field, index, "name"), f"{name!r} is used twice; names must be unique"


def duplicates(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the index and name of every repeated name."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield index, name
        seen.add(name)
