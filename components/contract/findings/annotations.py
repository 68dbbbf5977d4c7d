"""Annotations that ignore findings: ``ignore.inference-platform/<rule>: <reason>``."""

from collections.abc import Iterator, Mapping
from typing import Any

from .ids import FINAL, RuleId

PREFIX = "ignore.inference-platform/"
_IDS = frozenset(str(rule) for rule in RuleId)


def ignore_annotations(annotations: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Yield the rule name and reason of every annotation that ignores a rule, valid or not."""
    for key, reason in (annotations or {}).items():
        if key.startswith(PREFIX):
            yield key.removeprefix(PREFIX), reason


def rule_named(name: str) -> RuleId | None:
    """Return the rule with an id, or None."""
    return RuleId(name) if name in _IDS else None


def reason_to_ignore(annotations: Mapping[str, str] | None, rule: RuleId) -> str:
    """Return the reason for which annotations ignore a rule; empty if they do not, or if the rule is final."""
    return (annotations or {}).get(f"{PREFIX}{rule}", "").strip() if rule not in FINAL else ""


def without_ignore_annotations(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata without these annotations, so that a new reason does not change any created object."""
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(PREFIX)}
    if len(kept) == len(annotations):
        return metadata
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": kept} if kept else rest
