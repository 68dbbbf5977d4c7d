"""Annotations that ignore findings: ``ignore.inference-platform/<rule>: <reason>``."""

from collections.abc import Iterator, Mapping
from typing import Any

from .ids import FINAL, RuleId

PREFIX = "ignore.inference-platform/"
_RULES = {str(rule): rule for rule in RuleId}


def asked(annotations: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Yield what annotations ask to ignore, whether or not it can be: names of rules with reasons."""
    for key, reason in (annotations or {}).items():
        if key.startswith(PREFIX):
            yield key.removeprefix(PREFIX), reason


def rule_named(name: str) -> RuleId | None:
    """Return the rule of a name; None without one."""
    return _RULES.get(name)


def waived(annotations: Mapping[str, str] | None) -> frozenset[RuleId]:
    """Return the rules whose findings annotations ignore, as far as that is allowed and has a reason."""
    if not annotations:
        return frozenset()
    named = ((rule_named(name), reason) for name, reason in asked(annotations))
    return frozenset(rule for rule, reason in named if rule and rule not in FINAL and reason.strip())


def without_ignoring(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata of an object without what is said to us alone: a new reason must restart nothing."""
    annotations = metadata.get("annotations")
    if not annotations or not any(key.startswith(PREFIX) for key in annotations):
        return metadata
    kept = {key: value for key, value in annotations.items() if not key.startswith(PREFIX)}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": kept} if kept else rest
