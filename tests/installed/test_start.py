"""The wheel from an empty folder to an answer: the commands of docs/start/five-minutes.md, in its order."""

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT
from tests.documentation.walkthroughs import Edit, Run, steps, typed
from tests.installed.building import environment
from tests.installed.test_commands import RUN
from workbench.cluster.binaries import unbuilt

PAGE = ROOT / "docs/start/five-minutes.md"
DEPLOYING = ("up", "preview", "destroy", "outputs")


class Reader:
    """Types what the page says, with the wheel in place of the installed command."""

    def __init__(self, installed: Path, folder: Path) -> None:
        self.folder = folder
        # What is built is cached in the user's home.
        self.env = {**environment(installed), "HOME": os.environ["HOME"], "PYTHONUNBUFFERED": "1"}
        self.typed: list[str] = []

    def workbench(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and what it prints."""
        # Without a terminal, --yes is not implied, and a Pulumi CLI on the PATH would be used.
        options = ("--engine", "local") if words[0] in DEPLOYING else ()
        line = [sys.executable, "-c", RUN, *words, *options]
        done = subprocess.run(
            line, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False, timeout=600
        )
        return done.returncode, done.stdout + done.stderr

    def curl(self, command: str) -> str:
        """Send the request of a command to the port of this run."""
        words = shlex.split(command)
        outputs = json.loads(self.workbench("outputs", "--output", "json")[1])
        address = outputs["loopback"]["endpoints"]["chat"]
        url = re.sub(r"http://[\d.:]+/v1", address, next(word for word in words if word.startswith("http")))
        headers = dict([words[words.index("-H") + 1].split(": ", 1)])
        request = urllib.request.Request(url, words[words.index("-d") + 1].encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())


@pytest.fixture
def reader(installed: Path, tmp_path: Path) -> Iterator[Reader]:
    """Somebody in an empty folder; afterwards, what they started is stopped."""
    if (missing := unbuilt()) and not os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
        pytest.skip(f"not built: {', '.join(missing)}")
    reader = Reader(installed, tmp_path)
    try:
        yield reader
    finally:
        reader.workbench("cluster", "stop")


@pytest.mark.control_plane
def test_the_page_can_be_followed(reader: Reader) -> None:
    programs = []
    for step in steps(PAGE):
        if isinstance(step, Edit):
            step.make(reader.folder)
            continue
        for command, shown in typed(step.text) if step.language == "console" else ():
            program, *words = shlex.split(command)
            programs.append(program)
            if program == "cd":
                reader.folder /= words[0]
            elif program == "workbench":
                code, printed = reader.workbench(*words)
                assert code == ("[nodes-too-small]" in shown), f"{command}\n{printed}"
                if shown.strip() and words[0] != "validate":  # tests/documentation compares what validate prints
                    run = Run(step, command, re.sub(r"http://127\S+.*", "...", shown), printed)
                    assert run.matches(), f"{step}: {command}\n{printed}"
            elif program == "curl":
                answer = reader.curl(command)
                assert answer.startswith("data: {")
                assert answer.rstrip().endswith("data: [DONE]")
    # test_installation runs pipx; make needs a checkout, and kubectl is not installed everywhere.
    assert programs[:3] == ["pipx", "workbench", "cd"]
    assert programs.count("curl") == 1
    assert set(programs) == {"pipx", "workbench", "cd", "export", "kubectl", "curl", "make"}
