"""``workbench explain``: where each field of a resource takes effect."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from components.contract.texts.printable import printable, printable_lines
from toolkit.printing import Format, output_option

from .errors import WorkbenchError
from .subject import Subject, planned, takes_subject

if TYPE_CHECKING:
    from components.contract.load import LoadedResource
    from components.plan.explain import ExplainedField
    from components.plan.plan import Plan

_MAX_RESULTS = 4
_MAX_LENGTH = 100


def register(app: typer.Typer) -> None:
    """Add the ``explain`` command."""
    app.command()(explain)


@takes_subject
def explain(
    subject: Subject,
    *,
    name: Annotated[str, typer.Argument(metavar="KIND/NAME", help="Kind and name of the resource.")] = "",
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Manifest files or folders; - reads stdin. Default: the models of the stack.",
        ),
    ] = None,
    field: Annotated[
        str,
        typer.Option(metavar="KIND.PATH", help="Describe a field of a kind instead."),
    ] = "",
    finding: Annotated[
        str,
        typer.Option(metavar="ID", help="Describe a finding instead, by the id at the end of its messages."),
    ] = "",
    show_all: Annotated[bool, typer.Option("--all", help="Show all results and untruncated values.")] = False,
    output: Annotated[
        Format, output_option("Output format; json includes all results and untruncated values.")
    ] = Format.TEXT,
) -> None:
    """Show where each field of a resource takes effect: in a flag, a variable or a field of an object.

    With --field, describe a field of a kind without any manifest: type, default, limits, releases, what it becomes.
    With --finding, describe a finding: what it means, what to do, how to ignore it.
    """
    if bool(name) + bool(field) + bool(finding) != 1:
        raise WorkbenchError("pass either KIND/NAME, or --field KIND.PATH, or --finding ID", exit_code=2)
    if field:
        from .fields import describe_field

        describe_field(field, output)
        return
    if finding:
        from .findings import describe_finding

        describe_finding(finding, output)
        return
    from components.contract.problems import errors
    from components.plan.explain import explain as explained

    manifests, plan = planned(subject, paths)
    problems = errors(plan.problems)
    if problems:
        raise WorkbenchError("\n".join(map(str, problems)))
    rows = [
        (resource, row)
        for resource in _matches(name, manifests.resources)
        for row in (
            *explained(resource, manifests.resources, plan),
            *_memory(resource, plan),
            *_starts(resource, plan),
        )
    ]
    if output is Format.JSON:
        sys.stdout.write(json.dumps([_as_dict(resource, row) for resource, row in rows], indent=2) + "\n")
    else:
        _show([row for _, row in rows], show_all=show_all)


def _memory(resource: "LoadedResource", plan: "Plan") -> "Iterator[ExplainedField]":
    """Yield a row for each workload of a resource: whether its model fits, and what takes memory."""
    from components.checks.memory.wording import gib
    from components.plan.explain import ExplainedField

    for fit in plan.verdicts:
        if fit.item.source.resource is resource.resource:
            parts = (f"{part.name} = {gib(part.size)}" for part in fit.verdict.parts)
            yield ExplainedField(f"memory of {fit.workload.set_name}", fit.text, (*parts, *fit.verdict.notes))


def _starts(resource: "LoadedResource", plan: "Plan") -> "Iterator[ExplainedField]":
    """Yield a row for each workload of a resource: how long a cold start takes, and its steps with their sources."""
    from components.plan.explain import ExplainedField
    from components.plan.starts.planned import title_of

    from .planning.wording.starts import NOT_KNOWN, saving_text, total_text

    for item, workload in plan.fleet.workloads:
        budget = plan.starts.get(title_of(workload))
        if budget is None or item.source.resource is not resource.resource:
            continue
        steps = (
            f"{step.name} = {NOT_KNOWN if step.seconds is None else f'{step.seconds} s'} ({step.source})"
            for step in budget.steps
        )
        saving = saving_text(budget)
        yield ExplainedField(
            f"cold start of {workload.set_name}", total_text(budget.total), (*steps, *([saving] if saving else []))
        )


def _as_dict(resource: "LoadedResource", row: "ExplainedField") -> dict[str, Any]:
    return {
        "kind": resource.kind.kind,
        "namespace": resource.resource.metadata.namespace or "",
        "name": resource.name,
        "field": row.path,
        "value": row.value,
        "became": list(row.became),
    }


def _show(rows: "Sequence[ExplainedField]", *, show_all: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("field", "value", "became", box=None)
    for row in rows:
        results = (
            [*map(printable_lines, row.became)]
            if show_all
            else [_truncated(text) for text in row.became[:_MAX_RESULTS]]
        )
        if len(row.became) > len(results):
            results.append(f"and {len(row.became) - len(results)} more (--all)")
        value = str(row.value)
        value = printable_lines(value) if show_all else _truncated(value)
        table.add_row(printable(row.path), value, "\n".join(results) or "no effect here")
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 10_000 if show_all else 240
    console.print(table)


def _matches(name: str, resources: "Sequence[LoadedResource]") -> "list[LoadedResource]":
    kind, _, own = name.partition("/")
    matches = [r for r in resources if (r.resource.kind, r.resource.metadata.name) == (kind, own)]
    if not matches:
        from components.contract.problems import did_you_mean

        known = sorted(f"{r.resource.kind}/{r.resource.metadata.name}" for r in resources)
        hint = did_you_mean(name, known) or f"; available: {', '.join(known) or 'none'}"
        raise WorkbenchError(f"resource {name!r} not found{hint}", exit_code=2)
    return matches


def _truncated(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= _MAX_LENGTH else line[: _MAX_LENGTH - 3] + "..."
