"""Copies of the upstream repositories, where they are at hand.

``INFERENCE_PLATFORM_UPSTREAM`` names a folder with a checkout of each repository of ``data/examples.yaml``, under the
name that it has there, at the commit that it names: ``llmaz``, ``llmkube``, ``llmkube-later``, ``lws``.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = "INFERENCE_PLATFORM_UPSTREAM"
DATA = Path(__file__).parent / "data"
ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Repository:
    """The examples of a repository at a commit, and what becomes of each.

    Attributes:
        folders: Where it has its examples.
        examples: The reasons why each is refused, by path; none where it is accepted.
    """

    name: str
    repository: str
    commit: str
    folders: tuple[str, ...]
    examples: dict[str, tuple[str, ...]]

    def checkout(self) -> Path:
        """Return the folder of the checkout; skip the test where there is none of this commit."""
        base = os.environ.get(FOLDER)
        here = Path(base) / self.name if base else None
        if here is None or not here.is_dir():
            pytest.skip(f"no checkout of {self.repository} at {self.commit[:7]}: set {FOLDER} to a folder with one")
        if (here / ".git").exists():
            command = ["git", "-C", str(here), "rev-parse", "HEAD"]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            assert found == self.commit, f"{here} is a checkout of another commit"
        return here


def read(name: str) -> dict[str, Any]:
    """Return a table of this folder."""
    found: dict[str, Any] = yaml.safe_load((DATA / name).read_text(encoding="utf-8"))
    return found


def repositories() -> list[Repository]:
    """Return every repository with the verdicts on its examples."""
    return [
        Repository(
            name=name,
            repository=row["repository"],
            commit=row["commit"],
            folders=tuple(row["folders"]),
            examples={path: () if why == ACCEPTED else tuple(why) for path, why in row["examples"].items()},
        )
        for name, row in read("examples.yaml").items()
    ]
