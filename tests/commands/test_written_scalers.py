"""Autoscalers that are manifests of their own, in the commands that simulate a fleet."""

import json
from pathlib import Path

import pytest

from tests.commands.planning.repositories import MODEL, repository
from tests.commands.support import workbench
from tests.livefleet.reading.test_written import KINDS


@pytest.fixture(params=KINDS)
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A repository with a model and an autoscaler of each kind."""
    folder = repository(tmp_path / "project")
    with (folder / "Pulumi.dev.yaml").open("a") as settings:
        settings.write("  inference-platform:otherKinds: apply\n")
    text = json.dumps(KINDS[request.param])
    (folder / "models" / "chat.yaml").write_text(f"{MODEL.format(name='chat', replicas=1)}---\n{text}\n")
    (folder / "trace.csv").write_text("time,input_tokens,output_tokens\n0,20,20\n1,20,20\n")
    return folder


def test_both_commands_simulate_them(project: Path) -> None:
    done = workbench("simulate", "--stack", "dev", "--fleet", "--trace", "trace.csv", "--output", "json", cwd=project)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"]["requests"] == 2
    done = workbench("plan", "--stack", "dev", "--base", "HEAD", "--trace", "trace.csv", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Requests of the trace (simulated)" in done.stdout
