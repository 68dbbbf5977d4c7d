"""The examples: every command of their READMEs runs, and shows what the example is about."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.version import __version__
from tests.commands.support import ROOT, workbench
from tests.documentation.blocks import commands
from tests.policy.server import Pack, asked_by, running
from workbench.engine.local import LocalEngine, RunOptions
from workbench.engine.project import load_project

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
SHOWN = {
    "components": "inference-platform:index:Playground",
    "existing-cluster": "inference-platform:index:ModelFleet",
    "eks-karpenter-spot": "inference-platform:index:KarpenterPools",
    "llmaz": "--speculative",
    "llmkube": "--flash-attn",
    "kthena": "modelserving.volcano.sh/role: leader",
    "llmd": "1 (1-3) L40S",
    "pull-requests": "replicas",
    "policy-pack": "a month, at most $",
}
"""What the commands of each example print, among others."""


def typed(name: str) -> list[list[str]]:
    text = (EXAMPLES / name / "README.md").read_text()
    found = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(command) for block in found for command in commands(block)]


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of an example in a repository of its own; the last edit is not committed."""
    copied = tmp_path / "example"
    shutil.copytree(EXAMPLES / request.param, copied)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "."), ("commit", "--quiet", "-m", "first")):
        subprocess.run(["git", *identity, *words], cwd=copied, check=True)
    for path in copied.glob("models/*.yaml"):
        path.write_text(path.read_text().replace("replicas: 2", "replicas: 3"))
    return copied


def test_each_example_is_listed() -> None:
    text = (EXAMPLES / "README.md").read_text()
    assert sorted(re.findall(r"\]\(([\w-]+)\)", text)) == NAMES == sorted(SHOWN)


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_has_commands_of_known_programs(name: str) -> None:
    words = typed(name)
    assert {each[0] for each in words} <= {"workbench", "pulumi"}
    assert "workbench" in {each[0] for each in words}
    for command in (each for each in words if each[0] == "pulumi"):
        assert command[1] in ("up", "preview")
        assert command[2] == "--stack"
        assert (EXAMPLES / name / f"Pulumi.{command[3]}.yaml").is_file()
        assert set(command[4:]) <= {"--policy-pack", "../../policy", "--policy-pack-config", "policy.json"}


@pytest.mark.parametrize(("folder", "name"), [(name, name) for name in NAMES], indirect=["folder"], ids=NAMES)
def test_the_commands_run(folder: Path, name: str) -> None:
    printed = ""
    for words in (words for words in typed(name) if words[0] == "workbench"):
        done = workbench(*words[1:], cwd=folder)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        printed += done.stdout
    assert SHOWN[name] in printed


def _is_on_aws(name: str) -> bool:
    return any("cloud: aws" in path.read_text() for path in (EXAMPLES / name).glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/requirements.txt")))
def test_a_project_requires_this_release(name: str) -> None:
    required = (EXAMPLES / name / "requirements.txt").read_text()
    program = (EXAMPLES / name / "__main__.py").read_text()
    extra = "[kubernetes]" if "import pulumi_kubernetes" in program else "[aws]" if _is_on_aws(name) else ""
    assert required == f"inference-platform{extra}=={__version__}\n"
    assert yaml.safe_load((EXAMPLES / name / "Pulumi.yaml").read_text())["name"] == name


def test_the_workflow_is_valid_and_pinned() -> None:
    path = EXAMPLES / "pull-requests/plan.yml"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["plan"]["permissions"] == {"contents": "read"}
    assert len(re.findall(r"uses: [\w/-]+@[0-9a-f]{40} ", path.read_text())) == path.read_text().count("uses:")
    assert f"install inference-platform=={__version__}" in path.read_text()
    (run,) = re.findall(r"run: workbench (.*) --base", path.read_text())
    assert run.split() == typed("pull-requests")[0][1:5]


@pytest.fixture(scope="module")
def pack() -> Iterator[Pack]:
    with running() as started:
        yield started


@pytest.mark.parametrize(("usd", "policies"), [(20000, []), (100, ["monthly-budget"])])
def test_the_policy_pack_judges_its_example(usd: int, policies: list[str], pack: Pack) -> None:
    """With the engine played and the pack real, as in tests/policy."""
    folder = EXAMPLES / "policy-pack"
    settings = json.loads((folder / "policy.json").read_text())
    settings["monthly-budget"]["maxUsdPerMonth"] = usd
    pack.configure(
        **{
            name.replace("-", "_"): {
                ("level" if key == "enforcementLevel" else key): each for key, each in own.items()
            }
            for name, own in settings.items()
        }
    )
    engine = LocalEngine(load_project(folder, "dev"), Path("/nonexistent"), options=RunOptions(offline=True))
    found = pack.all(asked_by(engine.record(preview=True)))
    assert sorted({each.policy for each in found}) == policies
