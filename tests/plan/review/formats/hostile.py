"""Reviews in which everything that somebody else wrote is the same text."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from components.checks.memory.cases import CheaperType, MemoryCase, MemoryPart, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.plan.review.review import (
    Blast,
    EndpointChange,
    FieldDifference,
    OperatorUpgrade,
    ResourceChange,
    Review,
    UpgradeStep,
)
from components.plan.review.snapshot import FindingState, NodeGroupState, ServedModel, Snapshot, WorkloadState
from tests.plan.review.formats.samples import WHOLE

_OURS = {
    FindingState: {"severity", "rule"},
    Snapshot: {"revision"},
    Blast: set[str](),
    ResourceChange: {"type"},
    EndpointChange: set[str](),
    OperatorUpgrade: set[str](),
    UpgradeStep: set[str](),
    FieldDifference: set[str](),
    ServedModel: set[str](),
    NodeGroupState: {"made_by", "identity"},
    WorkloadState: {"role"},
    MemoryVerdict: set[str](),
    MemoryPart: set[str](),
    MemoryCase: set[str](),
    CheaperType: set[str](),
    Shape: set[str](),
}
"""Classes with texts of others, and which of their fields are ours all the same."""


def hostile(text: str, review: Review = WHOLE) -> Review:
    """Return a review with a text wherever there was one; what was one thing is one thing still."""
    changed = _changed(review, text)
    assert isinstance(changed, Review)
    return replace(changed, notes=(text,), failures=(text,))


def _changed(value: Any, text: str) -> Any:
    if names := _field_names(value):
        kept = _OURS.get(type(value))
        changes = {name: _field(getattr(value, name), text, kept is not None and name not in kept) for name in names}
        return type(value)(**changes)
    if isinstance(value, tuple):
        return tuple(_changed(each, text) for each in value)
    if isinstance(value, dict):
        return {_named(key, text): _changed(each, text) for key, each in value.items()}
    return value


def _field_names(value: Any) -> tuple[str, ...]:
    """Return the fields of a dataclass or named tuple."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in fields(value))
    return getattr(value, "_fields", ()) if isinstance(value, tuple) else ()


def _field(value: Any, text: str, others: bool) -> Any:
    if others and type(value) is str and value:
        return _named(value, text)
    if others and isinstance(value, tuple) and value and all(type(each) is str for each in value):
        return tuple(_named(each, text) for each in value)
    return _changed(value, text)


def _named(name: str, text: str) -> str:
    """Return a text that is another one for another name."""
    return f"{text}{len(name)}{text}"
