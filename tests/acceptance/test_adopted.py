"""An adopted fleet under the real Pulumi CLI: the import file is accepted, and the preview shows no change."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.acceptance.conftest import OWN, REAL, ROOT
from tests.acceptance.test_pulumi_cli import needs_cli
from tests.adopting import support
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.engine.pulumi_cli import PulumiCli

NAMESPACE = "adopt-cli"
PROGRAM = "from stacks.program import run\n\nrun()\n"

pytestmark = needs_cli


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
    kube: Kube, cluster: Running, running: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = support.identity(support.everything(kube, running))
    folder = tmp_path / "fleet"
    words = ["adopt", str(folder), "--kubeconfig", str(cluster.kubeconfig), "-n", running, "--stack", "prod"]
    assert CliRunner().invoke(app, words).exit_code == 0
    (folder / "__main__.py").write_text(PROGRAM)
    manifest = folder / "Pulumi.yaml"
    manifest.write_text(manifest.read_text().replace("    virtualenv: .venv\n", ""))
    # An installed CLI runs the program with the first python of the PATH.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in OWN:
        monkeypatch.delenv(name, raising=False)

    if REAL is None:
        (tmp_path / "bin").mkdir()
        host = tmp_path / "bin" / "pulumi-language-python"
        host.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.real_engine.language_host\n')
        host.chmod(0o755)
        monkeypatch.setenv("PATH", f"{host.parent}{os.pathsep}{os.environ['PATH']}")
    cli = PulumiCli(folder, "prod", tmp_path / "state", str(cluster.kubeconfig))
    assert cli.outputs() == {}  # creates the stack
    file = str(folder / ".workbench/import.prod.json")
    options = ("--file", file, "--protect=false", "--generate-code=false", "--yes")
    cli._capture("import", "--stack", "prod", *options)
    assert operations(cli) == {"same"}
    assert cli.up(yes=True) == 0
    assert operations(cli) == {"same"}
    assert support.identity(support.everything(kube, running)) == before
    assert cli.destroy(yes=True) == 0
    assert support.identity(support.everything(kube, running)) == before


def operations(cli: PulumiCli) -> set[str]:
    """Return the operations of a preview, of whatever resource."""
    steps = cli._previewed()["steps"]

    return {step["op"] for step in steps}
