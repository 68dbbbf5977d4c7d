"""The unmodified program under the real Pulumi CLI, with a file backend, against the simulated cluster."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
STACK = "acceptance"

pytestmark = pytest.mark.skipif(
    shutil.which("pulumi") is None,
    reason="there is no pulumi CLI on PATH; the local engine runs the same program elsewhere",
)

Pulumi = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def pulumi(cluster: Any, tmp_path: Path) -> Pulumi:
    """A stack of its own on a file backend, with the settings of the local stack and the test's cluster."""
    settings = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
    settings["config"]["inference-platform:kubeconfig"] = str(cluster.kubeconfig)
    stack_file = tmp_path / "Pulumi.acceptance.yaml"
    stack_file.write_text(yaml.safe_dump(settings))
    backend = tmp_path / "state"
    backend.mkdir()
    env = {
        **os.environ,
        "PULUMI_BACKEND_URL": backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "acceptance",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["pulumi", *arguments, "--non-interactive", "--stack", STACK]
        if arguments[0] in {"preview", "up", "destroy"}:
            command += ["--config-file", str(stack_file)]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done

    subprocess.run(
        ["pulumi", "stack", "init", STACK, "--non-interactive", "--secrets-provider", "passphrase"],
        cwd=ROOT, env=env, check=True, capture_output=True,
    )  # fmt: skip
    return run


def test_preview_up_up_destroy(pulumi: Pulumi) -> None:
    planned = json.loads(pulumi("preview", "--json").stdout)
    pulumi("up", "--yes", "--skip-preview")
    outputs = json.loads(pulumi("stack", "output", "--json").stdout)
    created = planned["changeSummary"]["create"]
    resources = json.loads(pulumi("stack", "export").stdout)["deployment"]["resources"]
    again = pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    pulumi("destroy", "--yes", "--skip-preview")
    left = json.loads(pulumi("stack", "export").stdout)["deployment"].get("resources", [])

    assert created == len(resources)
    assert set(outputs) == {"endpoints", "models", "nodes"}
    assert "unchanged" in again.stdout
    assert left == []
