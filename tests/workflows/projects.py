"""Git repositories with a project in them, branches and all: what a runner checks out."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = """\
name: fleet
runtime: python
config:
  fleet:models: {type: array, items: {type: string}, default: [models/shared]}
"""
FILES = {
    "Pulumi.yaml": PROJECT,
    "Pulumi.dev.yaml": "config:\n  fleet:models: [models/dev.yaml]\n  fleet:namespace: serving\n",
    "Pulumi.prod.yaml": "config:\n  fleet:clusterName: prod\n",
    "__main__.py": "print('the program')\n",
    "models/dev.yaml": "kind: A\n",
    "models/shared/chat.yaml": "kind: B\n",
    "README.md": "# A fleet\n",
    "docs/page.md": "page\n",
}
"""dev names its models; prod takes the default of the project."""

# A plan that does what `workbench plan` does for a pipeline: files, words and an exit code. It says what it was told.
STAND_IN = """\
import pathlib, sys
words = sys.argv[1:]
stack = words[words.index("--stack") + 1]
base = words[words.index("--base") + 1] if "--base" in words else ""
settings = pathlib.Path(f"Pulumi.{stack}.yaml").read_text()
if "crash" in settings:
    sys.exit("Traceback: no plan of " + stack)
for at, word in enumerate(words):
    if word == "--save":
        path = pathlib.Path(words[at + 1])
        sarif = '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}'
        path.write_text(sarif if path.suffix == ".sarif" else f"# Plan of {stack} against {base}\\n")
sys.exit(1 if "broken" in settings else 0)
"""


@dataclass(frozen=True)
class Project:
    """A project in a repository, or in a folder of it.

    Attributes:
        root: Of the repository.
        folder: Of the project.
    """

    root: Path
    folder: Path

    def git(self, *words: str) -> str:
        """Run git as nobody in particular."""
        who = {
            f"GIT_{role}_{what}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *words], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.strip()

    def commit(self, changes: Mapping[str, str | None], message: str = "change") -> str:
        """Write files of the project, delete those that are None, and return the commit."""
        for name, text in changes.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


def project_at(root: Path, below: str = "", files: Mapping[str, str] = FILES) -> Project:
    """Make a repository whose branch main has a project, and a branch ``change`` that is checked out."""
    folder = root / below
    folder.mkdir(parents=True, exist_ok=True)
    made = Project(root, folder)
    made.git("init", "--quiet", "--initial-branch", "main")
    made.commit(files, "start")
    made.git("checkout", "--quiet", "-b", "change")
    return made


def stand_in(folder: Path) -> list[str]:
    """Return the command of a stand-in for ``workbench plan``."""
    path = folder / "stand_in.py"
    path.write_text(STAND_IN)
    return [sys.executable, str(path)]


def step(
    words: Sequence[str], variables: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a step as a workflow does, in a process of its own and with nothing but what a runner sets."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "ci", *words]
    return subprocess.run(
        command, cwd=cwd, env={**environment, **(variables or {})}, capture_output=True, text=True, check=False
    )
