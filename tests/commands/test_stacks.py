"""``validate``, ``render`` and ``explain`` of a stack: what its program would say, without running it."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.fleet.objects import key_of
from components.plan.prerequisites.charts import charts
from tests.commands.support import ROOT, workbench
from tests.stacks.conftest import here as here
from tests.stacks.shipped import ON_AWS, run
from workbench.engine.values import reveal
from workbench.errors import WorkbenchError
from workbench.subject import Subject

CHARTS = "kubernetes:helm.sh/"
ELSEWHERE = ("CustomResourceDefinition", "ServiceAccount", "Node", "StorageClass")
"""What a stack registers besides: definitions, accounts, simulated nodes, the storage classes of a cluster."""
NAMESPACES_OF_CHARTS = {chart.namespace for chart in charts().values()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one's own with the stacks that are shipped."""
    for name in ("Pulumi.yaml", *(f"Pulumi.{stack}.yaml" for stack in ("local", *ON_AWS))):
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in ("stacks/models", "stacks/variants", "stacks/spot"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def as_rendered(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """An object without the annotations that tell Pulumi's provider how to deploy it."""
    body: dict[str, Any] = reveal(dict(inputs))
    annotations = body["metadata"].pop("annotations", {})
    if kept := {name: value for name, value in annotations.items() if not name.startswith("pulumi.com/")}:
        body["metadata"]["annotations"] = kept
    return body


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("stack", ON_AWS)
def test_render_prints_what_the_stack_registers(stack: str) -> None:
    graph = run(stack, preview=True).graph
    # What changes an object of a chart is part of installing that.
    ours = (e for e in graph if e.type.startswith("kubernetes:") and not e.type.endswith("Patch"))
    objects = [e.inputs for e in ours if not e.type.startswith(CHARTS)]
    registered = {key_of(body): body for body in map(as_rendered, objects) if body["kind"] not in ELSEWHERE}
    done = workbench("render", "--stack", stack, "--show-secrets")
    assert done.returncode == 0, done.stderr
    rendered = {key_of(body): body for body in yaml.safe_load_all(done.stdout)}
    of_karpenter = {key for key in registered if key[0] in ("NodePool", "EC2NodeClass")}
    of_charts = {key for key in registered if key[0] == "Namespace" and key[-1] in NAMESPACES_OF_CHARTS}
    assert set(rendered) == set(registered) - of_karpenter - of_charts
    assert rendered == {key: registered[key] for key in rendered}


def test_hardening_policies_and_front_door_can_be_seen() -> None:
    done = workbench("render", "--stack", "prod")
    kinds = {body["kind"] for body in yaml.safe_load_all(done.stdout)}
    assert {"Namespace", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "AIGatewayRoute"} <= kinds
    assert "hardening.podSecurity" in done.stderr
    assert "NetworkPolicy" not in workbench("render", "stacks/models").stdout


def test_validate_says_what_the_stack_would(project: Path) -> None:
    done = workbench("validate", "--stack", "dev", "--cwd", project)
    assert done.returncode == 0
    # Two run on CPUs; of two the name of a folder is all that is known.
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "memory not checked for 2 of 5 models",
        "memory estimated for 2 of 5 models, from their names",
    ]
    assert re.fullmatch(
        r"warning\[security-restricted-exempt\] Pulumi\.dev\.yaml:[1-9][0-9]* \(and 1 more\)", lines[2]
    )
    assert lines[3].startswith("  inference-platform:hardening.podSecurity: ")
    assert lines[-1].startswith("10 resources in 5 files: 0 errors, 2 warnings")
    detailed = workbench("validate", "--stack", "dev", "--cwd", project, "--details").stdout.splitlines()
    assert "  Playground/qwen-cpu, Playground/tiny-ollama: the pods request no accelerator" in detailed
    settings = project / "Pulumi.dev.yaml"
    settings.write_text(settings.read_text().replace("region: us-east-1", "region: us-easst-1"))
    done = workbench("validate", "--stack", "dev", "--cwd", project)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    text = settings.read_text().splitlines()
    line = next(number for number, each in enumerate(text, 1) if "us-easst-1" in each)
    assert lines[lines.index(f"error Pulumi.dev.yaml:{line}") + 1].startswith("  inference-platform:region: ")


def test_paths_are_checked_in_the_environment_of_the_stack(project: Path) -> None:
    model = project / "stacks/models/llama-405b-multinode.yaml"
    model.write_text(model.read_text().replace("p5.48xlarge", "p5e.48xlarge"))
    assert workbench("validate", model).returncode == 0
    done = workbench("validate", model, "--stack", "dev", "--cwd", project)
    assert done.returncode == 1
    assert "p5e.48xlarge is not offered in us-east-1" in done.stdout


def test_options_count_more_than_settings() -> None:
    model = "stacks/models/qwen-cpu.yaml"
    settings = workbench("render", model, "--stack", "local")
    options = workbench("render", model, "--stack", "local", "--namespace", "other", "--realization", "operator")
    assert "namespace: models" in settings.stdout
    assert "namespace: models" not in options.stdout
    assert "kind: Playground" in options.stdout


@pytest.mark.parametrize(
    ("change", "arguments", "code", "expected"),
    [
        (None, ("--stack", "absent"), 2, "stacks with settings: dev, local, prod, staging"),
        (("runtimes:\n", "runtimesz:\n"), ("--stack", "local"), 1, "unknown key; did you mean 'runtimes'?"),
        (None, ("--stack", "local", "--namespace", "A B"), 2, "namespace: "),
    ],
)
def test_settings_that_cannot_be_used(
    project: Path, change: tuple[str, str] | None, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    if change:
        file = project / "Pulumi.yaml"
        file.write_text(file.read_text().replace(*change))
    done = workbench("validate", *arguments, "--cwd", project)
    assert (done.returncode, done.stdout) == (code, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_knows_the_models_of_a_stack() -> None:
    done = workbench("explain", "Playground/qwen-chat", "--stack", "dev")
    assert done.returncode == 0, done.stderr
    assert "refers to OpenModel/qwen2-7b" in done.stdout
    assert workbench("explain", "Playground/gemma-elastic", "--stack", "dev").returncode == 2


def test_a_project_of_another_name_has_the_same_settings(project: Path) -> None:
    (project / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
    done = workbench("validate", "--stack", "local", "--cwd", project)
    here = workbench("validate", "--stack", "local")
    assert (done.returncode, here.returncode) == (0, 0)
    assert sorted(done.stdout.replace(f"{project}/", "").splitlines()) == sorted(here.stdout.splitlines())
    assert done.stderr == here.stderr


def test_a_project_with_a_program_of_its_own_has_no_settings(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {other:models: [models]}\n")
    with pytest.raises(WorkbenchError, match=r"'other' has a program of its own: .* inference-platform:") as wrong:
        Subject("dev", tmp_path).settings()
    assert wrong.value.exit_code == 2
