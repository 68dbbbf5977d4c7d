"""The wheel beside the oldest and the newest versions that it allows, each in an environment of its own.

The environments stay in a folder that is not tracked, and are made again when a bound changes.
"""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.installed.building import ROOT, pip
from tests.installed.test_commands import MODELS, in_checkout, project

FOLDER = ROOT / ".venv-versions"
ASKED = "INFERENCE_PLATFORM_VERSIONS"
SCHEMA = "from inference_platform.resources.plugin import Host; print(Host().schema)"

asked = pytest.mark.skipif(
    not os.environ.get(ASKED), reason=f"installs two environments from a package index; set {ASKED}=1"
)
__all__ = ["project"]


def requirements() -> dict[str, str]:
    """Every package that is installed for a user, with the versions that are allowed."""
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = described["optional-dependencies"]
    names = ("aws", "fit", "gateway", "kubernetes", "plot")
    allowed = [*described["dependencies"], *(each for name in names for each in extras[name])]
    packages = [re.split(r"[<>=!~]", each)[0] for each in allowed]
    return {package: each.removeprefix(package) for package, each in zip(packages, allowed, strict=True)}


def oldest() -> list[str]:
    """The lower bounds, exactly."""
    bounds = {name: re.search(r">=([\d.]+)", allowed) for name, allowed in requirements().items()}
    return [f"{name}=={bound[1]}" for name, bound in bounds.items() if bound]


def newest() -> list[str]:
    """What the bounds allow; an installer takes the newest."""
    return [f"{name}{allowed}" for name, allowed in requirements().items()]


WANTED = {"oldest": oldest(), "newest": newest()}


@pytest.fixture(scope="module", params=list(WANTED))
def programs(request: pytest.FixtureRequest, wheel: Path) -> Path:
    """The programs of an environment with the wheel."""
    wanted = WANTED[request.param]
    digest = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]
    folder = FOLDER / f"{request.param}-{digest}"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip("install", *wanted, python=folder / "bin" / "python")
        (folder / "complete").touch()
    # Without other packages: those are there already, or the bounds are not what they say.
    pip("install", "--no-deps", "--force-reinstall", str(wheel), python=folder / "bin" / "python")
    pip("check", python=folder / "bin" / "python")
    return folder / "bin"


def test_every_dependency_has_a_lower_bound() -> None:
    assert len(oldest()) == len(requirements())


@asked
@pytest.mark.parametrize("words", MODELS, ids=" ".join)
def test_a_command_says_what_it_says_here(words: tuple[str, ...], programs: Path, project: Path) -> None:
    command = [str(programs / "workbench"), *words]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(project), "COLUMNS": "200"}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    there = in_checkout(project, *words)
    assert (done.returncode, done.stdout, done.stderr) == (there.returncode, there.stdout, there.stderr)


def test_what_the_lock_file_pins_is_allowed() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    for name, allowed in requirements().items():
        pinned = re.search(rf"^{name}==([^ ;\\]+)", lock, re.MULTILINE)
        assert pinned, name
        assert SpecifierSet(allowed).contains(pinned[1]), name
        assert "<" in allowed or name == "cryptography", f"{name}: any version to come is allowed"


@asked
def test_other_languages_see_the_same(programs: Path, project: Path) -> None:
    command = [str(programs / "python"), "-W", "ignore", "-c", SCHEMA]
    seen = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout
    here = [sys.executable, "-W", "ignore", "-c", SCHEMA]
    assert seen == subprocess.run(here, cwd=ROOT, capture_output=True, text=True, check=True).stdout
