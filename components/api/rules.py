"""Rules that kinds of several families share."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .base import Broken, Json, Rule
from .names import is_dns1123_subdomain


def name_rule(message: str, good: Callable[[str], bool], cel: str) -> Rule:
    """Return the rule that a resource's name is good."""

    def broken(resource: Json) -> Iterator[Broken]:
        if not good(resource.metadata.name):
            yield ("metadata", "name"), f", found {resource.metadata.name!r}"

    return Rule(f"metadata.name {message}", broken, cel)


OBJECT_NAME = name_rule(
    "must be a DNS-1123 subdomain: at most 253 lower-case letters, digits, '-' and '.'",
    is_dns1123_subdomain,
    "",  # what the API server asks of every custom resource
)
"""What the API server asks of every custom resource, and all that some kinds ask."""


def unique_names(items: Sequence[Any] | None, field: str) -> Iterator[Broken]:
    """Yield every item whose name an earlier one has (the API server: a list map keyed by name)."""
    seen: set[str] = set()
    for index, item in enumerate(items or ()):
        if item.name in seen:
            yield (field, index, "name"), f"{item.name!r} is used twice; names must be unique"
        seen.add(item.name)
