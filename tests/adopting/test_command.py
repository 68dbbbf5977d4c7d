"""The command: what it writes, what it reports, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.adopting.support import client_side, deployment, hpa, resources_of, service
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running

NAMESPACE = "adopt-command"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["adopt", *map(str, words)])


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    """What `helm template` prints: a model with its Service and a Secret."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hf"}, "stringData": {"token": "hf_secret"}}
    bodies = [deployment("chat", "models"), service("chat", "models"), hpa("chat", "models"), secret]
    path = tmp_path / "rendered.yaml"
    path.write_text(yaml.safe_dump_all(bodies))
    return path


def test_files_become_a_project(tmp_path: Path, rendered: Path) -> None:
    folder = tmp_path / "fleet"
    done = run(folder, "--from", rendered, "--stack", "dev")
    assert done.exit_code == 0, done.output
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == [
        ".gitignore",
        "Pulumi.dev.yaml",
        "Pulumi.yaml",
        "__main__.py",
        "models/models/chat.yaml",
        "requirements.txt",
    ]
    config = yaml.safe_load((folder / "Pulumi.dev.yaml").read_text())["config"]
    assert config["inference-platform:otherKinds"] == "apply"
    assert "inference-platform:adopted" not in config
    kinds = [body["kind"] for body in yaml.safe_load_all((folder / "models/models/chat.yaml").read_text())]
    assert kinds == ["Service", "Deployment", "HorizontalPodAutoscaler"]
    assert "hf_secret" not in "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def test_a_dry_run_writes_nothing(tmp_path: Path, rendered: Path) -> None:
    folder = tmp_path / "fleet"
    done = run(folder, "--from", rendered, "--dry-run", "--output", "json")
    report: dict[str, Any] = json.loads(done.stdout)
    assert not folder.exists()
    assert [(each["kind"], each["becomes"]) for each in report["objects"]] == [
        ("Service", "verbatim"),
        ("Deployment", "verbatim"),
        ("HorizontalPodAutoscaler", "verbatim"),
    ]
    assert report["files"] == []


def test_existing_files_are_kept(tmp_path: Path, rendered: Path) -> None:
    folder = tmp_path / "fleet"
    run(folder, "--from", rendered)
    (folder / "models/models/chat.yaml").write_text("# mine\n")
    again = run(folder, "--from", rendered)
    assert again.exit_code == 1
    assert (folder / "models/models/chat.yaml").read_text() == "# mine\n"
    forced = run(folder, "--from", rendered, "--force")
    assert forced.exit_code == 0
    assert (folder / "models/models/chat.yaml").read_text() != "# mine\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [((), 2), (("--kubeconfig", "absent"), 2), (("--kubeconfig", "a", "--from", "b"), 2)],
)
def test_wrong_options_are_refused(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    from workbench.errors import WorkbenchError

    done = run(tmp_path / "fleet", *words)
    assert isinstance(done.exception, WorkbenchError)
    assert done.exception.exit_code == code


def test_nothing_to_adopt_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(yaml.safe_dump(deployment("web", "models", image="nginx:1", args=[])))
    done = run(tmp_path / "fleet", "--from", path)
    assert "nothing to adopt" in str(done.exception)
    assert not (tmp_path / "fleet").exists()


def test_a_cluster_becomes_a_project_with_an_import_file(kube: Kube, cluster: Running, tmp_path: Path) -> None:
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": NAMESPACE}})
    try:
        client_side(kube, deployment("chat", NAMESPACE))
        client_side(kube, service("chat", NAMESPACE))
        folder = tmp_path / "fleet"
        done = run(folder, "--kubeconfig", cluster.kubeconfig, "-n", NAMESPACE, "--stack", "dev")
        assert done.exit_code == 0, done.output
        assert f"Deployment {NAMESPACE}/chat -> models/{NAMESPACE}/chat.yaml" in done.stdout
        file = json.loads((folder / ".workbench/import.dev.json").read_text())
    finally:
        kube.delete("v1", "Namespace", NAMESPACE)
    by_type = {resource["type"]: resource for resource in file["resources"]}
    assert set(by_type) == {
        "pulumi:providers:kubernetes",
        "inference-platform:index:ModelFleet",
        "inference-platform:index:OtherObjects",
        "kubernetes:apps/v1:Deployment",
        "kubernetes:core/v1:Service",
    }
    imported = by_type["kubernetes:apps/v1:Deployment"]
    assert imported["id"] == f"{NAMESPACE}/chat"
    assert imported["outputs"]["__inputs"] == imported["inputs"]
    assert imported["outputs"]["metadata"]["uid"]
    names = {resource["name"] for resource in file["resources"]}
    assert len(names) == len(file["resources"])
    assert {resource.get("parent") for resource in file["resources"]} <= {None, *names}


def test_an_existing_project_gets_a_stack(tmp_path: Path, rendered: Path) -> None:
    folder = tmp_path / "fleet"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    assert run(folder, "--from", rendered, "--stack", "prod").exit_code == 0
    assert (folder / "Pulumi.yaml").read_text() == "name: mine\nruntime: python\n"
    assert (folder / "Pulumi.prod.yaml").exists()
    assert not (folder / "__main__.py").exists()


def test_resources_of_families_need_no_operator_in_files(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump_all(resources_of("qwen-chat.yaml", "models")))
    done = run(tmp_path / "fleet", "--from", path, "--stack", "dev")
    assert done.exit_code == 0, done.output
    config = yaml.safe_load((tmp_path / "fleet/Pulumi.dev.yaml").read_text())["config"]
    assert config["inference-platform:realizations"] == {"llmaz": "operator"}
