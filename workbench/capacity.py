"""``workbench dev capacity``: node groups for which EC2 has no capacity."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from components.clouds.aws.nodes.autoscaler_status import STATUS, Shortage, shortages
from toolkit.kube import Kube, KubeError
from toolkit.printing import Format, Output

from .errors import WorkbenchError

_POLL_SECONDS = 10.0
"""The scan interval of the Cluster Autoscaler."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(capacity)


def capacity(
    kubeconfig: Annotated[
        Path, typer.Option(help="Path to the kubeconfig file of the cluster.", metavar="FILE", envvar="KUBECONFIG")
    ],
    namespace: Annotated[str, typer.Option(help="Namespace of the Cluster Autoscaler.")] = "kube-system",
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Maximum time to wait for missing nodes.")
    ] = 0.0,
    output: Output = Format.TEXT,
) -> None:
    """Show node groups that are missing nodes, and why.

    Node groups on AWS are created empty, and the Cluster Autoscaler adds their nodes. While EC2 has no capacity for a
    group, its pods stay Pending; this command lists those groups.

    Exit codes: 0 all nodes exist, 1 nodes are missing.
    """
    deadline = time.monotonic() + wait
    with Kube.from_kubeconfig(kubeconfig) as kube:
        missing = _shortages(kube, namespace)
        while missing and time.monotonic() < deadline:
            typer.echo(f"waiting for {len(missing)} node groups with missing nodes: {missing[0].group}", err=True)
            time.sleep(min(_POLL_SECONDS, max(deadline - time.monotonic(), 0)))
            missing = _shortages(kube, namespace)
    if output == Format.JSON:
        typer.echo(json.dumps([asdict(shortage) for shortage in missing], indent=2))
    else:
        typer.echo(
            "\n".join(map(str, missing)) or "All node groups have the nodes that the Cluster Autoscaler requests."
        )
    raise typer.Exit(int(bool(missing)))


def _shortages(kube: Kube, namespace: str) -> list[Shortage]:
    name = f"ConfigMap {namespace}/{STATUS}"
    try:
        config_map = kube.get("v1", "ConfigMap", STATUS, namespace)
    except KubeError as error:
        if error.status != 404:
            raise WorkbenchError(f"{name} cannot be read: {error.message}") from error
        raise WorkbenchError(
            f"{name} does not exist, so no Cluster Autoscaler runs in that namespace; pass the right one with "
            "--namespace. If Karpenter creates the nodes, use `kubectl get nodeclaims`"
        ) from error
    try:
        return shortages(str((config_map.get("data") or {}).get("status", "")))
    except ValueError as error:
        raise WorkbenchError(f"{name} {error}") from error
