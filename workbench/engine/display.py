"""The output of the local engine: a headline, changes and failures; with details, each field."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from components.contract.texts.printable import printable
from components.plan.review.differences import parse_path
from toolkit.printing import pluralize
from toolkit.screen import Message, Screen, Styled, TableColumn, count_words, hidden_findings, shortened, write

from .apply.execute import Failure, Result
from .diff import Change, changes
from .plan import CHANGING, ChangePlan, Op, Step
from .program.graph import PLANNED_ONLY
from .program.resources import PROVIDERS, STACK_TYPE, urn_name, urn_type
from .values import is_sealed, masked_part


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
        if step.node and step.node.registration.timeouts:
            resource["timeouts"] = dict(step.node.registration.timeouts)
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
        document["old"] = _shown(change, change.old)
    if change.op != "-":
        document["new"] = _shown(change, change.new)
    if change.replaces:
        document["replaces"] = True
    return document


_MARKS = {
    Op.CREATE: ("+", "good"),
    Op.IMPORT: ("=", "note"),
    Op.UPDATE: ("~", "warning"),
    Op.REPLACE: ("+-", "warning"),
    Op.DELETE: ("-", "error"),
    Op.FORGET: ("-", "error"),
    Op.SAME: (" ", "dim"),
    Op.PENDING: ("?", "note"),
}
_PAST_TENSE = {
    Op.CREATE: "created",
    Op.IMPORT: "imported",
    Op.UPDATE: "updated",
    Op.REPLACE: "replaced",
    Op.DELETE: "deleted",
    Op.FORGET: "kept",
}
_ORDER = (Op.REPLACE, Op.DELETE, Op.FORGET, Op.UPDATE, Op.IMPORT, Op.CREATE, Op.PENDING)
"""The order of the list of changes: what may interrupt a model comes first."""
_HIDDEN = (Op.SAME, Op.DISCARD)
_MAX_SKIPPED = 5
_MAX_LISTED = 10
"""With more changes of an operation, the list has one line for each of the largest kinds."""
_MAX_NAME = 24
_MAX_WIDTH = 100
"""Maximum length of a value, in characters."""
_SHORT = 24
"""Maximum length of a changed value in the list of changes."""
_TENTHS, _MINUTE = 10, 60
_COLUMNS = (
    TableColumn("CHANGE"),
    TableColumn("COUNT", right=True),
    TableColumn("KIND", shortens=True),
    TableColumn("NAME", shortens=True),
    TableColumn("FIELDS"),
)
Facts = Callable[[Mapping[str, Any]], Iterable[str]]
"""Returns the parts of a headline that follow from the outputs of a stack."""


class Display:
    """Text output: a headline and a list of the changes; with details, each resource and each field.

    Args:
        stream: Where to write. Default: stdout.
        details: Whether to show the tree of resources and the changed fields.
        facts: Returns further parts of the headline.
        findings: Returns findings about the program, which a preview shows below the changes.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        details: bool = False,
        facts: Facts = lambda _: (),
        findings: Callable[[], Sequence[Message]] = list,
    ) -> None:
        self._stream = stream or sys.stdout
        self._details = details
        self._facts, self._findings = facts, findings
        self._announced = False
        self.screen = Screen.of(self._stream)

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line as it is, without control characters: rows of a tree and values are not wrapped."""
        for part in text.splitlines() or [""]:
            self._stream.write(self.screen.style(printable(part), style) + "\n")

    def text(self, content: str, style: str = "", *, indent: str = "", hanging: str | None = None) -> None:
        """Write a text in lines of the width of the screen."""
        for part in content.splitlines():
            write(self.screen.text(part, style, indent=indent, hanging=hanging), self._stream)
            indent = indent if hanging is None else hanging

    def preview(self, plan: ChangePlan, root: str, outputs: OutputChanges, exports: Mapping[str, Any]) -> None:
        """Write the changes of a preview."""
        self._headline(root, plan, exports)
        self.changes(plan, root)
        if self._details and outputs.changes:
            self.line("Outputs:")
            for change in outputs.changes:
                self._change("    ", change, width=None)
            if outputs.unchanged:
                self.line(f"    {outputs.unchanged} unchanged")
        findings = self._findings()
        write(self.screen.findings(findings, details=self._details), self._stream)
        self._closing(plan, outputs, findings)

    def announce(self, plan: ChangePlan, root: str) -> None:
        """Print the changes of a deployment, for the confirmation prompt."""
        self._headline(root, plan, {})
        self.changes(plan, root)
        self._announced = True

    def _headline(self, root: str, plan: ChangePlan, exports: Mapping[str, Any]) -> None:
        numbers = {op: _count(plan.having(op)) for op in CHANGING}
        counts = [f"{number:,} to {op.value}" for op, number in numbers.items() if number]
        if pending := _count(plan.having(Op.PENDING)):
            counts.append(f"{pending:,} planned only")
        parts = [", ".join(counts) or "no changes", *self._facts(exports)]
        self.text(f"{_stack_name(root)}: {'; '.join(parts)}", "bold", hanging="  ")

    def changes(self, plan: ChangePlan, root: str) -> None:
        """Write the changes of each resource, or the tree and the fields with details."""
        if self._details:
            self.tree(plan, root)
            self.differences(plan)
        else:
            self._list(plan.steps.values(), {op: op.value for op in Op})
        self._notes(plan)

    def _notes(self, plan: ChangePlan) -> None:
        for note in plan.notes:
            self.text(f"note: {note}", "note", hanging="  ")

    def _list(self, steps: Iterable[Step], words: Mapping[Op, str]) -> None:
        """Write a table of the changes, what may interrupt a model first."""
        rows = [*change_rows(steps, words)]
        # Most deployments only create: then no row has a field.
        columns = _COLUMNS if any(row[-1] for row in rows) else _COLUMNS[:-1]
        if rows:
            write(self.screen.table(columns, (row[: len(columns)] for row in rows)), self._stream)

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
                mark, style = _MARKS[step.op]
                op = "" if step.op is Op.SAME else step.op.value
                fields = dict.fromkeys(f"{c.op}{c.path.split('.')[0].split('[')[0]}" for c in step.changes)
                info = step.note or (f"[diff: {','.join(fields)}]" if fields else "")
                if info.startswith(PLANNED_ONLY):  # the summary counts these resources
                    info = ""
                text = f" {mark:<3} {label:<{type_width}}{urn_name(step.urn):<{name_width}}{op:<9}{info}".rstrip()
                self.line(text, style)

    def differences(self, plan: ChangePlan) -> None:
        """Write the changed fields of each resource."""
        for step in plan.having(Op.IMPORT, Op.UPDATE, Op.REPLACE):
            if not step.changes:
                continue
            mark, style = _MARKS[step.op]
            self.line(f"  {mark} {_short_type(step.urn)} {urn_name(step.urn)}", style)
            for change in step.changes:
                self._change("      ", change)
            self._taken(step.taken)

    def _taken(self, lines: Iterable[str]) -> None:
        """Write which fields were taken from other managers, and what would set them again."""
        for line in lines:
            self.text(f"note: {line}", "note", hanging="  ")

    def _change(self, indent: str, change: Change, width: int | None = _MAX_WIDTH) -> None:
        style = {"+": "good", "-": "error", "~": "warning"}[change.op]
        old, new = (_value_text(change, value, width) for value in (change.old, change.new))
        text = {
            "+": f"+ {change.path}: {new}",
            "-": f"- {change.path}: {old}",
            "~": f"~ {change.path}: {old} => {new}",
        }[change.op]
        self.line(f"{indent}{text}{'   <- forces replacement' if change.replaces else ''}", style)

    def failures(self, failures: Sequence[Failure]) -> None:
        """Write the failed steps, then those skipped because of them."""
        if not failures:
            return
        skipped = sorted(failure.urn for failure in failures if failure.skipped)
        failed = sorted((failure for failure in failures if not failure.skipped), key=lambda failure: failure.urn)
        shown_failures = failed if self._details else failed[:_MAX_LISTED]
        for failure in shown_failures:
            self.text(f"error: {_title(failure.urn)}", "error")
            self.text(failure.message, indent="  ")
            for path, message in failure.causes:
                self.text(f"{path}: {message}" if path else message, indent="  ")
        if len(failed) > len(shown_failures):
            self.text(f"and {len(failed) - len(shown_failures)} more errors (--details)")
        if skipped:
            shown = skipped if self._details else skipped[:_MAX_SKIPPED]
            further = [f"{len(skipped) - len(shown)} more (--details)"] if len(skipped) > len(shown) else []
            names = ", ".join([*map(_title, shown), *further])
            self.text(f"skipped, because they depend on what failed: {names}", indent="  ")
        late = any(failure.late for failure in failures)
        when = "if the machine was only busy" if late else "once the cause is fixed"
        advice = f"completed changes are recorded; {when}, run the same command again to continue"
        self.text(f"help: {advice}", hanging="  ")

    def applied(
        self,
        plan: ChangePlan,
        root: str,
        result: Result,
        seconds: float,
        exports: Mapping[str, Any],
    ) -> None:
        """Write what a deployment has done."""
        done = [step for step in result.done if step.op in CHANGING]
        numbers = {op: _count(step for step in done if step.op is op) for op in CHANGING}
        counts = [f"{number:,} {_PAST_TENSE[op]}" for op, number in numbers.items() if number]
        failed = sum(not failure.skipped for failure in result.failures)
        if failed:
            skipped = len(result.failures) - failed
            counts.insert(0, f"{failed} failed" + (f", {skipped} skipped" if skipped else ""))
        words = f"{', '.join(counts) or 'no changes'} in {duration(seconds)}"
        facts = () if failed else self._facts(exports)
        title = f"{_stack_name(root)}: {'; '.join([words, *facts])}"
        self.text(title, "error" if failed else "bold", hanging="  ")
        self.failures(result.failures)
        # Not in the order in which threads took them.
        self._taken(sorted(result.taken))
        if not self._announced:
            self._notes(plan)
            # What was only created is counted in the headline.
            self._list([step for step in done if step.op is not Op.CREATE], _PAST_TENSE)
        pending = _count(plan.having(Op.PENDING))
        if pending:
            self.text(f"note: {pending} planned only (not deployed by the local engine)", "note")

    def _closing(self, plan: ChangePlan, outputs: OutputChanges, findings: Sequence[Message]) -> None:
        """Count what is not shown."""
        counts = [count_words(Counter(finding.severity for finding in findings))] if findings else []
        if unchanged := _count(plan.having(Op.SAME)):
            counts.append(f"{unchanged:,} unchanged")
        if pending := _count(plan.having(Op.PENDING)):
            counts.append(f"{pending:,} planned only (not deployed by the local engine)")
        names = {change.path.split(".")[0].split("[")[0] for change in outputs.changes}
        if names and not self._details:
            counts.append(f"{pluralize(len(names), 'output')} changed")
        more = ", ".join([*hidden_findings(findings), "each resource, field and output"])
        more = "" if self._details else f" (--details: {more})"
        self.text(f"{', '.join(counts) or '0 unchanged'}{more}")


def change_rows(steps: Iterable[Step], words: Mapping[Op, str]) -> Iterator[tuple[str | Styled, ...]]:
    """Yield a row for each change; where an operation has many of a kind, and for creations, one for each kind.

    Args:
        steps: The steps; components, which only group resources, are left out.
        words: The words of the operations.
    """
    by_operation: dict[Op, list[Step]] = {}
    for step in steps:
        if not step.is_component:
            by_operation.setdefault(step.op, []).append(step)
    for op in _ORDER:
        # Not in the order in which threads completed them.
        found = sorted(by_operation.get(op, []), key=lambda step: (_kind(step), _name(step)))
        mark, style = _MARKS[op]
        change = Styled(f"{mark} {words.get(op, op.value)}", style)
        by_kind: dict[str, list[Step]] = {}
        for step in found:
            # A group of its own for each step that a reader wants to see.
            alone = op not in (Op.CREATE, Op.PENDING) and len(found) <= _MAX_LISTED
            by_kind.setdefault(step.urn if alone else _kind(step), []).append(step)
        groups = list(by_kind.values())
        if op in (Op.CREATE, Op.PENDING):
            groups.sort(key=len, reverse=True)
        for group in groups[:_MAX_LISTED]:
            names = sorted(map(_name, group))
            rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
            info = _info(group[0]) if len(group) == 1 else ""
            # Details have the whole name; a row of the list is one line.
            yield change, str(len(group)), _kind(group[0]), shortened(names[0], _MAX_NAME) + rest, info
        others = groups[_MAX_LISTED:]
        if others:
            yield change, str(sum(map(len, others))), f"{len(others)} other kinds", "", ""


def _count(steps: Iterable[Step]) -> int:
    return sum(not step.is_component for step in steps)


def _kind(step: Step) -> str:
    type_ = _short_type(step.urn)
    return "Provider" if type_.startswith(PROVIDERS) else type_.rpartition(":")[2]


def _name(step: Step) -> str:
    """Return namespace and name of an object, or the logical name of another resource."""
    inputs = step.inputs or (step.node.inputs if step.node else None) or (step.row.inputs if step.row else None) or {}
    meta = inputs.get("metadata") if step.is_object else None
    name = meta.get("name") if isinstance(meta, Mapping) else None
    if not isinstance(name, str):
        return urn_name(step.urn)
    namespace = meta.get("namespace") if isinstance(meta, Mapping) else None
    return f"{namespace}/{name}" if isinstance(namespace, str) else name


def _info(step: Step) -> str:
    """Return why a resource changes: the note of its step, its one changed value, or its first changed field."""
    if step.note and not step.note.startswith(PLANNED_ONLY):
        return step.note
    paths = list(dict.fromkeys(change.path for change in step.changes))
    if len(step.changes) == 1 and (change := step.changes[0]).op == "~":
        values = f"{_value_text(change, change.old, None)} => {_value_text(change, change.new, None)}"
        if len(values) <= _SHORT:
            return f"{change.path}: {values}"
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "") if paths else ""


def _stack_name(root: str) -> str:
    return root.split("::", 1)[0].removeprefix("urn:pulumi:")


def _title(urn: str) -> str:
    return f"{_short_type(urn).rpartition(':')[2]} {urn_name(urn)}"


def duration(seconds: float) -> str:
    """Format the duration of a deployment: ``0.7 s``, ``42 s``, ``3 min``."""
    if seconds < _TENTHS:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE else f"{seconds / _MINUTE:.0f} min"


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


def _shown(change: Change, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return masked_part(value, parse_path(change.path), change.kind)


def _value_text(change: Change, value: Any, width: int | None) -> str:  # noqa: ANN401 - any JSON value
    text = json.dumps(_shown(change, value), ensure_ascii=False, sort_keys=True)
    return text if width is None or len(text) <= width else text[: width - 1] + "…"


class JsonDisplay(Display):
    """Output that writes previews as JSON."""

    def preview(
        self,
        plan: ChangePlan,
        root: str,  # noqa: ARG002
        outputs: OutputChanges,
        exports: Mapping[str, Any],  # noqa: ARG002
    ) -> None:
        write_json(self._stream, plan, outputs)
