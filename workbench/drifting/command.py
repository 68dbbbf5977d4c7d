"""``workbench diff``."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from toolkit.printing import Format, Output, ShowValues, pluralize
from toolkit.screen import Details, Screen, shortened, write

from ..errors import WorkbenchError
from ..subject import Paths, Subject, planned, takes_subject

if TYPE_CHECKING:
    from .drift import FieldDrift
    from .reading import ObjectDrift


def register(app: typer.Typer) -> None:
    """Add the ``diff`` command."""
    app.command()(diff)


@takes_subject
def diff(
    subject: Subject,
    *,
    paths: Paths = None,
    kubeconfig: Annotated[
        Path,
        typer.Option(help="Path to the kubeconfig file of the cluster.", metavar="FILE", envvar="KUBECONFIG"),
    ],
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig. Default: its current one.")] = None,
    output: Output = Format.TEXT,
    details: Details = False,
    show_values: ShowValues = False,  # noqa: ARG001  its callback turns it on
) -> None:
    """Show what in a cluster differs from the plan, by model and field, and who changed it when.

    Compares the fields that the plan sets, and shows fields that other clients added. Defaults of the API server are
    no difference. What autoscalers, controllers and admission webhooks set is none either, and is listed with
    --details. Changes nothing: sends GET requests, and dry runs where the user may patch. `up --restore` undoes the
    differences.

    Secrets that the user may not read are reported as not compared.

    Exit codes: 0 no difference, 1 differences, 2 or more an error, such as other objects that could not be read.
    """
    from components.contract.problems import errors
    from toolkit.kube import Kube

    from .reading import drifts_of, models_of

    _, plan = planned(subject, paths)
    plan_errors = errors(plan.problems)
    if plan_errors:
        raise WorkbenchError("\n".join(map(str, plan_errors)))
    objects = plan.objects if subject.stack and not paths else plan.fleet.objects
    with Kube.from_kubeconfig(kubeconfig, context) as kube:
        drifts = drifts_of([*objects, *plan.others], models_of(plan), kube)
    if output is Format.JSON:
        sys.stdout.write(json.dumps([_as_json(drift) for drift in drifts], indent=2) + "\n")
    else:
        write(_lines(drifts, Screen.of(), details=details))
    unread = sum(bool(drift.unread) and not drift.right for drift in drifts)
    if unread:
        raise WorkbenchError(f"objects that could not be compared: {unread}; the reasons are in the report", 2)
    if any(drift.differs for drift in drifts):
        raise typer.Exit(1)


class _DriftLine(NamedTuple):
    """What is printed of an object; cut if one of its values is."""

    text: str
    style: str = ""
    is_cut: bool = False


_MOST_FIELDS = 12
"""Fields without details."""
_LONGEST_VALUE = 60
"""Characters of a value without details."""


def _lines(drifts: "Sequence[ObjectDrift]", screen: Screen, *, details: bool) -> Iterator[str]:
    from .reading import models_in

    compared = [drift for drift in drifts if drift.differs or (drift.unread and not drift.right)]
    explained = [drift for drift in drifts if drift.explained]
    if not compared and not any(drift.right for drift in drifts):
        yield "The cluster is as planned."
    elif not compared:
        yield "What was compared is as planned."
    else:
        yield from screen.text(_headline(compared), "bold")
    entries = [
        (model, line)
        for model, objects in models_in(compared).items()
        for drift in objects
        for line in _of_object(drift, details=details)
    ]
    # A line that counts one entry takes as much room as the entry.
    shown = entries if details or len(entries) <= _MOST_FIELDS + 1 else entries[:_MOST_FIELDS]
    before = None
    for model, line in shown:
        if model != before:
            yield from screen.text(model or "the fleet", "bold")
        before = model
        yield from screen.text(line.text, line.style, indent="  ", hanging="    ")
    if left := len(entries) - len(shown):
        yield from screen.text(f"and {left:,} more (--details)", "dim")
    count = sum(len(drift.explained) for drift in explained)
    if count and not details:
        verb = "is" if count == 1 else "are"
        fields = pluralize(count, "field")
        yield from screen.text(
            f"{fields} of autoscalers, controllers or webhooks {verb} no difference (--details)", "dim"
        )
    for drift in explained if details else ():
        for line_text in _explained(drift):
            yield from screen.text(line_text, "dim", hanging="  ")
    for right in sorted({drift.right for drift in drifts if drift.right}):
        titles = ", ".join(drift.title for drift in drifts if drift.right == right)
        yield from screen.text(f"not compared, needs the right to {right}: {titles}", "warning", hanging="  ")
    yield from screen.left_out(["whole values"] if any(line.is_cut for _, line in shown) else [])


def _headline(drifts: "Sequence[ObjectDrift]") -> str:
    """Return ``2 objects differ from the plan in 3 fields, 1 object is not in the cluster``."""
    changed = [drift for drift in drifts if drift.fields]
    absent = sum(drift.absent for drift in drifts)
    unread = sum(bool(drift.unread) for drift in drifts)
    parts = []
    if changed:
        verb = "differs" if len(changed) == 1 else "differ"
        fields = sum(len(drift.fields) for drift in changed)
        parts.append(f"{pluralize(len(changed), 'object')} {verb} from the plan in {pluralize(fields, 'field')}")
    if absent:
        verb = "is" if absent == 1 else "are"
        parts.append(f"{pluralize(absent, 'object')} {verb} not in the cluster")
    if unread:
        parts.append(f"{pluralize(unread, 'object')} not compared")
    return ", ".join(parts)


def _of_object(drift: "ObjectDrift", *, details: bool) -> Iterator[_DriftLine]:
    if drift.absent:
        yield _DriftLine(f"{drift.title}: is not in the cluster", "error")
    elif drift.unread:
        yield _DriftLine(f"{drift.title}: not compared: {drift.unread}", "warning")
    for field in drift.fields:
        whole, shown = field_text(field), field_text(field, None if details else _LONGEST_VALUE)
        yield _DriftLine(f"{drift.title}: {shown}", is_cut=shown != whole)


def field_text(field: "FieldDrift", longest: int | None = None) -> str:
    """Return ``path: planned a, is b (writer time)``, with values cut to a number of characters."""
    from .drift import ABSENT

    writer = " ".join(filter(None, (field.writer.manager, field.writer.time)))
    values = (_text(field.planned), _text(field.live))
    planned, live = (value if longest is None else shortened(value, longest) for value in values)
    text = f"{field.path}: planned {planned}, is {live}" + (f" ({writer})" if writer else "")
    if field.path.endswith(".serviceAccountName") and field.planned is ABSENT:
        text += "; an apply does not remove it (kubernetes issue 72519), `workbench up --restore` does"
    return text


def _explained(drift: "ObjectDrift") -> Iterator[str]:
    for field in drift.explained:
        yield (
            f"no difference: {drift.title}: {field.path}: planned {_text(field.planned)}, is {_text(field.live)}, "
            f"set by {field.owner}"
        )


def _text(value: Any) -> str:  # noqa: ANN401  any JSON value
    from .drift import ABSENT

    return "(none)" if value is ABSENT else json.dumps(value, sort_keys=True)


def _as_json(drift: "ObjectDrift") -> dict[str, Any]:
    return {
        "apiVersion": drift.api_version,
        "kind": drift.kind,
        "namespace": drift.namespace,
        "name": drift.name,
        "model": drift.model,
        "absent": drift.absent,
        "unread": drift.unread,
        "fields": [_field_as_json(field) for field in drift.fields],
        "explained": [{**_field_as_json(field), "owner": field.owner} for field in drift.explained],
    }


def _field_as_json(field: "FieldDrift") -> dict[str, Any]:
    from .drift import ABSENT

    return {
        "path": field.path,
        # A value may be null; a field that does not exist has no key.
        **({"planned": field.planned} if field.planned is not ABSENT else {}),
        **({"live": field.live} if field.live is not ABSENT else {}),
        "manager": field.writer.manager,
        "time": field.writer.time,
    }
