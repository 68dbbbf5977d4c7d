"""A stack in a folder of its own, whose program is a function of the test."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pulumi

from workbench.engine.display import Display
from workbench.engine.local import LocalEngine, Outcome, RunOptions
from workbench.engine.project import Project
from workbench.engine.state import State, StateRow

PROVIDER = "pulumi:providers:kubernetes"


class Stack:
    """One stack: every call runs the program anew, as a new process would."""

    def __init__(self, folder: Path, kubeconfig: Path | str) -> None:
        self.folder = folder
        self.kubeconfig = str(kubeconfig)
        self.screen = ""
        self.details = True
        self.options = RunOptions(seconds=60)
        self.config: dict[str, str] = {}

    @property
    def words(self) -> str:
        """The screen as one line: where text wraps depends on names."""
        return " ".join(self.screen.split())

    def engine(self, program: Callable[[], Any]) -> tuple[LocalEngine, StringIO]:
        stream = StringIO()
        project = Project(self.folder, "proj", "dev", config=self.config)
        engine = LocalEngine(
            project, self.folder / "stacks", Display(stream, details=self.details), self.options, program
        )
        return engine, stream

    def run(self, what: str, program: Callable[[], Any] = lambda: None) -> Outcome:
        engine, stream = self.engine(program)
        try:
            outcome: Outcome = getattr(engine, what)()
        finally:
            self.screen = stream.getvalue()
        return outcome

    def up(self, program: Callable[[], Any]) -> Outcome:
        return self.run("up", program)

    def preview(self, program: Callable[[], Any]) -> Outcome:
        return self.run("preview", program)

    def destroy(self) -> Outcome:
        return self.run("destroy")

    def rows(self) -> dict[str, StateRow]:
        with State(self.folder / "stacks", "dev") as state:
            return {urn.rsplit("::", 1)[1]: row for urn, row in state.rows().items()}

    def provider(self, name: str = "here", **inputs: Any) -> pulumi.ProviderResource:
        return pulumi.ProviderResource("kubernetes", name, {"kubeconfig": self.kubeconfig, **inputs})


def kube_object(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    metadata.update(rest.pop("metadata", {}))
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def register(value: dict[str, Any], opts: pulumi.ResourceOptions, name: str | None = None) -> pulumi.CustomResource:
    version = value["apiVersion"] if "/" in value["apiVersion"] else f"core/{value['apiVersion']}"
    token = f"kubernetes:{version}:{value['kind']}"
    return pulumi.CustomResource(token, name or value["metadata"]["name"], dict(value), opts)


def config_map(name: str, opts: pulumi.ResourceOptions, namespace: str = "default", **data: Any) -> Any:
    return register(kube_object("v1", "ConfigMap", name, namespace, data=data), opts)
