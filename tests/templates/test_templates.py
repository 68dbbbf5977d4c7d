"""The templates for ``pulumi new``: a project from each one is complete, and its preview has the model."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.resources.plugin import Host
from components.version import __version__
from tests.commands.support import workbench
from tests.documentation.test_yaml import lookup, referred
from tests.layers.modules import ROOT
from tests.resources.plugin.engine import running
from tests.templates.generate import FOLDER, GENERATED, files

NAMES = sorted(path.name for path in FOLDER.iterdir())
PROJECT, DESCRIPTION = "my-fleet", "Our models"
STACKS = {"cluster-python": "shared"}
"""Templates whose stack is not the one that the CLI proposes, ``dev``."""


def created(name: str, folder: Path) -> Path:
    """Create a project as the CLI does: pkg/cmd/pulumi/templates and .../project/newcmd of Pulumi 3.272."""
    for source in sorted(path for path in (FOLDER / name).rglob("*") if path.is_file()):
        target = folder / source.relative_to(FOLDER / name)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text().replace("${PROJECT}", PROJECT).replace("${DESCRIPTION}", DESCRIPTION)
        target.write_text(text)
    project = yaml.safe_load((folder / "Pulumi.yaml").read_text())
    template = project.pop("template")
    project.setdefault("config", {})["pulumi:tags"] = {"value": {"pulumi:template": name}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project, sort_keys=False))
    settings = folder / f"Pulumi.{STACKS.get(name, 'dev')}.yaml"
    stored = yaml.safe_load(settings.read_text()) if settings.exists() else {"config": {}}
    for key, entry in template["config"].items():
        stored["config"][key if ":" in key else f"{PROJECT}:{key}"] = entry["default"]
    settings.write_text(yaml.safe_dump(stored, sort_keys=False))
    return folder


def test_the_python_templates_are_those_of_init() -> None:
    """``make templates`` writes them."""
    for name in GENERATED:
        folder = FOLDER / name
        stored = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
        assert stored == files(name)
    assert set(NAMES) == {*GENERATED, "models-typescript", "models-yaml"}


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_described(name: str) -> None:
    project = yaml.safe_load((FOLDER / name / "Pulumi.yaml").read_text())
    assert (project["name"], project["description"]) == ("${PROJECT}", "${DESCRIPTION}")
    assert project["template"]["displayName"]
    assert project["template"]["description"]
    for entry in project["template"]["config"].values():
        assert entry["description"]
        assert entry["default"]


@pytest.mark.parametrize("name", ["models-typescript", "models-yaml"])
def test_other_languages_name_this_release(name: str) -> None:
    packages = yaml.safe_load((FOLDER / name / "Pulumi.yaml").read_text())["packages"]
    source = f"https://github.com/example/inference-platform/components@{__version__}"
    assert packages == {"inference-platform": source}
    assert f"`pulumi package add\n{source}`" in (ROOT / "docs/plugin.md").read_text()


@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize("name", GENERATED)
def test_a_python_project_is_planned_and_previewed(name: str, *, simulated: bool, tmp_path: Path) -> None:
    stack = "local" if simulated else STACKS.get(name, "dev")
    folder = created(name, tmp_path / PROJECT)
    planned = workbench("plan", "--stack", stack, cwd=folder)
    assert (planned.returncode, planned.stderr) == (0, "")
    assert planned.stdout.startswith(f"{stack}: ")
    assert re.search(r"^chat +[\d.]+ GiB ", planned.stdout, re.MULTILINE)
    words = ("preview", "--stack", stack, "--engine", "local", "--offline", "--output", "json")
    previewed = workbench(*words, cwd=folder)
    assert previewed.returncode == 0, previewed.stderr
    resources = [(each["type"], each["name"]) for each in json.loads(previewed.stdout)["resources"]]
    on_aws = name == "eks-python" and not simulated
    assert [n for t, n in resources if t == "kubernetes:apps/v1:Deployment"] == ["fleet-models/chat"]
    assert len([n for t, n in resources if t == "aws:eks/cluster:Cluster"]) == on_aws


def typescript_resources(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield variable, class and arguments of each component. Object literals of a template are flow maps of YAML."""
    for variable, kind, body in re.findall(
        r"const (\w+) = new platform\.(\w+)\(\"\w+\", (\{\n.*?^\}),", text, re.M | re.S
    ):
        yield variable, kind, yaml.safe_load(re.sub(r": (\w+\.\w+),", r": '${\1}',", body))


def test_a_typescript_project_registers_the_model(tmp_path: Path) -> None:
    folder = created("models-typescript", tmp_path)
    text = (folder / "index.ts").read_text()
    schema = json.loads(str(Host().schema))["resources"]
    states: dict[str, Any] = {}
    with running() as plugin:
        for variable, kind, arguments in typescript_resources(text):
            assert set(arguments) <= set(schema[f"inference-platform:index:{kind}"]["inputProperties"])
            states[variable] = plugin.construct(kind, variable, referred(arguments, states))
        assert [each.name for each in plugin.engine.of("kubernetes:apps/v1:Deployment")] == ["chat"]
    assert set(states) == {"qwen", "chat"}
    for variable, key in re.findall(r"export const \w+ = (\w+)\.(\w+);", text):
        assert states[variable][key]
    keys = set(re.findall(r"config\.require\(\"(\w+)\"\)", text))
    assert {f"{PROJECT}:{key}" for key in keys} == set(settings(folder))
    package = json.loads((folder / "package.json").read_text())
    imported = set(re.findall(r"from \"(@pulumi/[\w-]+)\"", text))
    assert imported == set(package["dependencies"])
    assert package["name"] == PROJECT
    assert json.loads((folder / "tsconfig.json").read_text())["files"] == ["index.ts"]


def test_a_yaml_project_registers_the_model(tmp_path: Path) -> None:
    folder = created("models-yaml", tmp_path)
    project = yaml.safe_load((folder / "Pulumi.yaml").read_text())
    assert {f"{PROJECT}:{key}" for key in project["config"] if ":" not in key} == set(settings(folder))
    states: dict[str, Any] = {"cluster": {}}
    with running() as plugin:
        for name, resource in project["resources"].items():
            kind = resource["type"].removeprefix("inference-platform:index:")
            if kind != resource["type"]:
                states[name] = plugin.construct(kind, name, referred(resource["properties"], states))
        assert [each.name for each in plugin.engine.of("kubernetes:apps/v1:Deployment")] == ["chat"]
    assert all(lookup(reference, states) for reference in project["outputs"].values())


def settings(folder: Path) -> dict[str, Any]:
    stored: dict[str, Any] = yaml.safe_load((folder / "Pulumi.dev.yaml").read_text())["config"]
    return stored


@pytest.mark.parametrize("name", NAMES)
def test_the_cli_creates_the_same_project(name: str, tmp_path: Path) -> None:
    language = yaml.safe_load((FOLDER / name / "Pulumi.yaml").read_text())["runtime"]
    language = language if isinstance(language, str) else language["name"]
    for program in ("pulumi", f"pulumi-language-{language}"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not on the PATH")
    folder = tmp_path / PROJECT
    words = ("--generate-only", "--yes", "--non-interactive", "--name", PROJECT, "--description", DESCRIPTION)
    env = {
        "PATH": str(Path(shutil.which("pulumi") or "").parent),
        "HOME": str(tmp_path),
        "PULUMI_BACKEND_URL": tmp_path.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    command = ["pulumi", "new", str(FOLDER / name), *words, "--dir", str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ours = created(name, tmp_path / "ours")
    changed = {"Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.shared.yaml"}
    for path in (path for path in ours.rglob("*") if path.is_file() and path.name not in changed):
        assert (folder / path.relative_to(ours)).read_text() == path.read_text()
    expected, real = (yaml.safe_load((each / "Pulumi.yaml").read_text()) for each in (ours, folder))
    assert {**real, "config": None} == {**expected, "config": None}
    assert "template" not in real
    if name in GENERATED:
        planned = workbench("plan", "--stack", STACKS.get(name, "dev"), cwd=folder)
        assert (planned.returncode, planned.stderr) == (0, "")
