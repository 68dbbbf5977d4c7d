"""``workbench diff``."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.printing import Format

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
    output: Annotated[Format, typer.Option(help="Output format.")] = Format.TEXT,
) -> None:
    """Show what in a cluster differs from the plan, by model and field, and who changed it when.

    Compares the fields that the plan sets, and shows fields that other clients added. Defaults of the API server, and
    what controllers own, such as the replicas of an autoscaler, are no difference. Sends only GET requests.

    Secrets that the user may not read are reported as not compared.

    Exit codes: 0 no difference, 1 differences, 2 or more an error, such as other objects that could not be read.
    """
    from components.contract.problems import errors
    from toolkit.kube import Kube

    from .reading import drifts, models_of

    _, plan = planned(subject, paths)
    wrong = errors(plan.problems)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    objects = plan.objects if subject.stack else plan.fleet.objects
    with Kube.from_kubeconfig(kubeconfig, context) as kube:
        found = drifts([*objects, *plan.others], models_of(plan), kube)
    if output is Format.JSON:
        sys.stdout.write(json.dumps([_as_json(each) for each in found], indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(found)))
    unread = sum(bool(each.unread) and not each.right for each in found)
    if unread:
        raise WorkbenchError(f"objects that could not be compared: {unread}; the reasons are in the report", 2)
    if any(each.differs for each in found):
        raise typer.Exit(1)


def _lines(found: "Sequence[ObjectDrift]") -> Iterator[str]:
    from components.contract.texts.printable import printable

    from .reading import models_in

    if not found:
        yield "The cluster is as planned."
    elif all(each.right for each in found):
        yield "What was compared is as planned."
    for model, objects in models_in([each for each in found if not each.right]).items():
        yield printable(model or "the fleet")
        for each in objects:
            if each.absent:
                yield printable(f"  {each.title}: is not in the cluster")
            elif each.unread:
                yield printable(f"  {each.title}: not compared: {each.unread}")
            for field in each.fields:
                writer = " ".join(filter(None, (field.writer.manager, field.writer.time)))
                change = f"planned {_text(field.planned)}, is {_text(field.live)}"
                yield printable(f"  {each.title}: {field.path}: {change}" + (f" ({writer})" if writer else ""))

    for right in sorted({each.right for each in found if each.right}):
        titles = ", ".join(each.title for each in found if each.right == right)
        yield printable(f"not compared, needs the right to {right}: {titles}")


def _text(value: Any) -> str:  # noqa: ANN401  any JSON value
    from .drift import ABSENT

    return "(none)" if value is ABSENT else json.dumps(value, sort_keys=True)


def _as_json(each: "ObjectDrift") -> dict[str, Any]:
    return {
        "apiVersion": each.api_version,
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "model": each.model,
        "absent": each.absent,
        "unread": each.unread,
        "fields": [_field(field) for field in each.fields],
    }


def _field(field: "FieldDrift") -> dict[str, Any]:
    from .drift import ABSENT

    values = {"planned": field.planned, "live": field.live}
    return {
        "path": field.path,
        **{name: value for name, value in values.items() if value is not ABSENT},
        "manager": field.writer.manager,
        "time": field.writer.time,
    }
