"""The output of the local engine: the resource tree, field-level differences, failures and the summary."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from components.contract.texts.printable import printable, printable_lines

from .apply.execute import Failure
from .diff import Change, changes
from .plan import CHANGING, ChangePlan, Op, Step
from .program.graph import PLANNED_ONLY
from .program.resources import PROVIDERS, STACK_TYPE, urn_name, urn_type
from .values import is_sealed, masked


@dataclass(frozen=True, slots=True)
class OutputChanges:
    """Changes of stack outputs since the last deployment.

    Attributes:
        changes: Changed outputs; maps are compared entry by entry.
        unchanged: Number of unchanged outputs.
    """

    changes: tuple[Change, ...]
    unchanged: int


def output_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> OutputChanges:
    """Compare outputs with sealed secrets."""
    names = sorted({*before, *after})
    changed = [name for name in names if name not in before or name not in after or before[name] != after[name]]
    fields: list[Change] = []
    for name in changed:
        old, new = ({name: outputs[name]} if name in outputs else {} for outputs in (before, after))
        # Show a new or removed map as one change per entry: as a single value it would be very long.
        if not old and _has_entries(new[name]):
            old = {name: {}}
        elif not new and _has_entries(old[name]):
            new = {name: {}}
        fields += changes(old, new)
    return OutputChanges(tuple(fields), len(names) - len(changed))


def _has_entries(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and not is_sealed(value)


def write_json(stream: TextIO, plan: ChangePlan, outputs: OutputChanges) -> None:
    """Write a preview as JSON."""
    resources = []
    for step in plan.having(*CHANGING, Op.PENDING):
        resource: dict[str, Any] = {
            "op": step.op.value,
            "urn": step.urn,
            "type": _short_type(step.urn),
            "name": urn_name(step.urn),
        }
        if step.note:
            resource["note"] = step.note
        if step.changes:
            resource["changes"] = [_change_json(change) for change in step.changes]
        resources.append(resource)
    document = {
        "resources": resources,
        "outputs": [_change_json(change) for change in outputs.changes],
        "counts": {op.value: len(plan.having(op)) for op in Op if plan.having(op)},
        "notes": plan.notes,
    }
    json.dump(document, stream, indent=2)
    stream.write("\n")


def _change_json(change: Change) -> dict[str, Any]:
    document: dict[str, Any] = {"path": change.path, "op": change.op}
    if change.op != "+":
        document["old"] = masked(change.old)
    if change.op != "-":
        document["new"] = masked(change.new)
    if change.replaces:
        document["replaces"] = True
    return document


_MARKS = {
    Op.CREATE: ("+", "32"),
    Op.IMPORT: ("=", "36"),
    Op.UPDATE: ("~", "33"),
    Op.REPLACE: ("+-", "35"),
    Op.DELETE: ("-", "31"),
    Op.FORGET: ("-", "31"),
    Op.SAME: (" ", "2"),
    Op.PENDING: ("?", "36"),
}
_PAST_TENSE = {
    Op.CREATE: "created",
    Op.IMPORT: "imported",
    Op.UPDATE: "updated",
    Op.REPLACE: "replaced",
    Op.DELETE: "deleted",
    Op.FORGET: "kept",
}
_HIDDEN = (Op.SAME, Op.DISCARD)
_MAX_SKIPPED = 5
_MAX_ROWS = 40
"""With more changes, the summary only counts them by kind."""
_MAX_WIDTH = 100
"""Maximum length of a value, in characters."""


class Display:
    """Text output, colored on a terminal unless NO_COLOR is set (https://no-color.org)."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self.colour = self._stream.isatty() and not os.environ.get("NO_COLOR")

    def line(self, text: str = "", code: str = "") -> None:
        """Write text without control characters."""
        self._stream.write(self._paint(printable_lines(text), code) + "\n")

    def _paint(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.colour and code and text.strip() else text

    def preview(self, plan: ChangePlan, root: str, outputs: OutputChanges) -> None:
        """Write the changes of a preview."""
        self.tree(plan, root)
        self.differences(plan)
        if outputs.changes:
            self.line("Outputs:")
            for change in outputs.changes:
                self._change("    ", change, width=None)
            if outputs.unchanged:
                self.line(f"    {outputs.unchanged} unchanged")
        self.planned(plan)

    def tree(self, plan: ChangePlan, root: str, *, everything: bool = False) -> None:
        """Write the tree of changing resources and their parents."""
        steps = _visible_steps(plan, everything=everything)
        if steps:
            rows = list(_walk(steps, root))
            type_width = max(len(label) for label, _ in rows) + 2
            name_width = max(4, *(len(urn_name(step.urn)) if step else 0 for _, step in rows)) + 2
            self.line(f"     {'Type':<{type_width}}{'Name':<{name_width}}{'Plan':<9}Info")
            for label, step in rows:
                if step is None:
                    self.line(f"     {label}")
                    continue
                mark, code = _MARKS[step.op]
                op = "" if step.op is Op.SAME else step.op.value
                fields = dict.fromkeys(f"{c.op}{c.path.split('.')[0].split('[')[0]}" for c in step.changes)
                info = step.note or (f"[diff: {','.join(fields)}]" if fields else "")
                if info.startswith(PLANNED_ONLY):  # the summary counts these resources
                    info = ""
                text = f" {mark:<3} {label:<{type_width}}{urn_name(step.urn):<{name_width}}{op:<9}{info}".rstrip()
                self.line(text, code)
        for note in plan.notes:
            self.line(f"note: {note}", "33")

    def summary(self, plan: ChangePlan, root: str) -> None:
        """Write the tree and the differences if there are few changes, else counts by kind."""
        changing = plan.having(*CHANGING)
        created = plan.having(Op.CREATE)
        if len(changing) <= _MAX_ROWS:
            self.tree(plan, root)
            self.differences(plan)
            return
        for op in CHANGING:
            kinds: dict[str, int] = {}
            for step in plan.having(op):
                type_ = _short_type(step.urn)
                kind = "provider" if type_.startswith(PROVIDERS) else type_.rpartition(":")[2]
                kinds[kind] = kinds.get(kind, 0) + 1
            if kinds:
                counts = ", ".join(
                    f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda e: (-e[1], e[0]))
                )
                mark, code = _MARKS[op]
                self.line(f" {mark} {sum(kinds.values())} to {op.value}: {counts}", code)
        if len(changing) - len(created) <= _MAX_ROWS:
            self.differences(plan)
        for note in plan.notes:
            self.line(f"note: {note}", "33")

    def differences(self, plan: ChangePlan) -> None:
        """Write the changed fields of each resource."""
        for step in plan.having(Op.IMPORT, Op.UPDATE, Op.REPLACE):
            if not step.changes:
                continue
            mark, code = _MARKS[step.op]
            self.line(f"  {mark} {_short_type(step.urn)} {urn_name(step.urn)}", code)
            for change in step.changes:
                self._change("      ", change)

    def _change(self, indent: str, change: Change, width: int | None = _MAX_WIDTH) -> None:
        replaces = "   <- forces replacement" if change.replaces else ""
        code = {"+": "32", "-": "31", "~": "33"}[change.op]
        text = {
            "+": f"+ {change.path}: {_value_text(change.new, width)}",
            "-": f"- {change.path}: {_value_text(change.old, width)}",
            "~": f"~ {change.path}: {_value_text(change.old, width)} => {_value_text(change.new, width)}",
        }[change.op]
        self._stream.write(f"{indent}{self._paint(printable(text), code)}{self._paint(replaces, '35')}\n")

    def failures(self, failures: Sequence[Failure]) -> None:
        """Write the failed steps, then those skipped because of them."""
        if not failures:
            return
        self.line("Failures:", "31;1")
        ordered = sorted(failures, key=lambda f: (f.skipped, f.urn))
        first_skipped = sum(not failure.skipped for failure in ordered)
        for failure in ordered[: first_skipped + _MAX_SKIPPED]:
            self.line(f"  {failure.urn}")
            for text in failure.message.splitlines():
                self.line(f"      {text}")
            for path, message in failure.causes:
                self.line(f"      {path}: {message}" if path else f"      {message}")
        further = len(ordered) - first_skipped - _MAX_SKIPPED
        if further > 0:
            self.line(f"  and {further} more skipped resources, which depend on failed ones")
        late = any(failure.late for failure in ordered)
        when = "If the machine was only busy" if late else "Once the cause is fixed"
        self.line(f"Completed changes are recorded. {when}, run the same command again to continue.")

    def planned(self, plan: ChangePlan) -> None:
        """Write the counts of a preview."""
        counts = {op: len(plan.having(op)) for op in Op}
        self._counts(
            [f"{_MARKS[op][0]} {counts[op]} to {op.value}" for op in CHANGING if counts[op]],
            same=counts[Op.SAME],
            pending=counts[Op.PENDING],
        )

    def applied(self, plan: ChangePlan, done: Iterable[Step], failures: Sequence[Failure], seconds: float) -> None:
        """Write the counts of a deployment."""
        counts: dict[Op, int] = {}
        for step in done:
            counts[step.op] = counts.get(step.op, 0) + 1
        lines = [f"{_MARKS[op][0]} {counts[op]} {_PAST_TENSE[op]}" for op in CHANGING if counts.get(op)]
        failed = sum(not failure.skipped for failure in failures)
        if failed:
            lines.append(f"! {failed} failed, {len(failures) - failed} skipped")
        self._counts(lines, same=len(plan.having(Op.SAME)), pending=len(plan.having(Op.PENDING)))
        self.line(f"Duration: {seconds:.1f} s")

    def _counts(self, lines: list[str], *, same: int, pending: int) -> None:
        self.line("Resources:")
        for text in lines or ["0 changes"]:
            self.line(f"    {text}")
        if same:
            self.line(f"    {same} unchanged")
        if pending:
            self.line(f"    {pending} planned only (not deployed by the local engine)")

    def outputs(self, outputs: Mapping[str, Any], *, brief: bool = False) -> None:
        """Write stack outputs; with ``brief``, only their number."""
        if not outputs:
            return
        if brief:
            self.line(f"Outputs: {len(outputs)}; run `workbench outputs` to show them")
            return
        self.line("Outputs:")
        for name in sorted(outputs):
            value = masked(outputs[name])
            if not isinstance(value, dict):
                self.line(f"    {name}: {json.dumps(value, sort_keys=True)}")
                continue
            self.line(f"    {name}:")
            for key in sorted(value):
                self.line(f"        {key}: {json.dumps(value[key], sort_keys=True)}")


def _visible_steps(plan: ChangePlan, *, everything: bool) -> dict[str, Step]:
    """Return the steps that change something, and their parents."""
    visible = {urn for urn, step in plan.steps.items() if everything or step.op not in _HIDDEN}
    for urn in list(visible):
        parent = plan.steps[urn].parent
        while parent in plan.steps and parent not in visible:
            visible.add(parent)
            parent = plan.steps[parent].parent
    return {urn: step for urn, step in plan.steps.items() if urn in visible}


def _walk(steps: Mapping[str, Step], root: str) -> Iterable[tuple[str, Step | None]]:
    """Yield label and step for each line of the tree, the stack first."""
    children: dict[str, list[str]] = {}
    for urn, step in steps.items():
        children.setdefault(step.parent if step.parent in steps else root, []).append(urn)
    yield f"{STACK_TYPE}  {urn_name(root)}", None
    # A stack returns the children last to first, so they are pushed in reverse: the last child is pushed first.
    stack = [(urn, "", index == 0) for index, urn in enumerate(reversed(children.get(root, ())))]
    while stack:
        urn, indent, is_last = stack.pop()
        yield f"{indent}{'└─' if is_last else '├─'} {_short_type(urn)}", steps[urn]
        deeper = indent + ("   " if is_last else "│  ")
        stack += [(child, deeper, index == 0) for index, child in enumerate(reversed(children.get(urn, ())))]


def _short_type(urn: str) -> str:
    return urn_type(urn).rsplit("$", 1)[-1]


def _value_text(value: Any, width: int | None) -> str:  # noqa: ANN401 - any JSON value
    text = json.dumps(masked(value), ensure_ascii=False, sort_keys=True)
    return text if width is None or len(text) <= width else text[: width - 1] + "…"


class JsonDisplay(Display):
    """Output that writes previews as JSON."""

    def preview(self, plan: ChangePlan, root: str, outputs: OutputChanges) -> None:  # noqa: ARG002
        write_json(self._stream, plan, outputs)
