"""Rules that kinds of several families share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .base import Json, Rule, Violation, no_local_check
from .names import is_dns1123_subdomain


class NameRule(Rule):
    """A rule about a resource's name alone: it is checked whatever else is wrong."""


def name_rule(message: str, good: Callable[[str], bool], cel: str) -> NameRule:
    """Return the rule that a resource's name is good."""

    def broken(resource: Json) -> Iterator[Violation]:
        if not good(resource.metadata.name):
            yield ("metadata", "name"), f", found {resource.metadata.name!r}"

    return NameRule(f"metadata.name {message}", broken, cel)


def check_parts(rule: Rule, parts: Callable[[Json], Iterable[tuple[tuple[str | int, ...], Json]]]) -> Rule:
    """Return a rule over parts of an object, each with its place: checked from there, and not by the API server.

    The rules of an inner type are checked first, and those of an outer one only where they hold. Held by the whole
    object, all are checked, so that a writer is told everything at once; the API server is told by the inner type.
    """

    def broken(whole: Json) -> Iterator[Violation]:
        for place, part in parts(whole):
            for inner, what in rule.broken(part):
                yield (*place, *inner), what

    return Rule(rule.message, broken, "")


def server_only(rule: Rule) -> Rule:
    """Return a rule for the API server alone: what is written there is checked here by another one, or by a type."""
    return Rule(rule.message, no_local_check, rule.cel)


OBJECT_NAME = name_rule(
    "must be a DNS-1123 subdomain: at most 253 lower-case letters, digits, '-' and '.'",
    is_dns1123_subdomain,
    "",  # what the API server asks of every custom resource
)
"""What the API server asks of every custom resource, and all that some kinds ask."""


def unique_names(items: Sequence[Any] | None, field: str) -> Iterator[Violation]:
    """Yield every item whose name an earlier one has (the API server: a list map keyed by name)."""
    for index, name in duplicates([item.name for item in items or ()]):
        yield (field, index, "name"), f"{name!r} is used twice; names must be unique"


def duplicates(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield every name that an earlier one is equal to, with its index."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield index, name
        seen.add(name)
