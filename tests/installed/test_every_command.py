"""Every command of the wheel in an environment without a checkout: it works, or says where what is missing."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from tests.installed.building import environment
from tests.resources.serving.manifests import SMALL
from workbench.cli import app
from workbench.helping import GROUPS

START = """\
import sys
sys.path[:0] = {paths}
from inference_platform.workbench.__main__ import main

sys.argv = ["workbench", *sys.argv[1:]]
main()
"""
"""Packages are found without the files that lead to a checkout, as in an environment with nothing but the wheel."""
FOLDER = "manifests"


def commands(group: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command with its group; those of live and dev by their names without the group."""
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        if name in GROUPS:
            continue
        found += commands(command, (*before, name)) if hasattr(command, "commands") else [(*before, name)]
    return found


COMMANDS = commands(typer.main.get_command(app))
NO_PROJECT = r"Pulumi\.yaml does not exist; run this in the project folder"
NO_FLEET = r"no live fleet runs in \S+; start it with"
# What a command is given beside its name, the code that it ends with, and what it says.
RUNS: dict[tuple[str, ...], list[tuple[tuple[str, ...], int, str]]] = {
    ("init",): [
        (("new",), 0, r"wrote new/Pulumi\.yaml"),
        ((FOLDER, "--region", "us-east-1"), 2, "--region needs --cluster eks"),
    ],
    ("inspect",): [
        (("--from", FOLDER), 0, "Playground/chat"),
        (("--from", "absent"), 1, r"error absent\n  no such file or folder"),
        (("--kubeconfig", "absent"), 1, "there is no kubeconfig at absent"),
    ],
    ("adopt",): [
        (("adopted", "--from", FOLDER), 0, "4 of 4 resources of the families"),
        (("--kubeconfig", "absent"), 2, "absent does not exist"),
    ],
    ("eject",): [((), 2, "Missing argument 'FOLDER'"), (("out", "--stack", "dev"), 2, NO_PROJECT)],
    ("diff",): [((FOLDER, "--kubeconfig", "absent"), 2, "there is no kubeconfig at absent")],
    ("fit",): [
        (("qwen3-8b", "--gpu", "L40S"), 0, r"fits L40S, from \$\S+ a month \(1 L40S, "),
        (("no-such-model",), 2, "unknown model 'no-such-model'"),
    ],
    ("up",): [((), 2, NO_PROJECT), (("--stack", "dev"), 2, NO_PROJECT)],
    ("preview",): [((), 2, NO_PROJECT), (("--stack", "dev", "--offline"), 2, NO_PROJECT)],
    ("destroy",): [((), 2, NO_PROJECT), (("--stack", "dev"), 2, NO_PROJECT)],
    ("outputs",): [((), 2, NO_PROJECT), (("--stack", "dev"), 2, NO_PROJECT)],
    ("validate",): [
        ((FOLDER,), 0, "4 resources in 2 files: 0 errors"),
        ((FOLDER, "--alone", "--output", "json"), 0, r"\[\]"),
        ((FOLDER, "--output", "sarif"), 0, '"runs"'),
        ((FOLDER, "--stack", "dev"), 2, NO_PROJECT),
        (("broken",), 1, r"error broken/models\.yaml:4\n  Playground/chat spec\.replcas: unknown field"),
        (("absent",), 1, r"error absent\n  no such file or folder"),
        ((), 2, "no manifests: pass files or folders"),
    ],
    ("plan",): [
        ((FOLDER,), 0, "chat"),
        ((FOLDER, "--cluster", "none"), 0, "chat"),
        ((), 2, r"Pulumi\.yaml does not exist\. Planning a stack needs a project"),
        (("--stack", "dev"), 2, r"Pulumi\.yaml does not exist\. Planning a stack needs a project"),
    ],
    ("defaults",): [((FOLDER,), 0, "kind: Playground"), (("broken",), 1, r"broken/models\.yaml:4: ")],
    ("crds",): [((), 0, "kind: CustomResourceDefinition"), (("Absent",), 2, "unknown kind 'Absent'")],
    ("schema",): [((), 0, '"inference.llmaz.io/v1alpha1/Playground"')],
    ("render",): [
        ((FOLDER,), 0, "kind: Deployment"),
        ((FOLDER, "--realization", "operator"), 1, r"manifests/second\.yaml:\d+: Playground/chat: spec\."),
        ((FOLDER, "--expand"), 0, "kind: Playground"),
        ((FOLDER, "--literal"), 1, "no upstream operator converts"),
        (("broken",), 1, r"broken/models\.yaml:4: "),
    ],
    ("explain",): [
        (("Playground/chat", FOLDER), 0, r"spec\.modelClaim\.modelName"),
        (("InferenceService/gguf", FOLDER), 0, r"spec\.modelRef"),
        (("Playground/absent", FOLDER), 2, "resource 'Playground/absent' not found"),
        (("Playground/chat", "broken"), 1, r"broken/models\.yaml:4: "),
        (("Playground/chat",), 2, "no manifests: pass files or folders"),
    ],
    ("migrate",): [
        ((FOLDER,), 2, "pass --release, the release to convert to"),
        ((FOLDER, "--release", "llmaz=v9"), 2, "llmaz has no release 'v9'"),
        (("--release", "llmaz=v0.1.4"), 2, "has no stacks"),
        (("broken", "--release", "llmaz=v0.1.4"), 1, r"broken/models\.yaml:4: "),
    ],
    ("simulate",): [((FOLDER,), 2, "--binding is required; to simulate all models, pass --fleet with --trace")],
    ("size",): [
        (("--model", "llama-7b", "--rate", "480", "--output-tokens", "512", "--slo-itl", "30"), 0, "replicas"),
        ((FOLDER,), 2, "pass --model, or --variant with manifests, or --profile"),
    ],
    ("fit-profile",): [
        ((FOLDER,), 1, "manifests: cannot be read: Is a directory"),
        ((), 2, "Missing argument 'FILE'"),
    ],
    ("load",): [((), 2, "Missing option '--model'"), (("--model", "opt", "--rate", "5"), 2, NO_FLEET)],
    ("watch",): [((), 1, NO_FLEET)],
    ("fault",): [(("zone",), 1, NO_FLEET), (("spot",), 1, NO_FLEET)],
    ("speed",): [((), 1, NO_FLEET)],
    ("capacity",): [(("--kubeconfig", "absent"), 1, "there is no kubeconfig at absent")],
    ("build-pulumi",): [(("--help",), 0, "Usage: workbench build-pulumi")],
    ("cluster", "start"): [(("--help",), 0, "Usage: workbench cluster start")],
    ("cluster", "stop"): [((), 0, "")],
    ("cluster", "status"): [((), 1, "stopped")],
}
BROKEN = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {replcas: 1, modelClaim: {modelName: m}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / FOLDER
    made.mkdir()
    first, *others = SMALL
    (made / "first.yaml").write_text(yaml.safe_dump(first))
    (made / "second.yaml").write_text(yaml.safe_dump_all(others))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/models.yaml").write_text(BROKEN)
    return tmp_path


def packages(installed: Path) -> list[str]:
    return [str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-c", START.format(paths=packages(installed)), *words]
    env = {**environment(installed), "PYTHONPATH": ""}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)


def test_nothing_leads_to_the_checkout(installed: Path, folder: Path) -> None:
    """Or the other tests would show nothing."""
    script = (
        f"import sys; sys.path[:0] = {packages(installed)}; from importlib.util import find_spec; "
        "print(*map(find_spec, ('stacks', 'workbench', 'livefleet', 'toolkit', 'components')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == "None None None None None\n"


def test_each_command_is_tried() -> None:
    assert sorted(RUNS) == sorted(COMMANDS)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [((*name, *words), code, says) for name, runs in RUNS.items() for words, code, says in runs],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_works_or_says_what_is_missing(
    words: tuple[str, ...], code: int, says: str, installed: Path, folder: Path
) -> None:
    done = run(installed, folder, *words)
    assert done.returncode == code, done.stderr
    assert re.search(says, done.stdout + done.stderr), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / ".workbench/errors").exists()


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_a_command_has_help(name: tuple[str, ...], installed: Path, folder: Path) -> None:
    done = run(installed, folder, *name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"Usage: workbench {' '.join(name)}" in done.stdout
