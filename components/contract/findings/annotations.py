"""Annotations that ignore findings: ``ignore.inference-platform/<rule>: <reason>``."""

from collections.abc import Iterator, Mapping
from typing import Any

from .ids import FINAL, RuleId

PREFIX = "ignore.inference-platform/"
_IDS = frozenset(str(each) for each in RuleId)


def ignore_annotations(annotations: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Yield what annotations ask to ignore, whether or not it can be: names of rules with reasons."""
    for key, reason in (annotations or {}).items():
        if key.startswith(PREFIX):
            yield key.removeprefix(PREFIX), reason


def rule_named(name: str) -> RuleId | None:
    """Return the rule of an id; None without one."""
    return RuleId(name) if name in _IDS else None


def reason_to_ignore(annotations: Mapping[str, str] | None, rule: RuleId) -> str:
    """Return why annotations ignore a rule; empty where they do not, or must not."""
    return (annotations or {}).get(f"{PREFIX}{rule}", "").strip() if rule not in FINAL else ""


def without_ignore_annotations(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of an object without what is said to us alone: a new reason must change nothing."""
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(PREFIX)}
    if len(kept) == len(annotations):
        return metadata
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": kept} if kept else rest
