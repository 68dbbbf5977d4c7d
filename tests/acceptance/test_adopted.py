"""An adopted fleet under the real Pulumi CLI: the import file is accepted, and the preview shows no change."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.acceptance.conftest import OWN, REAL, ROOT
from tests.acceptance.test_pulumi_cli import needs_cli
from tests.adopting import support
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.engine.apply.objects import MANAGER
from workbench.engine.language_program import write_host
from workbench.engine.pulumi_cli import PulumiCli

PROGRAM = "from stacks.program import run\n\nrun()\n"

pytestmark = needs_cli


@pytest.fixture
def running(kube: Kube, tmp_path: Path) -> Iterator[str]:
    """A namespace with what kubectl, Helm and a GitOps controller applied."""
    support.install_kinds(kube)
    namespace = tmp_path.name.replace("_", "-")[-40:].strip("-")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    kube.request("POST", "/api/v1/namespaces", params={"fieldManager": support.KUBECTL}, body=body)
    resources = support.resources_of("qwen-chat.yaml", namespace)
    for name, apply in (("a", support.client_side), ("b", support.by_helm), ("c", support.server_side)):
        apply(kube, support.deployment(name, namespace))
        apply(kube, support.service(name, namespace))
    support.client_side(kube, support.stateful_set("set", namespace))
    for resource in resources:
        support.client_side(kube, resource)
    yield namespace
    for resource in resources:
        metadata = resource["metadata"]
        kube.delete(resource["apiVersion"], resource["kind"], metadata["name"], metadata.get("namespace"))
    kube.delete("v1", "Namespace", namespace)


@pytest.fixture
def adopted(cluster: Running, running: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that adopts them, and what the CLI needs."""
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
    return folder


def test_the_import_file_is_accepted_and_the_preview_shows_no_change(
    kube: Kube, cluster: Running, running: str, adopted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = support.identity(support.everything(kube, running))
    if REAL is None:
        (tmp_path / "bin").mkdir()
        write_host(tmp_path / "bin")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    cli = PulumiCli(adopted, "prod", tmp_path / "state", str(cluster.kubeconfig))
    assert cli.outputs() == {}  # creates the stack
    file = str(adopted / ".workbench/import.prod.json")
    options = ("--file", file, "--protect=false", "--generate-code=false", "--yes")
    cli._capture("import", "--stack", "prod", *options)
    assert operations(cli) == {"same"}
    assert cli.up(yes=True) == 0
    assert operations(cli) == {"same"}
    assert support.identity(support.everything(kube, running)) == before
    assert cli.destroy(yes=True) == 0
    assert support.identity(support.everything(kube, running)) == before


def test_an_adopted_fleet_moves_to_the_cli_and_back(kube: Kube, running: str, adopted: Path) -> None:
    before = support.identity(support.everything(kube, running))

    def up(engine: str) -> None:
        words = ["up", "--stack", "prod", "--cwd", str(adopted), "--engine", engine, "--yes", "--no-wait"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (done.output, done.exception)

    up("local")
    up("pulumi")
    assert support.identity(support.everything(kube, running)) == before
    assert appliers(kube, running) == {"pulumi-kubernetes"}
    cli = PulumiCli(adopted, "prod", adopted / ".workbench")
    assert operations(cli) == {"same"}

    # Every change works from now on, and removes fields.
    _remove_probe(adopted)
    up("pulumi")
    (container,) = kube.get("apps/v1", "Deployment", "a", running)["spec"]["template"]["spec"]["containers"]
    assert "readinessProbe" not in container

    up("local")
    assert appliers(kube, running) == {MANAGER}
    after = support.identity(support.everything(kube, running))
    assert {key: uid for key, (uid, *_) in after.items()} == {key: uid for key, (uid, *_) in before.items()}


def _remove_probe(folder: Path) -> None:
    """Remove the probe of a Deployment from its manifest; the provider does not wait for pods, which run nowhere."""
    (file,) = [path for path in (folder / "models").rglob("*.yaml") if "name: a\n" in path.read_text()]
    bodies = [*yaml.safe_load_all(file.read_text())]
    (workload,) = [body for body in bodies if (body["kind"], body["metadata"]["name"]) == ("Deployment", "a")]
    workload["metadata"].setdefault("annotations", {})["pulumi.com/skipAwait"] = "true"
    del workload["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    file.write_text(yaml.safe_dump_all(bodies))


def appliers(kube: Kube, namespace: str) -> set[str]:
    """Return who applies the objects of a namespace, without the suffixes of the provider's managers."""
    managers = {
        entry["manager"]
        for body in support.everything(kube, namespace).values()
        for entry in body["metadata"].get("managedFields") or ()
        if entry["operation"] == "Apply"
    }
    return {manager[:17] if manager.startswith("pulumi-kubernetes") else manager for manager in managers}


def operations(cli: PulumiCli) -> set[str]:
    """Return the operations of a preview, of whatever resource."""
    steps = cli._previewed()["steps"]

    return {step["op"] for step in steps}
