"""The command line of the wheel: every command that needs no checkout, with nothing of a checkout loaded."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.installed.building import PACKAGE, ROOT, environment
from tests.resources.serving.manifests import SMALL

RUN = """\
import sys
from inference_platform.workbench.__main__ import main

sys.argv[0] = "workbench"
try:
    main()
finally:
    found = {"components", "livefleet", "stacks", "toolkit", "workbench"} & set(sys.modules)
    assert not found, found
"""
MODELS = [
    ("validate", "models.yaml"),
    ("render", "models.yaml"),
    ("render", "--realization", "operator", "models.yaml"),
    ("explain", "Playground/chat", "models.yaml"),
    ("defaults", "models.yaml"),
    ("crds",),
    ("schema", "Playground"),
    ("preview", "--offline", "--stack", "dev"),
    ("plan", "models.yaml"),
    ("plan", "models.yaml", "--cluster", "eks", *(f"--save=plan{each}" for each in (".json", ".md", ".html"))),
    ("size", "--model", "llama-7b", "--rate", "480", "--output-tokens", "512", "--slo-itl", "30"),
]
PROGRAM = """\
import pulumi
import pulumi_kubernetes
from inference_platform import ModelFleet

cluster = pulumi_kubernetes.Provider("cluster", kubeconfig="kubeconfig")
fleet = ModelFleet("models", {"files": ["models.yaml"]}, pulumi.ResourceOptions(providers=[cluster]))
pulumi.export("endpoints", fleet.endpoints)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "__main__.py").write_text(PROGRAM)
    (tmp_path / "Pulumi.yaml").write_text("name: elsewhere\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "models.yaml").write_text(yaml.safe_dump_all(SMALL))
    return tmp_path


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, *words]
    return subprocess.run(
        command, cwd=folder, env=environment(installed), capture_output=True, text=True, check=False
    )


def python(installed: Path, folder: Path, script: str) -> str:
    command = [sys.executable, "-c", script]
    env = environment(installed)
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=True).stdout


def in_checkout(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", *words]
    env = environment(ROOT)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def saved(folder: Path) -> dict[str, bytes]:
    """Take away the reports that a command wrote."""
    files = {path.name: path.read_bytes() for path in folder.glob("plan.*")}
    for name in files:
        (folder / name).unlink()
    return files


@pytest.mark.parametrize("words", MODELS, ids=" ".join)
def test_a_command_says_what_it_says_in_the_checkout(words: tuple[str, ...], installed: Path, project: Path) -> None:
    done, files = run(installed, project, *words), saved(project)
    there = in_checkout(project, *words)
    assert (done.returncode, done.stdout, done.stderr) == (there.returncode, there.stdout, there.stderr)
    assert files == saved(project)
    assert len(files) == sum(word.startswith("--save") for word in words)
    assert done.stdout or done.returncode or words[0] == "validate"


def test_a_plan_of_a_stack_with_its_own_program_says_what_to_use(installed: Path, project: Path) -> None:
    done = run(installed, project, "plan", "--stack", "dev")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'elsewhere' has a program of its own" in done.stderr
    assert "workbench plan PATH... --cluster eks" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def initialized(installed: Path, tmp_path: Path) -> Path:
    """A new repository, with everything in git."""
    made = run(installed, tmp_path, "init", "fleet", "--cluster", "eks", "--gateway")
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "fleet"
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "."), ("commit", "--quiet", "-m", "first")):
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("stack", ["local", "dev"])
def test_a_new_repository_works_without_a_checkout(stack: str, installed: Path, initialized: Path) -> None:
    """Validated, planned beside another revision, and previewed."""
    chat = initialized / "models/chat.yaml"
    chat.write_text(chat.read_text().replace("replicas: 1", "replicas: 2"))
    validated = run(installed, initialized, "validate", "--stack", stack)
    assert validated.returncode == 0
    assert "2 resources in 1 file: " in validated.stdout
    planned = run(installed, initialized, "plan", "--stack", stack, "--base", "main")
    assert planned.returncode == 0
    first_builds = r"note: the first `up` on this machine builds \S.*\n" if stack == "local" else ""
    assert re.fullmatch(first_builds, planned.stderr), planned.stderr
    assert "replicas" in planned.stdout
    previewed = run(
        installed, initialized, "preview", "--engine", "local", "--offline", "--details", "--stack", stack
    )
    assert previewed.returncode == 0, previewed.stderr
    assert "kubernetes:apps/v1:Deployment" in previewed.stdout


def test_a_problem_is_a_message(installed: Path, project: Path) -> None:
    (project / "models.yaml").write_text("kind: Playgruond\n")
    done = run(installed, project, "validate", "models.yaml")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_the_cluster_is_built_from_files_of_the_wheel(installed: Path, project: Path) -> None:
    done = run(installed, project, "cluster", "status")
    assert "etcd" in done.stdout
    assert done.returncode == 1  # nothing runs
    script = (
        "from inference_platform.toolkit.toolchain import required_go; "
        "from inference_platform.workbench.cluster.binaries import TOOLS; print(TOOLS, required_go(TOOLS))"
    )
    command = [sys.executable, "-c", script]
    shown = subprocess.run(
        command, env=environment(installed), cwd=project, capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith(str(installed / PACKAGE / "workbench" / "tools"))


def test_the_package_knows_its_version(installed: Path, project: Path) -> None:
    script = f"import {PACKAGE}, sys; print({PACKAGE}.__version__); assert 'pulumi' not in sys.modules"
    command = [sys.executable, "-c", script]
    shown = subprocess.run(
        command, env=environment(installed), cwd=project, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == importlib.metadata.version("inference-platform")


def test_it_installs_the_command(installed: Path) -> None:
    (found,) = importlib.metadata.distributions(path=[str(installed)], name="inference-platform")
    scripts = {each.name: each.value for each in found.entry_points if each.group == "console_scripts"}
    assert scripts == {"workbench": f"{PACKAGE}.workbench.__main__:main"}
