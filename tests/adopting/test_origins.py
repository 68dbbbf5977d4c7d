"""Without a cluster: what Helm and Kustomize render, or stdin, becomes a project."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.adopting.support import Object, deployment, service
from workbench.adopting.candidates import candidates
from workbench.adopting.origins import HelmChart
from workbench.cli import app
from workbench.errors import WorkbenchError
from workbench.inspecting.snapshot import ClusterSnapshot

HELM = os.environ.get("INFERENCE_PLATFORM_HELM") or shutil.which("helm")
KUBECTL = shutil.which("kubectl")


def run(*words: object, stdin: str = "") -> Result:
    return CliRunner().invoke(app, ["adopt", *map(str, words)], input=stdin)


def router() -> Object:
    args = ["--port", "8000", "--session-key", "x-user-id"]
    body = deployment("router", "models", image="lmcache/lmstack-router:v1", args=args)
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "routes", "configMap": {"name": "routes"}}]
    return body


def config_map(name: str = "routes", **metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "models", **metadata}}


def rendered() -> list[Object]:
    """A model with its Service, and what a chart creates beside it."""
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "a.example.com"},
        "spec": {"group": "example.com", "versions": [{"name": "v1", "served": True, "storage": True}]},
    }
    model = deployment("chat", "models", envFrom=[{"secretRef": {"name": "hf"}}])
    hook = config_map("test", annotations={"helm.sh/hook": "test"})
    return [model, service("chat", "models"), router(), config_map(), hook, definition]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing but stand-ins, which print the rendered objects and record their arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "out.yaml").write_text(yaml.safe_dump_all(rendered()))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def stand_in(folder: Path, name: str, then: str = "") -> None:
    out = folder.parent
    script = f'#!/bin/sh\nprintf "%s\\n" "$@" > {out}/words\n{then or f"/bin/cat {out}/out.yaml"}\n'
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def words(folder: Path) -> list[str]:
    return (folder.parent / "words").read_text().splitlines()


def manifests(folder: Path) -> dict[str, list[str]]:
    files = sorted((folder / "models").rglob("*.yaml"))
    return {
        path.relative_to(folder / "models").as_posix(): [
            f"{body['kind']}/{body['metadata']['name']}" for body in yaml.safe_load_all(path.read_text())
        ]
        for path in files
    }


@pytest.mark.parametrize(("middle", "taken"), [("info", True), ("$(HF_HOME)/log", False)])
def test_the_last_of_two_variables_is_written(tmp_path: Path, middle: str, taken: bool) -> None:
    """Helm creates both, as vllm-project/production-stack renders them; server-side apply refuses them."""
    env = [{"name": name, "value": value} for name, value in (("HF_HOME", "/a"), ("LOG", middle), ("HF_HOME", "/b"))]
    (tmp_path / "rendered.yaml").write_text(yaml.safe_dump(deployment("chat", "models", env=env)))
    done = run(tmp_path / "fleet", "--from", tmp_path / "rendered.yaml")
    if not taken:
        assert done.exit_code == 1
        assert 'items must differ in name, found name "HF_HOME" twice; remove one' in str(done.exception)
        return
    output = " ".join(done.output.split())
    assert done.exit_code == 0, done.output
    (written,) = yaml.safe_load_all((tmp_path / "fleet/models/models/chat.yaml").read_text())
    assert written["spec"]["template"]["spec"]["containers"][0]["env"] == env[1:]
    assert (
        "without spec.template.spec.containers[0].env[0], which has no effect: HF_HOME is set again below" in output
    )


def test_a_ray_cluster_with_an_engine_is_a_model(tmp_path: Path) -> None:
    """The manifest has the structure of helm/templates/ray-cluster.yaml of vllm-project/production-stack."""
    head = {
        "name": "head",
        "image": "lmcache/vllm-openai:latest",
        "command": ['/bin/bash -c "/entrypoint/start.sh &"'],
    }
    cluster = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "chat", "namespace": "models"},
        "spec": {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [head]}}}},
    }
    (tmp_path / "rendered.yaml").write_text(yaml.safe_dump_all([cluster, config_map()]))
    done = run(tmp_path / "fleet", "--from", tmp_path / "rendered.yaml")
    assert done.exit_code == 0, done.output
    assert manifests(tmp_path / "fleet") == {
        "models/chat.yaml": ["RayCluster/chat"],
        "models/rendered.yaml": ["ConfigMap/routes"],
    }


def test_a_chart_is_rendered_with_its_values(programs: Path, tmp_path: Path) -> None:
    stand_in(programs, "helm")
    values = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file in values:
        file.write_text("{}")
    folder = tmp_path / "fleet"
    options = ("--chart", "vllm/vllm-stack", "--chart-version", "0.1.9", "--release", "vllm", "-n", "models")
    done = run(folder, *options, "--helm-values", values[0], "--helm-values", values[1])
    assert done.exit_code == 0, done.output
    assert words(programs) == [
        *("template", "--no-hooks", "--namespace", "models", "--version", "0.1.9"),
        *("--values", str(values[0]), "--values", str(values[1]), "--", "vllm", "vllm/vllm-stack"),
    ]
    assert manifests(folder) == {
        "models/chat.yaml": ["Service/chat", "Deployment/chat"],
        "models/rendered.yaml": ["ConfigMap/routes", "Deployment/router"],
    }
    assert "note: these namespaces must exist: models" in done.stdout
    assert "note: Secrets are never written; these must exist: models/hf" in done.stdout
    assert "ConfigMap models/test, CustomResourceDefinition a.example.com" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("chart", "name"),
    [
        ("vllm/vllm-stack", "vllm-stack"),
        ("./helm/", "helm"),
        ("oci://ghcr.io/llm-d/modelservice:v1", "modelservice"),
        (".", "release"),
        ("vllm-stack-0.1.9.tgz", "vllm-stack-0-1-9"),
    ],
)
def test_the_release_is_named_after_the_chart(chart: str, name: str) -> None:
    assert HelmChart(chart).release_name == name
    assert HelmChart(chart, release="mine").release_name == "mine"


@pytest.mark.parametrize(("present", "expected"), [("kustomize", "build"), ("kubectl", "kustomize")])
def test_a_kustomization_is_built(programs: Path, tmp_path: Path, present: str, expected: str) -> None:
    stand_in(programs, present)
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    done = run(tmp_path / "fleet", "--kustomize", overlay, "-n", "models")
    assert done.exit_code == 0, done.output
    assert words(programs) == [expected, "--", str(overlay)]
    assert "models/chat.yaml" in manifests(tmp_path / "fleet")


def test_a_missing_program_is_named_with_its_command(programs: Path, tmp_path: Path) -> None:
    assert not any(programs.iterdir())
    done = run(tmp_path / "fleet", "--chart", "vllm/vllm-stack", "--release", "vllm", "-n", "models")
    assert "helm is not on the PATH" in str(done.exception)
    command = "helm template --no-hooks --namespace models -- vllm vllm/vllm-stack | workbench adopt ... --from -"
    assert command in str(done.exception)
    done = run(tmp_path / "fleet", "--kustomize", tmp_path)
    assert "neither kustomize nor kubectl are on the PATH" in str(done.exception)
    assert f"kustomize build -- {tmp_path} | workbench adopt ... --from -" in str(done.exception)


def test_a_failing_program_ends_the_command_with_its_message(programs: Path, tmp_path: Path) -> None:
    stand_in(programs, "helm", "echo 'Error: repo vllm not found' >&2; exit 1")
    done = run(tmp_path / "fleet", "--chart", "vllm/vllm-stack")
    assert isinstance(done.exception, WorkbenchError)
    assert "failed with exit code 1: Error: repo vllm not found" in str(done.exception)
    assert not (tmp_path / "fleet").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--helm-values", "values.yaml"), "pass it with --chart"),
        (("--chart", "a", "--helm-values", "absent.yaml"), "absent.yaml does not exist"),
        (("--chart", "a", "--kustomize", "b"), "pass one of"),
        (("--kustomize", "absent"), "is not a folder"),
        (("--chart", "a", "-n", "one", "-n", "two"), "--namespace"),
        (("--from", "-", "--release", "vllm"), "pass it with --chart"),
    ],
)
def test_wrong_options_are_usage_errors(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    given = ("--from", "-") if options[0] == "--helm-values" else ()
    done = run(tmp_path / "fleet", *given, *options)
    assert isinstance(done.exception, WorkbenchError)
    assert done.exception.exit_code == 2
    assert message in str(done.exception)


def test_stdin_is_read(tmp_path: Path) -> None:
    body = deployment("chat", "models")
    del body["metadata"]["namespace"]
    done = run(tmp_path / "fleet", "--from", "-", "-n", "other", "--output", "json", stdin=yaml.safe_dump(body))
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["objects"]
    assert (found["namespace"], found["name"], found["becomes"]) == ("other", "chat", "verbatim")


def test_what_came_from_a_cluster_is_no_part_of_a_rendering() -> None:
    bodies = (deployment("chat", "models"), config_map(), config_map("live", uid="1"))
    names = [each.identity[3] for each in candidates(ClusterSnapshot(bodies), rendered=True)]
    assert names == ["routes", "chat"]
    assert [each.identity[3] for each in candidates(ClusterSnapshot(bodies))] == ["chat"]
    assert candidates(ClusterSnapshot(bodies[1:]), rendered=True) == ()


@pytest.mark.skipif(not HELM, reason="helm is not on the PATH, and INFERENCE_PLATFORM_HELM does not name it")
def test_helm_renders_a_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(str(HELM)).parent}:{os.environ['PATH']}")
    chart = tmp_path / "stack"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: stack\nversion: 0.1.0\n")
    body = deployment("NAME", "models")
    del body["metadata"]["namespace"]
    text = yaml.safe_dump(body).replace("NAME", "{{ .Release.Name }}-{{ .Values.model }}")
    (chart / "templates/model.yaml").write_text(text)
    values = tmp_path / "values.yaml"
    values.write_text("model: chat\n")
    done = run(tmp_path / "fleet", "--chart", chart, "--helm-values", values, "--release", "vllm", "-n", "models")
    assert done.exit_code == 0, done.output
    # `helm template` sets no namespace where the template sets none.
    assert manifests(tmp_path / "fleet") == {"models/vllm-chat.yaml": ["Deployment/vllm-chat"]}


@pytest.mark.skipif(not KUBECTL, reason="kubectl is not on the PATH")
def test_kubectl_builds_a_kustomization(tmp_path: Path) -> None:
    base, overlay = tmp_path / "base", tmp_path / "overlay"
    for folder, content in (
        (base, {"resources": ["model.yaml"]}),
        (overlay, {"resources": ["../base"], "namespace": "prod", "namePrefix": "eu-"}),
    ):
        folder.mkdir()
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(content))
    (base / "model.yaml").write_text(yaml.safe_dump_all([deployment("chat", "models"), service("chat", "models")]))
    done = run(tmp_path / "fleet", "--kustomize", overlay)
    assert done.exit_code == 0, done.output
    assert manifests(tmp_path / "fleet") == {"prod/eu-chat.yaml": ["Service/eu-chat", "Deployment/eu-chat"]}


@pytest.mark.parametrize(
    ("name", "note", "warned"),
    [
        ("chat", "x\u200by", True),
        ("ch\u202eat", "x\u200by", True),
        ("chat", "zwei", False),
        ("ch\u202eat", "zwei", False),
    ],
)
def test_texts_with_characters_that_are_not_seen_are_warnings(
    tmp_path: Path, name: str, note: str, *, warned: bool
) -> None:
    """Also of an object whose manifest ignores the rule, because an error of it runs already."""
    body = deployment("chat", "models", args=["--model", "a/b", "--served-model-name", name])
    body["metadata"]["annotations"] = {"note": note}
    (tmp_path / "in.yaml").write_text(yaml.safe_dump(body))
    words = ("--from", tmp_path / "in.yaml", "--dry-run", tmp_path / "out")
    warning = "Deployment/chat: metadata.annotations.note: contains U+200B (ZERO WIDTH SPACE), which is not seen"
    assert (f"warning: adopted: {warning}" in run(*words).stdout) == warned
    report = json.loads(run(*words, "--output", "json").stdout)
    assert [each.partition("; ")[0] for each in report["warnings"]] == [f"adopted: {warning}"] * warned
