"""``workbench explain``: where each field of a resource takes effect."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.printing import Format, ShowValues, output_option
from toolkit.screen import Details, Screen, shortened, write

from .errors import WorkbenchError
from .subject import Subject, planned, takes_subject

if TYPE_CHECKING:
    from components.contract.load import LoadedResource
    from components.plan.explain import ExplainedField
    from components.plan.plan import Plan

_MAX_RESULTS = 2
"""Results of a field without details."""
_MAX_LENGTH = 140
"""Characters of a value or a result without details: about two lines."""


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
    output: Annotated[
        Format, output_option("Output format; json includes all results and untruncated values.")
    ] = Format.TEXT,
    details: Details = False,
    show_values: ShowValues = False,  # noqa: ARG001  its callback turns it on
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
        write(_lines([row for _, row in rows], Screen.of(), details=details))


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
    from components.plan.spans import estimated
    from components.plan.starts.planned import title_of

    from .planning.wording.starts import NOT_KNOWN, saving_text, total_text

    for item, workload in plan.fleet.workloads:
        budget = plan.starts.get(title_of(workload))
        if budget is None or item.source.resource is not resource.resource:
            continue
        steps = (
            f"{step.name} = {NOT_KNOWN if step.seconds is None else estimated(step.seconds)} ({step.source})"
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


def _lines(rows: "Sequence[ExplainedField]", screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield each field with its value, and what it becomes below it."""
    is_cut = False
    for row in rows:
        became = row.became if details else row.became[:_MAX_RESULTS]
        texts = [str(row.value), *became]
        shown = texts if details else [shortened(" ".join(text.split()), _MAX_LENGTH) for text in texts]
        is_cut |= len(became) < len(row.became) or shown != texts
        value, *further = shown[0].splitlines() or [""]
        yield from screen.text(f"{row.path} = {value}", "bold", hanging="    ")
        for text in further:
            yield from screen.text(text, indent="    ")
        for result in shown[1:] or ["no effect here"]:
            first, *rest = result.splitlines() or [""]
            yield from screen.text(first, indent="  ", hanging="    ")
            for text in rest:
                yield from screen.text(text, indent="    ")
        if left := len(row.became) - len(became):
            yield from screen.text(f"and {left:,} more (--details)", "dim", indent="  ")
    yield from screen.left_out(["all results", "whole values"] if is_cut else [])


def _matches(name: str, resources: "Sequence[LoadedResource]") -> "list[LoadedResource]":
    kind, _, own = name.partition("/")
    matches = [r for r in resources if (r.resource.kind, r.resource.metadata.name) == (kind, own)]
    if not matches:
        from components.contract.problems import did_you_mean

        known = sorted(f"{r.resource.kind}/{r.resource.metadata.name}" for r in resources)
        hint = did_you_mean(name, known) or f"; available: {', '.join(known) or 'none'}"
        raise WorkbenchError(f"resource {name!r} not found{hint}", exit_code=2)
    return matches
