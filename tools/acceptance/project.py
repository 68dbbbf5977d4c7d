"""The Pulumi project of a run: one model on one GPU node behind an internal gateway."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from acceptance.errors import AcceptanceError

ROOT = Path(__file__).parents[2]
STACK = "acceptance"
TAG = "inference-platform-acceptance"
"""Tag of every resource of a run; its value is the name of the cluster."""
MODEL = "qwen2-5-1-5b"
"""The model of ``chat.yaml``."""
NAMESPACE = "models"
DOOR_NAMESPACE = "envoy-gateway-system"
KEYS = "acceptance-keys"
HOURS_A_MONTH = 730
MOST_NODES = 2
"""One GPU node serves the model; the second exists while a rolling update replaces the only replica."""
_TEMPLATE = Path(__file__).with_name("chat.yaml")
_CONTEXT, _EDITED_CONTEXT = "16384", "8192"


@dataclass(frozen=True)
class AcceptanceProject:
    """The folder of a run, and its cluster."""

    folder: Path
    cluster: str
    region: str

    @classmethod
    def write(
        cls, folder: Path, cluster: str, region: str, instance_type: str, zones: Sequence[str], cidr: str
    ) -> "AcceptanceProject":
        """Write a project.

        Args:
            folder: Its folder, which must not exist.
            cluster: Name of the cluster, also the value of the tag.
            region: AWS region.
            instance_type: Type of the GPU node.
            zones: Two zones; the GPU nodes are in the first.
            cidr: Range that may connect to the API server.

        Raises:
            AcceptanceError: the folder exists.
        """
        try:
            (folder / "models").mkdir(parents=True)
        except FileExistsError:
            raise AcceptanceError(f"{folder} exists; choose another --folder, or clean up with --clean-up") from None
        description = yaml.safe_load((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))
        # The program runs in the environment that runs this test.
        description["runtime"] = "python"
        _write(folder / "Pulumi.yaml", description)
        (folder / "__main__.py").write_text((ROOT / "__main__.py").read_text(encoding="utf-8"), encoding="utf-8")
        manifest = _TEMPLATE.read_text(encoding="utf-8").replace("INSTANCE-TYPE-OF-THE-RUN", instance_type)
        (folder / "models" / "chat.yaml").write_text(manifest, encoding="utf-8")
        _write(
            folder / f"Pulumi.{STACK}.yaml",
            {"config": _settings(cluster, region, instance_type, list(zones), cidr)},
        )
        _write(folder / "run.yaml", {"cluster": cluster, "region": region})
        return cls(folder, cluster, region)

    @classmethod
    def of(cls, folder: Path) -> "AcceptanceProject":
        """Return the project of an earlier run.

        Raises:
            AcceptanceError: the folder is not one of a run.
        """
        try:
            stored = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
            return cls(folder, stored["cluster"], stored["region"])
        except (OSError, yaml.YAMLError, KeyError, TypeError):
            raise AcceptanceError(f"{folder} is not the folder of a run: it has no run.yaml") from None

    def workbench(self, *words: str) -> list[str]:
        """Return the command line of the workbench for the stack."""
        return [sys.executable, "-m", "workbench", *words, "--stack", STACK, "--cwd", str(self.folder)]

    @functools.cached_property
    def planned(self) -> dict[str, Any]:
        """The plan in JSON.

        Raises:
            AcceptanceError: the plan has errors.
        """
        command = [sys.executable, "-m", "workbench", "plan", "--stack", STACK, "--format", "json"]
        done = subprocess.run(
            command, cwd=self.folder, env=environment(), capture_output=True, text=True, check=False
        )
        try:
            planned: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise AcceptanceError(f"workbench plan:\n{done.stdout[-2000:]}{done.stderr[-2000:]}") from None
        if not planned["passes"]:
            raise AcceptanceError(f"workbench plan: {planned['verdict']}")
        return planned

    def hourly_usd(self) -> float:
        """Return the highest cost of an hour, from the plan.

        Raises:
            AcceptanceError: the plan has errors or no cost.
        """
        try:
            return float(self.planned["monthlyUsd"]["after"]["most"]) / HOURS_A_MONTH
        except (ValueError, KeyError, TypeError):
            raise AcceptanceError("workbench plan has no cost") from None

    def timeouts(self) -> dict[str, dict[str, str]]:
        """Return how long Pulumi waits for each resource, by title, from the plan."""
        resources = self.planned["review"]["head"]["resources"]
        return {each["title"]: each["timeouts"] for each in resources if each["timeouts"]}

    def edit(self) -> None:
        """Shorten the context of the model, which replaces its pod and nothing else."""
        manifest = self.folder / "models" / "chat.yaml"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(text.replace(_CONTEXT, _EDITED_CONTEXT), encoding="utf-8")


def _settings(cluster: str, region: str, instance_type: str, zones: list[str], cidr: str) -> dict[str, Any]:
    shipped = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8"))
    settings: dict[str, Any] = {
        "cloud": "aws",
        "region": region,
        "clusterName": cluster,
        "runtimes": "current",
        "tags": {TAG: cluster},
        "models": ["models"],
        "network": {"zones": zones, "natGateways": "one"},
        "cluster": {
            "version": shipped["config"]["inference-platform:cluster"]["version"],
            "zones": zones,
            "publicAccessCidrs": [cidr],
            "logTypes": [],  # EKS writes logs after the cluster is deleted, so that its log group would remain
        },
        "gpuNodes": {"zones": zones[:1], "types": {instance_type: {"maxNodes": MOST_NODES}}},
        "prerequisites": {"install": True},
        "frontDoor": {
            "expose": "gateway",
            "internal": True,
            "requestTimeout": "1m",
            "auth": {"kind": "api-key", "secrets": [KEYS]},
        },
        "ignore": {"access-clear-text": "the gateway is internal, and only the acceptance test calls it"},
    }
    defaults = {"pulumi:disable-default-providers": ["kubernetes", "aws"]}
    return {**defaults, **{f"inference-platform:{key}": value for key, value in settings.items()}}


def environment() -> dict[str, str]:
    """Return the environment of programs that import this checkout."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
