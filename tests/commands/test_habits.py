"""What every command line has: a version, completion, JSON for programs."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.commands.support import ROOT, workbench
from tests.hostile.runs import run


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
    # Lines are wrapped, some of them in words.
    whole = "".join(workbench("explain", *model, "--details").stdout.split())
    assert all("".join(line.split()) in whole for row in rows for line in row["became"])
    assert any(len(row["became"]) > 2 for row in rows), "text shows the first two"


def test_preview_as_json() -> None:
    done = workbench("preview", "--stack", "dev", "--offline", "--output", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"resources", "outputs", "counts", "notes"}
    assert sum(found["counts"].values()) == len(found["resources"])
    assert "warning: " in done.stderr


COLOUR = re.compile(r"\033\[[0-9;]*(3[0-7]|9[0-7])m")


def on_a_terminal(*arguments: str, **variables: str) -> str:
    """What a command writes where FORCE_COLOR makes a terminal of anything."""
    script = "import sys; from workbench.__main__ import main; sys.argv[0] = 'workbench'; main()"
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    env = {**kept, "FORCE_COLOR": "1", "TERM": "xterm-256color", **variables}
    line = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_no_color_is_obeyed() -> None:
    """NO_COLOR counts more than FORCE_COLOR (https://no-color.org)."""
    assert COLOUR.search(on_a_terminal("validate", "--stack", "dev"))
    assert not COLOUR.search(on_a_terminal("validate", "--stack", "dev", NO_COLOR="1"))


@pytest.mark.parametrize(
    ("shell", "startup"),
    [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/completions/workbench.fish")],
)
def test_completion_installed_twice_changes_nothing(shell: str, startup: str, tmp_path: Path) -> None:
    """The shell is named, because none runs the tests."""
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'\n")
    (tmp_path / ".zshrc").write_text("autoload -U colors\n")
    env = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    states = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "--install-completion", shell],
            cwd=ROOT, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        states.append({path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()})
    assert b"workbench" in b"".join(states[0].values())
    assert tmp_path / startup in states[0]
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "--family", "kserve"), "--family: must be one of llmaz, llmkube, kthena, llmd, found 'kserve'"),
        (("init", "--family", "lmaz"), "found 'lmaz'; did you mean 'llmaz'?"),
        (("init", "--ci", "jenkins"), "--ci: must be one of github, gitlab, none, found 'jenkins'"),
        (("plan", "--output", "yml"), "--output: must be one of text, markdown, html, json, sarif, found 'yml'"),
        (("plan", "--cluster", "gke"), "--cluster: must be one of "),
        (("validate", "-o", "yml"), "--output: must be one of text, lines, json, sarif, found 'yml'"),
        (("validate", "--realization", "helm"), "--realization: must be one of native, operator, found 'helm'"),
        (("size", "-o", "yml"), "--output: must be one of text, json, csv, found 'yml'"),
        (("simulate", "-o", "csv"), "--output: must be one of text, json, found 'csv'"),
        (("simulate", "--scale", "x"), "--scale: must be a valid number, found 'x'"),
        (("fit", "-o", "yml"), "--output: must be one of text, json, markdown, found 'yml'"),
        (("fit-profile", "-", "--count", "0"), "--count: must be greater than or equal to 1, found '0'"),
        (("dev", "fit-profile", "-", "--count", "x"), "--count: must be a valid integer, found 'x'"),
        (("up", "--engine", "helm"), "--engine: must be one of "),
    ],
)
def test_a_value_that_an_option_does_not_take_is_one_line(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Value error" not in done.stderr
