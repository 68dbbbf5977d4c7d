"""An adopted fleet under the real Pulumi CLI: the import file is accepted, and the preview shows no change."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.acceptance.conftest import REAL
from tests.adopting import support
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running

NAMESPACE = "adopt-cli"
PROGRAM = "from stacks.program import run\n\nrun()\n"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(REAL is None, reason="there is no pulumi CLI on the PATH")


@pytest.fixture
def running(kube: Kube) -> Iterator[str]:
    """A namespace with what kubectl, Helm and a GitOps controller applied."""
    support.install_kinds(kube)
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    kube.request("POST", "/api/v1/namespaces", params={"fieldManager": support.KUBECTL}, body=body)
    resources = support.resources_of("qwen-chat.yaml", NAMESPACE)
    for name, apply in (("a", support.client_side), ("b", support.by_helm), ("c", support.server_side)):
        apply(kube, support.deployment(name, NAMESPACE))
        apply(kube, support.service(name, NAMESPACE))
    support.client_side(kube, support.stateful_set("set", NAMESPACE))
    for resource in resources:
        support.client_side(kube, resource)
    yield NAMESPACE
    for resource in resources:
        metadata = resource["metadata"]
        kube.delete(resource["apiVersion"], resource["kind"], metadata["name"], metadata.get("namespace"))
    kube.delete("v1", "Namespace", NAMESPACE)


def test_the_import_file_is_accepted_and_the_preview_shows_no_change(
    kube: Kube, cluster: Running, running: str, tmp_path: Path
) -> None:
    before = support.identity(support.everything(kube, running))
    folder = tmp_path / "fleet"
    words = ["adopt", str(folder), "--kubeconfig", str(cluster.kubeconfig), "-n", running, "--stack", "prod"]
    assert CliRunner().invoke(app, words).exit_code == 0
    (folder / "__main__.py").write_text(PROGRAM)
    manifest = folder / "Pulumi.yaml"
    manifest.write_text(manifest.read_text().replace("    virtualenv: .venv\n", ""))
    (tmp_path / "backend").mkdir()

    def pulumi(*arguments: str) -> str:
        environment = {
            **os.environ,
            # The CLI runs the program with the first python of the PATH.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            ["pulumi", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pulumi("stack", "init", "prod")
    file = ".workbench/import.prod.json"
    pulumi("import", "--stack", "prod", "--file", file, "--protect=false", "--generate-code=false", "--yes")
    assert operations(pulumi("preview", "--stack", "prod", "--json")) == {"same"}
    pulumi("up", "--stack", "prod", "--yes", "--skip-preview")
    assert operations(pulumi("preview", "--stack", "prod", "--json")) == {"same"}
    assert support.identity(support.everything(kube, running)) == before
    pulumi("destroy", "--stack", "prod", "--yes", "--skip-preview")
    assert support.identity(support.everything(kube, running)) == before


def operations(preview: str) -> set[str]:
    """Return the operations of a preview, of whatever resource."""
    steps: list[dict[str, Any]] = json.loads(preview)["steps"]
    return {step["op"] for step in steps}
