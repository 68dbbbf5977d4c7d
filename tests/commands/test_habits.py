"""What every command line has: a version, completion, JSON for programs."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.commands.support import ROOT, workbench


def test_the_version_is_that_of_the_package() -> None:
    expected = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    done = workbench("--version")
    assert (done.returncode, done.stdout) == (0, f"inference-platform {expected}\n")


def complete(*words: str, at: int) -> list[str]:
    """What bash would offer, by the script of ``--show-completion``."""
    env = {
        **os.environ,
        "_WORKBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["workbench", *words]),
        "COMP_CWORD": str(at),
    }
    program = str(Path(sys.executable).with_name("workbench"))
    return subprocess.run([program], cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("val",), ["validate"]),
        (("up", "--stack", "st"), ["staging"]),
        (("render", "--stack", "pr"), ["prod"]),
        (("validate", "--other-kinds", "s"), ["skip"]),
        (("no-such",), []),
    ],
)
def test_shells_complete(words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words, at=len(words)) == expected


def test_completion_is_offered() -> None:
    done = workbench("--help")
    assert "--install-completion" in done.stdout
    assert "--show-completion" in done.stdout


def test_explain_as_json_holds_everything() -> None:
    model = ("OpenModel/llama3-1-405b", "stacks/models/llama-405b-multinode.yaml")
    rows = json.loads(workbench("explain", *model, "--output", "json").stdout)
    assert {row["kind"] for row in rows} == {"OpenModel"}
    by_field = {row["field"]: row for row in rows}
    assert by_field["spec.inferenceConfig.flavors[0].params.TP"]["value"] == "8"
    whole = workbench("explain", *model, "--all").stdout
    assert all(line in whole for row in rows for line in row["became"])
    assert any(len(row["became"]) > 4 for row in rows), "text shows the first four"


def test_preview_as_json() -> None:
    done = workbench("preview", "--stack", "dev", "--offline", "--output", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"resources", "outputs", "counts", "notes"}
    assert sum(found["counts"].values()) == len(found["resources"])
    assert "warning: " in done.stderr


@pytest.mark.parametrize("command", [("validate", "stacks/models"), ("explain", "Playground/qwen-chat"), ("--help",)])
def test_no_color_is_obeyed(command: tuple[str, ...]) -> None:
    """FORCE_COLOR makes a terminal of anything; NO_COLOR counts more (https://no-color.org)."""
    script = "import sys; from workbench.__main__ import main; sys.argv[0] = 'workbench'; main()"
    env = {**os.environ, "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-c", script, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert "\033[3" not in done.stdout + done.stderr
    assert "\033[9" not in done.stdout + done.stderr
