"""What a preview found, as data: the outputs that change, and the whole of it as JSON for other programs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from .diff import Change, changes
from .plan import CHANGING, ChangePlan, Op, Step
from .program.resources import urn_name, urn_type
from .values import SEALED, masked


@dataclass(frozen=True, slots=True)
class OutputChanges:
    """Stack outputs against those of the last deployment.

    Attributes:
        changes: What differs; of an output that is a map, entry by entry.
        unchanged: How many outputs stay as they are.
    """

    changes: tuple[Change, ...]
    unchanged: int


def output_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> OutputChanges:
    """Compare outputs, secrets sealed in both."""
    names = sorted({*before, *after})
    changed = [name for name in names if name not in before or name not in after or before[name] != after[name]]
    found = [change for name in changed for change in _of_output(name, before, after)]
    return OutputChanges(tuple(found), len(names) - len(changed))


def _of_output(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    old, new = ({name: side[name]} if name in side else {} for side in (before, after))
    # A map that comes or goes is entries that do: a model each, and not one value as long as all of them.
    if not old and _has_entries(new[name]):
        old = {name: {}}
    elif not new and _has_entries(old[name]):
        new = {name: {}}
    return changes(old, new)


def _has_entries(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and SEALED not in value


def write_json(stream: TextIO, plan: ChangePlan, outputs: OutputChanges) -> None:
    """Write a preview for other programs: what changes, and how many of what."""
    counts = {op.value: len(plan.having(op)) for op in Op if plan.having(op)}
    document = {
        "resources": [_step(step) for step in plan.having(*CHANGING, Op.PENDING)],
        "outputs": [_change(change) for change in outputs.changes],
        "counts": counts,
        "notes": plan.notes,
    }
    json.dump(document, stream, indent=2)
    stream.write("\n")


def _step(step: Step) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "op": step.op.value,
        "urn": step.urn,
        "type": urn_type(step.urn).rsplit("$", 1)[-1],
        "name": urn_name(step.urn),
    }
    if step.note:
        shown["note"] = step.note
    if step.changes:
        shown["changes"] = [_change(change) for change in step.changes]
    return shown


def _change(change: Change) -> dict[str, Any]:
    shown: dict[str, Any] = {"path": change.path, "op": change.op}
    if change.op != "+":
        shown["old"] = masked(change.old)
    if change.op != "-":
        shown["new"] = masked(change.new)
    if change.replaces:
        shown["replaces"] = True
    return shown
