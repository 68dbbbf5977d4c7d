"""``make sdks``, with the Pulumi CLI where there is one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from components.resources.plugin import SCHEMA
from tests.layers.modules import ROOT

# A file that each language's SDK has for the component Playground.
GENERATED = {
    "nodejs": "playground.ts",
    "python": "example_inference_platform/playground.py",
    "go": "inferenceplatform/playground.go",
    "java": "src/main/java/com/example/inferenceplatform/Playground.java",
}
"""Without .NET, whose generator downloads the logo."""


def checkout(folder: Path) -> Path:
    """A folder with what the target reads."""
    (folder / "components").mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(SCHEMA, folder / "components")
    return folder


@pytest.mark.parametrize("language", GENERATED)
def test_an_sdk_is_generated(language: str, tmp_path: Path) -> None:
    for program in ("pulumi", f"pulumi-language-{language}"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not on the PATH")
    made = subprocess.run(
        ["make", "sdks", f"SDKS={language}"], cwd=checkout(tmp_path), capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "dist/sdk" / language / GENERATED[language]).is_file()


def test_without_the_cli_it_says_what_is_missing(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(shutil.which(name) or pytest.fail(f"no {name}"))
    folder = tmp_path / "checkout"
    folder.mkdir()
    made = subprocess.run(
        ["make", "sdks"], cwd=checkout(folder), capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": str(tools), "SHELL": str(tools / "sh")},
    )  # fmt: skip
    assert made.returncode == 2
    assert "make sdks needs the Pulumi CLI on the PATH" in made.stderr
    assert not (folder / "dist").exists()
