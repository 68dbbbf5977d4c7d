"""``workbench diff``."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.printing import Format, Output

from ..errors import WorkbenchError
from ..subject import Paths, Subject, planned, takes_subject

if TYPE_CHECKING:
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
) -> None:
    """Show what in a cluster differs from the plan, by model and field, and who changed it when.

    Compares the fields that the plan sets, and shows fields that other clients added. Defaults of the API server, and
    what controllers own, such as the replicas of an autoscaler, are no difference. Sends only GET requests.

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
        sys.stdout.write("".join(f"{line}\n" for line in _lines(drifts)))
    unread = sum(bool(drift.unread) and not drift.right for drift in drifts)
    if unread:
        raise WorkbenchError(f"objects that could not be compared: {unread}; the reasons are in the report", 2)
    if any(drift.differs for drift in drifts):
        raise typer.Exit(1)


def _lines(drifts: "Sequence[ObjectDrift]") -> Iterator[str]:
    from components.contract.texts.printable import printable

    from .reading import models_in

    if not drifts:
        yield "The cluster is as planned."
    elif all(drift.right for drift in drifts):
        yield "What was compared is as planned."
    for model, objects in models_in([drift for drift in drifts if not drift.right]).items():
        yield printable(model or "the fleet")
        for drift in objects:
            if drift.absent:
                yield printable(f"  {drift.title}: is not in the cluster")
            elif drift.unread:
                yield printable(f"  {drift.title}: not compared: {drift.unread}")
            for field in drift.fields:
                writer = " ".join(filter(None, (field.writer.manager, field.writer.time)))
                change = f"planned {_text(field.planned)}, is {_text(field.live)}"
                yield printable(f"  {drift.title}: {field.path}: {change}" + (f" ({writer})" if writer else ""))

    for right in sorted({drift.right for drift in drifts if drift.right}):
        titles = ", ".join(drift.title for drift in drifts if drift.right == right)
        yield printable(f"not compared, needs the right to {right}: {titles}")


def _text(value: Any) -> str:  # noqa: ANN401  any JSON value
    from .drift import ABSENT

    return "(none)" if value is ABSENT else json.dumps(value, sort_keys=True)


def _as_json(drift: "ObjectDrift") -> dict[str, Any]:
    from .drift import ABSENT

    return {
        "apiVersion": drift.api_version,
        "kind": drift.kind,
        "namespace": drift.namespace,
        "name": drift.name,
        "model": drift.model,
        "absent": drift.absent,
        "unread": drift.unread,
        "fields": [
            {
                "path": field.path,
                # A value may be null; a field that does not exist has no key.
                **({"planned": field.planned} if field.planned is not ABSENT else {}),
                **({"live": field.live} if field.live is not ABSENT else {}),
                "manager": field.writer.manager,
                "time": field.writer.time,
            }
            for field in drift.fields
        ],
    }
