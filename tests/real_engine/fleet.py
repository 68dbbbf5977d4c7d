"""A small fleet, deployed by the real engine, and planned by the local one from the same state."""

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.conftest import ROOT
from toolkit.kube import Kube
from workbench.engine.apply.execute import row_of
from workbench.engine.display import Display
from workbench.engine.local import LocalEngine
from workbench.engine.plan import ChangePlan, Op
from workbench.engine.planning.planner import Planner
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.project import load_project
from workbench.engine.pulumi_cli import PulumiCli
from workbench.engine.state import State
from workbench.engine.targets import Targets
from workbench.engine.values import reveal

Json = dict[str, Any]
Identity = tuple[str, str, str, str]
STACK = "small"
NO_RESOURCES = ("pulumi:pulumi:Stack", "pulumi:providers:")
_OF_SERVER = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
_REPLACING = {"replace", "create-replacement", "delete-replaced"}


class SmallFleet:
    """A project with the program of the stacks, and manifests and settings of its own."""

    def __init__(self, folder: Path, kubeconfig: Path, kube: Kube) -> None:
        folder.mkdir()
        self.folder, self.kubeconfig, self.kube = folder, kubeconfig, kube
        (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
        (folder / "__main__.py").write_text("from stacks.program import run\n\nrun()\n")
        self.cli = PulumiCli(folder, STACK, folder / ".workbench", str(kubeconfig))

    def write(self, documents: Mapping[str, Json], settings: Mapping[str, Any]) -> None:
        (self.folder / "models.yaml").write_text(yaml.safe_dump_all(documents.values()))
        config = {f"inference-platform:{key}": value for key, value in settings.items()}
        config |= {
            "pulumi:disable-default-providers": ["kubernetes", "aws"],
            "inference-platform:models": ["models.yaml"],
            "inference-platform:kubeconfig": str(self.kubeconfig),
        }
        (self.folder / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump({"config": config}))

    def record(self) -> ResourceGraph:
        return LocalEngine(load_project(self.folder, STACK), self.folder / "local", Display(io.StringIO())).record(
            preview=False
        )

    def plan(self, graph: ResourceGraph) -> ChangePlan:
        """Plan as the local engine does, from what it would have recorded of the last update."""
        with State(self.folder / "local", STACK) as state, Targets(self.folder, str(self.kubeconfig)) as targets:
            return Planner(graph, state.rows(), targets, state.key).plan()

    def note(self, plan: ChangePlan) -> None:
        """Record a plan as the local engine does once it has applied it."""
        rows = []
        for step in plan.steps.values():
            if not step.node:
                continue
            row = row_of(step)
            if step.is_object:
                live = self.live(reveal(dict(step.inputs)))
                row = replace(row, cluster=step.cluster).settled(live["metadata"]["uid"])
            rows.append(row)
        with State(self.folder / "local", STACK) as state:
            state.forget(state.rows())
            state.write(rows)

    def live(self, body: Mapping[str, Any]) -> Json:
        metadata = body["metadata"]
        return self.kube.get(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))

    def unlike(self, graph: ResourceGraph) -> list[Identity]:
        """The objects in the cluster that an apply of what is rendered would still change."""
        found = []
        for node in graph.nodes.values():
            if node.registration.is_object:
                body = reveal(dict(node.inputs))
                applied = self.kube.server_side_apply(body, manager="check", dry_run=True)[0]
                if _content(applied) != _content(self.live(body)):
                    found.append(identity(body))
        return found

    def uids(self, graph: ResourceGraph) -> dict[Identity, str]:
        bodies = [reveal(dict(node.inputs)) for node in graph.nodes.values() if node.registration.is_object]
        return {identity(body): self.live(body)["metadata"]["uid"] for body in bodies}


def identity(body: Mapping[str, Any]) -> Identity:
    metadata = body["metadata"]
    return (
        str(body["apiVersion"]).rpartition("/")[0],
        body["kind"],
        metadata.get("namespace", ""),
        metadata["name"],
    )


def _content(body: Json) -> Json:
    metadata = {key: value for key, value in body["metadata"].items() if key not in _OF_SERVER}
    return {key: value for key, value in body.items() if key != "status"} | {"metadata": metadata}


def operations_of_cli(previewed: Mapping[str, Any]) -> dict[str, str]:
    """Return what ``preview --json`` says about each resource that changes."""
    found: dict[str, str] = {}
    for step in previewed["steps"]:
        state = step.get("newState") or step["oldState"]
        if step["op"] != "same" and not state["type"].startswith(NO_RESOURCES):
            found[step["urn"]] = "replace" if step["op"] in _REPLACING else step["op"]
    return found


def operations_of(plan: ChangePlan) -> dict[str, str]:
    """Return the same of a plan of the local engine. Old objects of replacements are part of these."""
    return {
        step.urn: str(step.op)
        for step in plan.steps.values()
        if step.op not in (Op.SAME, Op.DISCARD) and not step.urn.split("::")[2].startswith(NO_RESOURCES)
    }
