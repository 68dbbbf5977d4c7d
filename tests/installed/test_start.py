"""The wheel from an empty folder to an answer: ``init``, ``plan``, ``up`` on a simulated cluster, a request."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.installed.building import environment
from tests.installed.test_commands import RUN
from workbench.cluster.binaries import unbuilt

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(installed: Path, tmp_path: Path) -> Iterator[Command]:
    """Run commands of the wheel in a project; afterwards, stop what they started."""
    if (missing := unbuilt()) and not os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
        pytest.skip(f"not built: {', '.join(missing)}")
    env = {**environment(installed), "HOME": os.environ["HOME"]}  # what is built is cached there

    def run(*words: str, folder: Path = tmp_path / "fleet") -> "subprocess.CompletedProcess[str]":
        line = [sys.executable, "-c", RUN, *words]
        done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    run("init", "fleet", folder=tmp_path)
    try:
        yield run
    finally:
        run("cluster", "stop")
        shutil.rmtree(tmp_path / "fleet")


def test_the_first_answer(command: Command) -> None:
    assert "the model fits its GPUs; no errors" in command("plan").stdout
    command("up", "--start-cluster", "--engine", "local")
    outputs = json.loads(command("outputs", "--engine", "local", "--output", "json").stdout)
    url = outputs["loopback"]["endpoints"]["chat"]
    body = {"model": "qwen2-7b", "messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 8}
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    assert answer["model"] == "qwen2-7b"
    assert answer["usage"]["completion_tokens"] == 8
    command("destroy", "--yes", "--engine", "local")
