"""``workbench inspect`` as its users run it."""

import json
from pathlib import Path

import pytest
import yaml

from tests.commands.support import workbench
from tests.inspecting.objects import container, deployment, node

WRONG = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--max-model-length", "8192"]
TOO_LARGE = ["--model", "meta-llama/Llama-3.1-70B-Instruct", "--max-model-len", "8192"]
SERVERS = {
    "wrong": container(args=WRONG),
    # The flags of this release are not known exactly.
    "doubtful": container(args=WRONG, image="vllm/vllm-openai:v0.99.0"),
    "large": container(args=TOO_LARGE),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, server in SERVERS.items():
        bodies = [node("gpu-1", "g5.2xlarge"), deployment(name, server)]
        (tmp_path / name).mkdir()
        (tmp_path / name / "objects.yaml").write_text(yaml.safe_dump_all(bodies))
    return tmp_path


def test_files_are_inspected_without_a_cluster(folder: Path) -> None:
    done = workbench("inspect", "--from", folder / "doubtful")
    assert done.returncode == 0, done.stderr
    assert "warning[flags-unknown] models/Deployment/doubtful" in done.stdout


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("doubtful", "error", 0),
        ("doubtful", "warning", 1),
        ("wrong", "error", 1),
        ("large", "error", 1),
        ("large", "warning", 1),
    ],
)
def test_findings_decide_about_the_exit_code(folder: Path, name: str, fail_on: str, code: int) -> None:
    assert workbench("inspect", "--from", folder / name, "--fail-on", fail_on).returncode == code


def test_the_report_is_written_to_a_file(folder: Path) -> None:
    done = workbench("inspect", "--from", folder / "wrong", "-o", "json", "--save", folder / "report.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert [model["resource"]["name"] for model in json.loads((folder / "report.json").read_text())["models"]] == [
        "wrong"
    ]
    page = workbench("inspect", "--from", folder / "wrong", "--output", "html").stdout
    assert page.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--from", "{folder}", "-n", "models"], "--from reads files", 2),
        (["--from", "{folder}/wrong", "-o", "{folder}/missing/report.json"], "does not exist", 1),
        (["--from", "{folder}/wrong", "-o", "{folder}"], "is a folder", 1),
        (["--kubeconfig", "{folder}/none"], "no kubeconfig", 1),
    ],
)
def test_wrong_options_end_in_a_message(folder: Path, arguments: list[str], message: str, code: int) -> None:
    done = workbench("inspect", *(each.format(folder=folder) for each in arguments))
    assert message in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_neither_cluster_nor_files_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    done = workbench("inspect")
    assert (done.returncode, "--kubeconfig" in done.stderr) == (2, True)


def test_files_without_an_object_are_named(folder: Path) -> None:
    (folder / "broken.yaml").write_text("a: [\n")
    done = workbench("inspect", "--from", folder / "broken.yaml")
    assert done.returncode == 1
    assert "not valid YAML" in done.stdout


def test_the_earlier_names_of_options_still_work(folder: Path) -> None:
    """``--format`` was the format, and ``--output`` the file."""
    done = workbench("inspect", "--from", folder / "wrong", "--format", "json", "-o", folder / "old.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((folder / "old.json").read_text())["models"]
    table, text = (workbench("inspect", "--from", folder / "wrong", "-o", name).stdout for name in ("table", "text"))
    assert table == text
    unknown = workbench("inspect", "--from", folder / "wrong", "-o", "jsn")
    assert (unknown.returncode, unknown.stderr) == (2, "--output: must be one of text, json, html, found 'jsn'\n")
