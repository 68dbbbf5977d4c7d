"""``workbench render`` as its users see it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.fleets import SAMPLES

ROOT = Path(__file__).parents[2]
GOOD = str(SAMPLES / "huggingface.yaml")


def render(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Render with default settings."""
    command = [sys.executable, "-m", "workbench", "render", "--stack", "none", *arguments]
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_objects_go_to_stdout_and_warnings_to_stderr() -> None:
    done = render(GOOD)
    assert done.returncode == 0
    assert [body["kind"] for body in yaml.safe_load_all(done.stdout)] == ["Deployment", "Service"]
    (line,) = done.stderr.splitlines()
    assert "huggingface.yaml:" in line
    assert "warning" in line


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (("--workload", "lws"), ["LeaderWorkerSet", "Service"]),
        (("--workload", "deployment"), ["Deployment", "Service"]),
        (("--realization", "operator"), ["OpenModel", "Playground"]),
    ],
)
def test_options_choose_the_kinds(arguments: tuple[str, ...], kinds: list[str]) -> None:
    done = render(GOOD, *arguments, "--namespace", "llm")
    bodies = list(yaml.safe_load_all(done.stdout))
    assert [body["kind"] for body in bodies] == kinds
    assert {body["metadata"].get("namespace", "llm") for body in bodies} == {"llm"}


def test_a_cache_and_an_edition_can_be_chosen() -> None:
    done = render(GOOD, "--cache-claim", "weights", "--runtimes", "current")
    assert "claimName: weights" in done.stdout
    assert "vllm/vllm-openai:v0.7.3" not in done.stdout
    assert "path: /mnt/nvme" in render(GOOD, "--cache-host-path", "/mnt/nvme").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (GOOD, "--workload", "daemonset"),
        (GOOD, "--realization", "magic"),
        (GOOD, "--runtimes", "old"),
        (GOOD, "--namespace", "Not A Name"),
        (GOOD, "--cache-claim", "a", "--cache-host-path", "/b"),
        (GOOD, "--nope"),
    ],
)
def test_wrong_usage_ends_with_2_and_without_a_traceback(arguments: tuple[str, ...]) -> None:
    done = render(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_a_problem_ends_with_1_and_nothing_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        (SAMPLES / "huggingface.yaml").read_text().replace("modelName: opt-125m", "modelName: opt-250m")
    )
    done = render(str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "a.yaml:" in done.stderr
    assert "Playground/opt-125m: spec.modelClaim.modelName: no OpenModel named 'opt-250m'" in done.stderr


def test_too_large_a_model_is_a_problem(tmp_path: Path) -> None:
    text = (SAMPLES / "huggingface.yaml").read_text()
    text = text.replace("{nvidia.com/gpu: 1}", "{nvidia.com/gpu: 2}, params: {INSTANCE-TYPE: g5.xlarge}")
    (tmp_path / "a.yaml").write_text(text)
    done = render(str(tmp_path))
    assert done.returncode == 1
    assert "requests 2 nvidia.com/gpu" in done.stderr


def test_a_model_that_cannot_be_read_is_not_called_missing(tmp_path: Path) -> None:
    text = (SAMPLES / "huggingface.yaml").read_text().replace("familyName", "familyname")
    (tmp_path / "a.yaml").write_text(text)
    done = render(str(tmp_path))
    assert done.returncode == 1
    assert "familyname" in done.stderr
    assert "no OpenModel" not in done.stderr


def test_an_absent_file_is_a_problem() -> None:
    done = render(str(SAMPLES / "absent.yaml"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "absent.yaml" in done.stderr
