"""``make up`` as a newcomer runs it, on a real control plane: one model for each engine, and lines to paste."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from livefleet.folder import LiveFolder
from toolkit.process import saved
from workbench.cluster.binaries import Programs

ROOT = Path(__file__).parents[2]
MODELS = ("qwen-chat", "llama-sglang", "mistral-tgi", "qwen-cpu", "tiny-ollama", "llmkube-embeddings")
"""vLLM, SGLang, Text Generation Inference, llama.cpp, Ollama, and a server of one's own."""
TITLES = {"qwen-chat", "llama-sglang", "mistral-tgi", "qwen-cpu", "tiny-ollama", "embeddings"}
SETTINGS = {
    "pulumi:disable-default-providers": ["kubernetes", "aws"],
    "inference-platform:models": ["models"],
    "inference-platform:kubeconfig": ".workbench/kubeconfig",
    "inference-platform:clusterName": "workbench",
    "inference-platform:simulatedNodes": True,
    "inference-platform:customResources": True,
}


@dataclass
class Newcomer:
    """Somebody with a clone, and a command line."""

    folder: Path
    said: str = ""

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command of the workbench, which must end with the code."""
        command = [sys.executable, "-m", "workbench", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr + done.stdout
        self.said = done.stderr
        return done.stdout

    def up(self, *options: str) -> str:
        """Run ``make up`` so fast that nobody waits for an answer."""
        return self.run("up", "--stack", "dev", "--start-cluster", "--engine", "local", "--speed", "500", *options)

    def addresses(self, code: int = 0) -> dict[str, str]:
        """Return where ``outputs`` says that models answer; it ends with 1 if nothing can."""
        words = ("--stack", "dev", "--engine", "local", "--output", "json")
        outputs = json.loads(self.run("outputs", *words, code=code))
        found: dict[str, str] = outputs.get("loopback", {}).get("endpoints", {})
        return found

    @property
    def live(self) -> LiveFolder:
        return LiveFolder(self.folder / ".workbench")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Iterator[Newcomer]:
    """A clone with models of one's own, whose cluster is stopped at the end."""
    assert programs
    folder = tmp_path_factory.mktemp("clone")
    for name in ("Pulumi.yaml", "__main__.py", "stacks", "components", "workbench"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "models").mkdir()
    for name in MODELS:
        shutil.copy(ROOT / f"stacks/models/{name}.yaml", folder / "models")
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": SETTINGS}))
    found = Newcomer(folder)
    try:
        yield found
    finally:
        found.run("cluster", "stop")


@pytest.fixture(scope="module")
def shown(newcomer: Newcomer) -> str:
    """What the first ``up`` prints."""
    return newcomer.up("--details")


def calls(shown: str) -> list[str]:
    """Return the commands to paste, each with the lines that continue it."""
    return [call.replace("\\\n", "").strip() for call in re.findall(r"^  curl .*(?:\n    .*)*", shown, re.MULTILINE)]


def pasted(line: str, folder: Path) -> str:
    """Return what a line answers: of curl itself, or of what it would send where there is no curl."""
    if shutil.which("curl"):
        done = subprocess.run(["sh", "-c", f"{line} -sS -f"], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    words = shlex.split(line)
    request = urllib.request.Request(words[2], words[-1].encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return str(answer.read().decode())


def test_every_printed_line_answers_and_streams(newcomer: Newcomer, shown: str) -> None:
    lines = calls(shown)
    assert len(lines) == 4
    for line in lines:
        answer = pasted(line, newcomer.folder)
        parts = [each for each in answer.splitlines() if each.strip()]
        assert len(parts) > 5, line
        for part in parts:
            text = part.removeprefix("data:").strip()
            assert text == "[DONE]" or isinstance(json.loads(text), dict)
    assert shown.count("its answers are simulated:") == len(lines)


def test_every_endpoint_answers_by_the_name_of_its_model(newcomer: Newcomer, shown: str) -> None:
    addresses = newcomer.addresses()
    assert set(addresses) == TITLES
    assert all(url in shown for url in addresses.values())
    fleet = newcomer.live.read_fleet()
    assert fleet is not None
    for endpoint in fleet.endpoints:
        body = json.dumps({"model": endpoint.model, "input": "a", "messages": [{"role": "user", "content": "a"}]})
        path = "embeddings" if endpoint.title == "embeddings" else "chat/completions"
        line = (
            f"curl -N {addresses[endpoint.title]}/{path} -H 'Content-Type: application/json' -d {shlex.quote(body)}"
        )
        answer = json.loads(pasted(line, newcomer.folder))
        assert answer["object"] == ("list" if path == "embeddings" else "chat.completion")
        assert answer["usage"]["prompt_tokens"] > 0


@pytest.mark.usefixtures("shown")
def test_a_second_up_changes_nothing(newcomer: Newcomer) -> None:
    addresses, process = newcomer.addresses(), saved(newcomer.live.pid_file("pods"))
    newcomer.up()
    assert "already running" in newcomer.said
    assert newcomer.addresses() == addresses
    assert saved(newcomer.live.pid_file("pods")) == process
    assert process
    assert process.alive()


@pytest.mark.usefixtures("shown")
def test_an_edit_moves_no_other_endpoint(newcomer: Newcomer) -> None:
    addresses = newcomer.addresses()
    gone = newcomer.folder / "models" / "mistral-tgi.yaml"
    text = gone.read_text()
    gone.unlink()
    newcomer.up()
    left = {title: url for title, url in addresses.items() if title != "mistral-tgi"}
    assert newcomer.addresses() == left
    gone.write_text(text)
    newcomer.up()
    assert newcomer.addresses() == addresses


@pytest.mark.usefixtures("shown")
def test_down_and_up_again(newcomer: Newcomer) -> None:
    addresses = newcomer.addresses()
    newcomer.run("cluster", "stop")
    assert newcomer.said.startswith("stopped pods, ")
    assert newcomer.addresses(code=1) == {}
    assert "the simulated cluster is not running" in newcomer.said
    shown = newcomer.up()
    assert newcomer.addresses() == addresses
    (line,) = calls(shown)  # of one model, without --details
    assert "data:" in pasted(line, newcomer.folder)
    assert "\npods " in newcomer.run("cluster", "status")


@pytest.mark.usefixtures("shown")
def test_after_destroy_nothing_answers(newcomer: Newcomer) -> None:
    begin = time.monotonic()
    newcomer.addresses()
    command = time.monotonic() - begin
    begin = time.monotonic()
    newcomer.run("destroy", "--stack", "dev", "--engine", "local", "--yes")
    # Pods go with their nodes; the cluster alone would wait 40 s, with the namespace (podgc's quarantineTime), beside
    # what a command takes on this machine.
    assert time.monotonic() - begin < 40 + 3 * command
    assert newcomer.addresses(code=1) == {}
    assert "is not deployed" in newcomer.said
    assert "\npods " in newcomer.run("cluster", "status")
    newcomer.up()
    assert set(newcomer.addresses()) == TITLES
