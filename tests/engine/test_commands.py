"""The commands, as a user runs them, on a small project."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import preloaded
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]
PROGRAM = """
import pulumi

config = pulumi.Config()
provider = pulumi.ProviderResource("kubernetes", "here", {"kubeconfig": config.require("kubeconfig")})
value = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "from-command", "namespace": "default"},
    "data": {"size": config.require("size")},
}
pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "cm", value, pulumi.ResourceOptions(provider=provider))
pulumi.export("size", config.require_int("size"))
pulumi.export("token", pulumi.Output.secret("hidden-Qx9"))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    settings = {"kubeconfig": {"type": "string", "default": "absent"}, "size": {"type": "integer", "default": 1}}
    described = {"name": "small", "runtime": "python", "config": settings}
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump(described))
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    return tmp_path


def workbench(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    return preloaded.run(arguments[0], "--stack", "dev", "--cwd", project, *arguments[1:], env=env)


def test_preview_offline_needs_no_cluster(project: Path) -> None:
    done = workbench(project, "preview", "--offline")
    assert done.returncode == 0, done.stderr
    assert "dev: 2 to create" in done.stdout
    assert "hidden-Qx9" not in done.stdout + done.stderr
    assert "\033" not in done.stdout


def test_the_whole_life_of_a_stack(project: Path, cluster: Running) -> None:
    here = ("--engine", "local", "--kubeconfig", str(cluster.kubeconfig))
    up = workbench(project, "up", *here, "--yes")
    again = workbench(project, "up", *here, "--yes")
    told = workbench(project, "outputs", "--engine", "local", "--output", "json")
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        assert kube.get("v1", "ConfigMap", "from-command", "default")["data"] == {"size": "1"}
        down = workbench(project, "destroy", *here, "--yes")
        left = {o["metadata"]["name"] for o in kube.list("v1", "ConfigMap", "default")}

    assert [done.returncode for done in (up, again, told, down)] == [0] * 4, up.stderr + down.stderr
    assert "dev: 2 created in " in up.stdout
    assert "no changes" in again.stdout
    assert json.loads(told.stdout) == {"size": 1, "token": "[secret]"}
    assert "from-command" not in left


def test_another_cluster_is_not_changed_without_asking(project: Path, cluster: Running) -> None:
    done = workbench(project, "up", "--engine", "local", "--kubeconfig", str(cluster.kubeconfig))
    assert done.returncode == 1
    assert "use --yes" in done.stderr
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        assert "from-command" not in {o["metadata"]["name"] for o in kube.list("v1", "ConfigMap", "default")}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("up", "--engine", "local"), 1, "there is no kubeconfig"),
        (("up", "--engine", "local", "--kubeconfig", "nowhere"), 1, "--kubeconfig: file nowhere does not exist"),
        (("preview", "--engine", "local", "--cwd", "/nowhere"), 2, "Pulumi.yaml"),
    ],
)
def test_wrong_use_is_a_message(project: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = workbench(project, *arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_asking_for_the_pulumi_cli_where_there_is_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    done = workbench(project, "preview", "--engine", "pulumi")
    assert done.returncode == 1
    assert "pulumi is not on the PATH" in done.stderr
