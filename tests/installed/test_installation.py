"""The commands of docs/install.md, with the wheel in place of a name that no package index has yet."""

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.documentation.blocks import ROOT, blocks, commands
from tests.installed.test_versions import asked
from tests.resources.serving.manifests import SMALL

PAGE = "docs/install.md"
REQUIREMENT = re.compile(r"inference-platform(?:\[([\w,]+)\])?")
BLOCKS = [commands(block.text) for block in blocks("console") if block.page == PAGE]


def installers() -> list[str]:
    return [typed[0] for typed in BLOCKS]


def test_each_block_installs_the_command_and_runs_it() -> None:
    assert [shlex.split(typed)[0] for typed in installers()] == ["pipx", "uv"]
    assert all(typed[1:] == ["workbench --version"] for typed in BLOCKS)


def test_the_wheel_has_the_extras_that_the_page_names(installed: Path) -> None:
    (found,) = importlib.metadata.distributions(path=[str(installed)], name="inference-platform")
    text = (ROOT / PAGE).read_text()
    named = {
        extra for each in re.findall(r"inference-platform\[([\w,]+)\]|`\[(\w+)\]`", text) for extra in each if extra
    }
    extras = {*found.metadata.get_all("Provides-Extra", [])}
    assert {extra for name in named for extra in name.split(",")} == extras - {"dev", "workbench"}


@asked
@pytest.mark.parametrize("command", installers())
def test_the_command_works(command: str, wheel: Path, tmp_path: Path) -> None:
    program, *words = shlex.split(command)
    if not shutil.which(program):
        pytest.skip(f"{program} is not on the PATH")
    programs = tmp_path / "bin"
    places = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "UV_TOOL_DIR": "uv", "UV_TOOL_BIN_DIR": "bin"}
    env = {**os.environ, **{name: str(tmp_path / place) for name, place in places.items()}}
    words = [REQUIREMENT.sub(lambda match: f"{match[0]} @ {wheel.as_uri()}", word) for word in words]
    done = subprocess.run([program, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (tmp_path / "models.yaml").write_text(yaml.safe_dump_all(SMALL))

    def run(*words: str) -> str:
        command = [str(programs / "workbench"), *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env={}).stdout

    assert run("--version").strip() == f"inference-platform {importlib.metadata.version('inference-platform')}"
    assert "Playground/chat" in run("plan", "models.yaml")
