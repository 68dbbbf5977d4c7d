"""Leaving again: plain manifests, neutral field managers, no state, and nothing of what runs is touched."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.adopting import support
from tests.adopting.support import engine_run, everything, identity
from tests.adopting.test_fleets import generate
from tests.engine.support import Stack, config_map, kube_object, register
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.engine.ejecting import KUBECTL, in_usual_order, plain_objects
from workbench.engine.state import State
from workbench.errors import WorkbenchError

FLEETS = int(os.environ.get("INFERENCE_PLATFORM_FLEETS", "3"))
IMPORT_FILE = ".workbench/import.dev.json"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def running(kube: Kube, tmp_path: Path) -> Iterator[str]:
    """A namespace with a plain model, and one of llmaz."""
    support.install_kinds(kube)
    namespace = tmp_path.name.replace("_", "-")[-40:].strip("-")
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    resources = support.resources_of("qwen-chat.yaml", namespace)
    live = support.client_side(kube, support.deployment("chat", namespace))
    support.by_helm(kube, support.service("chat", namespace))
    support.client_side(kube, support.hpa("chat", namespace))
    support.autoscale(kube, live, 3)
    for resource in resources:
        support.server_side(kube, resource)
    yield namespace
    for resource in resources:
        metadata = resource["metadata"]
        kube.delete(resource["apiVersion"], resource["kind"], metadata["name"], metadata.get("namespace"))
    kube.delete("v1", "Namespace", namespace)


def adopt(cluster: Running, namespace: str, folder: Path) -> None:
    done = run("adopt", folder, "--kubeconfig", cluster.kubeconfig, "-n", namespace, "--stack", "dev")
    assert done.exit_code == 0, done.output
    (folder / "__main__.py").write_text(support.PROGRAM)


def written(folder: Path) -> dict[str, Any]:
    """Return the manifests and the stack of a project."""
    paths = [folder / "Pulumi.yaml", folder / "Pulumi.dev.yaml", *sorted((folder / "models").rglob("*.yaml"))]
    return {path.relative_to(folder).as_posix(): list(yaml.safe_load_all(path.read_text())) for path in paths}


def imports(folder: Path) -> Any:
    """Return the file for `pulumi import`, without what the cluster itself changes."""
    resources = json.loads((folder / IMPORT_FILE).read_text())["resources"]
    return [
        {**each, "outputs": {**each["outputs"], "status": None}} if "outputs" in each else each for each in resources
    ]


def test_a_fleet_that_was_adopted_and_left_can_be_adopted_again(
    kube: Kube, cluster: Running, running: str, tmp_path: Path
) -> None:
    before = identity(everything(kube, running))
    first, manifests = tmp_path / "first", tmp_path / "manifests"
    adopt(cluster, running, first)
    assert engine_run(first, "dev", "up").ok

    done = run("eject", manifests, "--stack", "dev", "--engine", "local", "--cwd", first, "--yes")
    assert done.exit_code == 0, done.output
    assert identity(everything(kube, running)) == before
    with State(first / ".workbench/stacks", "dev") as state:
        assert state.rows() == {}
    assert sorted(path.name for path in manifests.iterdir()) == ["0-cluster.yaml", f"{running}.yaml"]

    # kubectl continues without conflicts. It only updates its annotation with the applied configuration, which
    # increases the generation of a Deployment.
    for path in sorted(manifests.iterdir()):
        for body in yaml.safe_load_all(path.read_text()):
            applied = kube.apply(body, manager=KUBECTL, force=False)
            names = [entry["manager"] for entry in applied["metadata"].get("managedFields") or ()]
            # Nothing but the name is declared of a Namespace, which has no owner.
            assert body["kind"] == "Namespace" or KUBECTL in names
            assert "inference-platform-workbench" not in names
    after = identity(everything(kube, running))
    assert {key: (uid, spec) for key, (uid, _, spec, _) in after.items()} == {
        key: (uid, spec) for key, (uid, _, spec, _) in before.items()
    }

    again = tmp_path / "again/first"
    adopt(cluster, running, again)
    assert written(again) == written(first)


@pytest.mark.parametrize("seed", range(100, 100 + FLEETS), ids=str)
def test_ejecting_a_generated_fleet_and_adopting_it_again_gives_the_same_project(
    kube: Kube, cluster: Running, seed: int, tmp_path: Path
) -> None:
    support.install_kinds(kube)
    namespace = f"leave-{seed}"
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    fleet = generate(kube, namespace, random.Random(seed))
    try:
        # The folder names the project, which is part of every URN.
        first, manifests = tmp_path / "first/fleet", tmp_path / "manifests"
        adopt(cluster, namespace, first)
        project, imported = written(first), imports(first)
        assert engine_run(first, "dev", "up").ok
        before = identity(everything(kube, namespace))
        done = run("eject", manifests, "--stack", "dev", "--engine", "local", "--cwd", first, "--yes")
        assert done.exit_code == 0, done.output
        assert identity(everything(kube, namespace)) == before

        adopt(cluster, namespace, tmp_path / "again/fleet")
        assert written(tmp_path / "again/fleet") == project
        assert imports(tmp_path / "again/fleet") == imported

        # What kubectl goes on applying is adopted as the same project too.
        for path in sorted(manifests.iterdir()):
            for body in yaml.safe_load_all(path.read_text()):
                kube.apply(body, manager=KUBECTL, force=False)
        adopt(cluster, namespace, tmp_path / "applied/fleet")
        assert written(tmp_path / "applied/fleet") == project
        assert imports(tmp_path / "applied/fleet") == imported
    finally:
        for body in fleet.resources:
            kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
        kube.delete("v1", "Namespace", namespace)


def test_only_writing_changes_neither_cluster_nor_state(
    kube: Kube, cluster: Running, running: str, tmp_path: Path
) -> None:
    folder = tmp_path / "fleet"
    adopt(cluster, running, folder)
    assert engine_run(folder, "dev", "up").ok
    before = kube.get("apps/v1", "Deployment", "chat", running)["metadata"]["managedFields"]
    words = ("eject", tmp_path / "manifests", "--stack", "dev", "--engine", "local", "--cwd", folder, "--only-write")
    assert run(*words).exit_code == 0
    assert kube.get("apps/v1", "Deployment", "chat", running)["metadata"]["managedFields"] == before
    assert engine_run(folder, "dev", "up").changed == 0


def test_secrets_and_charts_are_left_out(offline: Stack) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions(provider=offline.provider())
        config_map("plain", opts)
        register(kube_object("v1", "Secret", "hidden", "default", stringData={"token": "hf_Qx9"}), opts)
        pulumi.CustomResource("kubernetes:helm.sh/v3:Release", "chart", {"name": "chart"}, opts)

    engine, _ = offline.engine(program)
    plain = plain_objects(engine.record(preview=True))
    assert [body["metadata"]["name"] for _, body in plain.bodies] == ["plain"]
    assert plain.left == [
        "Secret default/hidden: its values are not written",
        "kubernetes:helm.sh/v3:Release chart: a Helm release, which Helm goes on managing",
    ]


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    done = run("eject", tmp_path, "--stack", "dev")
    assert isinstance(done.exception, WorkbenchError)
    assert "exists; choose another folder" in str(done.exception)


def test_what_is_refused_writes_nothing(cluster: Running, running: str, tmp_path: Path) -> None:
    folder, manifests = tmp_path / "fleet", tmp_path / "manifests"
    adopt(cluster, running, folder)
    assert engine_run(folder, "dev", "up").ok
    words = ("eject", manifests, "--stack", "dev", "--engine", "local", "--cwd", folder)
    refused = run(*words)  # without a terminal that could confirm
    assert isinstance(refused.exception, WorkbenchError)
    assert not manifests.exists()

    (folder / "other").write_text(Path(cluster.kubeconfig).read_text().replace(cluster.server, "https://127.0.0.1:1"))
    stack = folder / "Pulumi.dev.yaml"
    stack.write_text(stack.read_text().replace(str(cluster.kubeconfig), "other"))
    refused = run(*words, "--yes")
    assert isinstance(refused.exception, WorkbenchError)
    assert not manifests.exists()
    with State(folder / ".workbench/stacks", "dev") as state:
        assert state.rows()


@pytest.mark.parametrize(
    ("manifest", "ordered"),
    [
        (
            {
                "spec": {"b": 1, "replicas": 2},
                "metadata": {"namespace": "n", "name": "a"},
                "kind": "K",
                "apiVersion": "v1",
            },
            ["apiVersion", "kind", "metadata", "name", "namespace", "spec", "replicas", "b"],
        ),
        ({"l": [{"env": 1, "args": 2, "name": "c", "image": "i"}]}, ["l", "name", "image", "args", "env"]),
    ],
)
def test_keys_are_in_the_usual_order(manifest: dict[str, Any], ordered: list[str]) -> None:
    def keys(value: Any) -> Iterator[str]:
        for key, inner in value.items() if isinstance(value, dict) else ():
            yield key
            yield from keys(inner)
        for item in value if isinstance(value, list) else ():
            yield from keys(item)

    assert [*keys(in_usual_order(manifest))] == ordered
