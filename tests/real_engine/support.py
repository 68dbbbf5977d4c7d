"""Projects in folders of their own, deployed by the real engine as ``--engine pulumi`` does it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from workbench.engine.pulumi_cli import PulumiCli

Json = dict[str, Any]
PROGRAM = """
from pathlib import Path

import pulumi
import yaml

settings = yaml.safe_load(Path("objects.yaml").read_text())
kubeconfig = pulumi.Config().require("kubeconfig")
provider = pulumi.ProviderResource("kubernetes", "cluster", {"kubeconfig": kubeconfig})
before = []
for body in settings["objects"]:
    group, _, version = body["apiVersion"].rpartition("/")
    token = f"kubernetes:{group or 'core'}/{version}:{body['kind']}"
    options = pulumi.ResourceOptions(
        provider=provider,
        depends_on=before,
        custom_timeouts=pulumi.CustomTimeouts(**settings["timeouts"]),
        ignore_changes=settings["kept"].get(body["metadata"]["name"]),
    )
    resource = pulumi.CustomResource(token, body["metadata"]["name"], body, options)
    if body["kind"] == "Namespace":
        before = [resource]
"""


class RealStack:
    """A project whose program registers the objects of a file. Every call runs the program anew."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        folder.mkdir()
        config = {"kubeconfig": {"type": "string", "default": "absent"}}
        described = {"name": "objects", "runtime": "python", "config": config}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(described))
        (folder / "Pulumi.dev.yaml").write_text("config: {}\n")
        (folder / "__main__.py").write_text(PROGRAM)
        self.folder = folder
        self.kubeconfig = kubeconfig
        self.kept: dict[str, list[str]] = {}
        """Fields that updates leave alone, by the name of the object."""
        self.cli = PulumiCli(folder, "dev", folder / ".workbench", str(kubeconfig))

    def write(self, objects: Iterable[Mapping[str, Any]], **timeouts: str) -> None:
        """Write the objects of the next run, and how long it may wait for each: ``create="20s"``."""
        content = {"objects": list(objects), "timeouts": timeouts, "kept": self.kept}
        (self.folder / "objects.yaml").write_text(yaml.safe_dump(content))

    def up(self, objects: Iterable[Mapping[str, Any]], **timeouts: str) -> int:
        self.write(objects, **timeouts)
        return self.cli.up(yes=True)

    def resources(self) -> list[Json]:
        """What the state contains, but for the stack and its provider."""
        found = self.cli.export()["deployment"].get("resources") or []
        return [each for each in found if not each["type"].startswith("pulumi:")]


def changes(printed: str) -> dict[str, int]:
    """Return how many resources each operation of ``preview --json`` concerns."""
    summary: dict[str, int] = json.loads(printed)["changeSummary"]
    return summary


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def config_map(name: str, space: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": space}, "data": data}


def deployment(name: str, space: str, node: str, image: str = "registry.example/model:1") -> Json:
    """A Deployment whose pod is scheduled once there is a node with a label."""
    labels = {"app": name}
    container = {"name": "server", "image": image}
    pod = {"nodeSelector": {"pool": node}, "containers": [container]}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    metadata = {"name": name, "namespace": space}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
