"""``workbench capacity``: whether EC2 has the nodes that the Cluster Autoscaler asks for, in words."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from components.clouds.aws.nodes.autoscaler_status import STATUS, Shortage, shortages
from toolkit.kube import Kube, KubeError
from toolkit.printing import Format

from .errors import WorkbenchError

_PAUSE = 10.0
"""Seconds between two looks: the autoscaler itself looks so often."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(capacity)


def capacity(
    kubeconfig: Annotated[Path, typer.Option(help="The cluster.", metavar="FILE", envvar="KUBECONFIG")],
    namespace: Annotated[str, typer.Option(help="Namespace of the autoscaler.")] = "kube-system",
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Wait so long until all nodes are there.")
    ] = 0.0,
    output: Annotated[Format, typer.Option(help="text, or json for other programs.")] = Format.TEXT,
) -> None:
    """Show which node groups have not all their nodes, and why.

    Node groups on AWS are created empty, and the Cluster Autoscaler adds their nodes. While EC2 has no capacity for
    one, pods stay Pending, and this says which groups that is about. Exit with 0 if all nodes are there, with 1 if
    some are missing.
    """
    deadline = time.monotonic() + wait
    with Kube.from_kubeconfig(kubeconfig) as kube:
        missing = _missing(kube, namespace)
        while missing and time.monotonic() < deadline:
            typer.echo(f"waiting: {len(missing)} node groups without all nodes, first {missing[0].group}", err=True)
            time.sleep(min(_PAUSE, max(deadline - time.monotonic(), 0)))
            missing = _missing(kube, namespace)
    if output == Format.JSON:
        typer.echo(json.dumps([asdict(each) for each in missing], indent=2))
    else:
        typer.echo(
            "\n".join(map(str, missing)) or "All node groups have the nodes that the Cluster Autoscaler wants."
        )
    raise typer.Exit(int(bool(missing)))


def _missing(kube: Kube, namespace: str) -> list[Shortage]:
    where = f"ConfigMap {namespace}/{STATUS}"
    try:
        found = kube.get("v1", "ConfigMap", STATUS, namespace)
    except KubeError as error:
        if error.status != 404:
            raise WorkbenchError(f"{where} cannot be read: {error.message}") from error
        raise WorkbenchError(
            f"there is no {where}: no Cluster Autoscaler runs there; name its namespace with --namespace, or, where "
            "Karpenter makes the nodes, look at `kubectl get nodeclaims`"
        ) from error
    try:
        return shortages(str((found.get("data") or {}).get("status", "")))
    except ValueError as error:
        raise WorkbenchError(f"{where} {error}") from error
