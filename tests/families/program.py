"""Register families that only tests have, in this process and in the program of a Pulumi project."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.families import FAMILIES
from components.families.family import Family

ROOT = Path(__file__).parents[2]
LAST = sys.maxsize
PROGRAM = """
from stacks.environment import deploy
from stacks.settings import read
from tests.families.program import registered
from {module} import FAMILY

with registered(FAMILY):
    deploy(read())
"""


@contextmanager
def registered(family: Family, position: int = LAST) -> Iterator[None]:
    """Register a family, by default after all others, and remove it at the end."""
    FAMILIES.insert(position, family)
    try:
        yield
    finally:
        FAMILIES.remove(family)


@dataclass(frozen=True, slots=True)
class Project:
    """A Pulumi project whose program registers a family."""

    folder: Path
    stack: str

    def workbench(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the workbench on the stack with the local engine."""
        line = [sys.executable, "-m", "workbench", verb, "--stack", self.stack, "--engine", "local"]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "KUBECONFIG": ""}
        return subprocess.run(
            [*line, "--cwd", str(self.folder), *words],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def new_project(folder: Path, stack: str, module: str, manifests: str, **settings: Any) -> Project:
    """Write a project with one stack on simulated nodes.

    Args:
        folder: An empty folder.
        stack: Name of the stack.
        module: The module that defines ``FAMILY``.
        manifests: The models as YAML.
        settings: Further settings of the stack.
    """
    (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (folder / "__main__.py").write_text(PROGRAM.format(module=module))
    (folder / "models.yaml").write_text(manifests)
    config = {"kubeconfig": "absent", "models": ["models.yaml"], "simulatedNodes": True, **settings}
    keys = {f"inference-platform:{key}": value for key, value in config.items()}
    (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": keys}))
    return Project(folder, stack)
