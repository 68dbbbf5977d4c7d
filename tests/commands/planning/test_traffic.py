"""``workbench plan --trace``: both revisions under the same requests."""

import json
from pathlib import Path

import pytest

from tests.commands.planning.repositories import git, plan, repository, write_model
from tests.commands.support import workbench

MANIFEST = Path("models/chat.yaml")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One replica, which takes minutes for 200 requests at once."""
    folder = repository(tmp_path / "project")
    rows = "".join(f"{number / 100},200,200\n" for number in range(800))
    (folder / "trace.csv").write_text(f"time,input_tokens,output_tokens\n{rows}")
    return folder


def test_more_replicas_answer_sooner_and_cost_more(project: Path) -> None:
    write_model(project / MANIFEST, replicas=2)
    done = plan(project, "--base", "HEAD", "--trace", project / "trace.csv", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    traffic = json.loads(done.stdout)["review"]["traffic"]
    before, after = traffic["before"], traffic["after"]
    assert before["requests"] == after["requests"] == 800
    assert after["ttftP99"] < before["ttftP99"]
    assert after["usdPerDay"] == pytest.approx(2 * before["usdPerDay"])
    assert [model["name"] for model in traffic["models"]] == ["chat"]


def test_limits_of_figures_fail_the_command(project: Path) -> None:
    write_model(project / MANIFEST, replicas=2)
    done = plan(project, "--base", "HEAD", "--trace", f"chat={project}/trace.csv", "--fail-on", "usd-day=+1")
    assert done.returncode == 1
    assert "does not pass: usd-day is $" in done.stdout
    assert "more than" in done.stdout
    done = plan(project, "--base", "HEAD", "--trace", f"chat={project}/trace.csv", "--fail-on", "usd-day=+100%")
    assert done.returncode == 0


def test_a_base_without_the_stack_has_no_figures(project: Path) -> None:
    git(project, "rm", "--quiet", "--cached", "Pulumi.dev.yaml")
    git(project, "commit", "--quiet", "--message", "without")
    done = plan(project, "--base", "HEAD", "--trace", project / "trace.csv", "--fail-on", "ttft-p99=+10%")
    assert done.returncode == 1
    assert "ttft-p99 of the base is unknown, so its limit cannot be checked" in done.stdout


def test_manifests_without_a_stack(project: Path) -> None:
    write_model(project / MANIFEST, replicas=2)
    done = workbench("plan", project / MANIFEST, "--cwd", project, "--base", "HEAD", "--trace", project / "trace.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Requests of the trace (simulated)" in done.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--fail-on", "ttft-p99=2s"], "--fail-on ttft-p99=2s needs --trace"),
        (["--share", "chat=1"], "--share needs --trace"),
        (["--fail-on", "ttft=2s"], "--fail-on: must be error, warning or a limit of"),
        (["--trace", "missing.csv"], "--trace: missing.csv: No such file or directory"),
        (["--trace", "other=trace.csv"], "--trace: the stack has no model 'other'; simulated are chat"),
    ],
)
def test_what_is_refused(project: Path, options: list[str], told: str) -> None:
    done = plan(project, *(option.replace("trace.csv", f"{project}/trace.csv") for option in options))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
