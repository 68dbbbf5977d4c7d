"""The Pulumi CLI: the real one where there is one, and a stand-in that records how it is called."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROGRAM = """
import pulumi

config = pulumi.Config()
provider = pulumi.ProviderResource("kubernetes", "here", {"kubeconfig": config.require("kubeconfig")})
value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "begun", "namespace": "default"}}
pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "cm", value, pulumi.ResourceOptions(provider=provider))
pulumi.export("size", config.require_int("size"))
pulumi.export("token", pulumi.Output.secret("hidden-Qx9"))
"""
OWN = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
REAL = shutil.which("pulumi")


@dataclass(frozen=True, slots=True)
class StandIn:
    """The stand-in on the PATH, and its record."""

    log: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    @property
    def commands(self) -> list[str]:
        return [" ".join(call["words"]) for call in self.calls]


def put_on_path(programs: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs on the PATH, each as ``module:function``, and return the file in which they record their calls."""
    (folder / "bin").mkdir()
    for name, place in programs.items():
        module, _, function = place.partition(":")
        program = folder / "bin" / name
        lines = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom {module} import {function}\n{function}()\n"
        program.write_text(f"#!{sys.executable}\n{lines}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_LOG", str(folder / "calls"))
    for name in OWN:
        monkeypatch.delenv(name, raising=False)
    return folder / "calls"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Put the stand-in on the PATH, before a real one."""
    return StandIn(put_on_path({"pulumi": "tests.acceptance.stand_in:main"}, tmp_path, monkeypatch))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project of somebody's."""
    folder = tmp_path / "project"
    folder.mkdir()
    settings = {"kubeconfig": {"type": "string", "default": "absent"}, "size": {"type": "integer", "default": 1}}
    described = {"name": "small", "runtime": "python", "config": settings}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(described))
    (folder / "Pulumi.dev.yaml").write_text("# Tracked.\nconfig:\n  small:size: 3\n  small:flag: true\n")
    (folder / "__main__.py").write_text(PROGRAM)
    return folder
