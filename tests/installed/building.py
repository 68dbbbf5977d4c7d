"""The wheel, as it is built from the checkout, and a copy of it to run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "inference_platform"
FOLDERS = {
    "components": PACKAGE,
    **{name: f"{PACKAGE}/{name}" for name in ("toolkit", "livefleet", "stacks", "workbench")},
}
"""The folders of the checkout that the wheel has, each with its place in it."""


def pip(*words: str, python: Path | str = sys.executable) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def build(folder: Path) -> Path:
    """Build the wheel from a copy of what it is built of: a build leaves files behind."""
    source, built = folder / "source", folder / "built"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source))
    (found,) = built.glob("*.whl")
    return found


def unpack(wheel: Path, folder: Path) -> Path:
    """Return a folder with the installed wheel and nothing else."""
    pip("install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


def environment(installed: Path) -> dict[str, str]:
    """Nothing of the checkout but its interpreter: the wheel goes before the editable install."""
    return {"PATH": os.environ["PATH"], "HOME": str(installed.parent), "PYTHONPATH": str(installed), "COLUMNS": "200"}
