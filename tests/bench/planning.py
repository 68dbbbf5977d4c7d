"""``workbench plan --base`` against ``workbench preview``: two revisions against one, both without a cluster.

The project is a repository with all of the code in it, so that the base is planned by its own.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from .fleets import write_fleet
from .measure import Contestant, medians

ROOT = Path(__file__).parents[2]
MODELS, RUNS = 100, 5
NAMESPACE = "bench"
GOAL = 2.2
_EXPLAINED = f"""\
`plan --base` compares the work tree with a commit that has one replica less of one model, and is planned by its own
code. Neither contacts a cluster. The goal is {GOAL}."""


def project(folder: Path) -> Path:
    """Return a repository of two commits with the code and a fleet in it."""
    folder.mkdir()
    for name in ("components", "stacks", "toolkit", "livefleet", "workbench"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    write_fleet(folder / "models", MODELS)
    config = {
        "inference-platform:kubeconfig": "nowhere",
        "inference-platform:models": ["models"],
        "inference-platform:namespace": NAMESPACE,
    }
    (folder / "Pulumi.bench.yaml").write_text(yaml.safe_dump({"config": config}))
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all", "--", ":!*/__pycache__")
    _git(folder, "commit", "--quiet", "--message", "base")
    first = folder / "models" / "team-00.yaml"
    first.write_text(first.read_text().replace("replicas: 0", "replicas: 1", 1))
    return folder


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@bench.example"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def measure(folder: Path, runs: int = RUNS) -> dict[str, float]:
    """Return seconds by contestant; each runs once before, so that all code is compiled."""
    workbench = [sys.executable, "-m", "workbench"]
    stack = ["--stack", "bench"]
    contestants = [
        Contestant("preview", [*workbench, "preview", *stack, "--engine", "local", "--offline"], folder),
        Contestant("plan", [*workbench, "plan", *stack], folder),
        Contestant("plan --base", [*workbench, "plan", *stack, "--base", "HEAD"], folder),
    ]
    env = {"PYTHONPATH": str(folder)}
    medians(contestants, 1, env)
    return medians(contestants, runs, env)


def table() -> str:
    """Return the table."""
    with tempfile.TemporaryDirectory() as scratch:
        taken = measure(project(Path(scratch) / "project"))
    head = f"| {MODELS} models | preview --offline | plan | plan --base | plan --base / preview |"
    cells = [f"{taken[name]:.2f}" for name in ("preview", "plan", "plan --base")]
    row = f"| seconds | {' | '.join(cells)} | {taken['plan --base'] / taken['preview']:.2f} |"
    return "\n".join([head, "|---|--:|--:|--:|--:|", row, "", _EXPLAINED])


if __name__ == "__main__":
    print(table())  # noqa: T201
