"""The stack of a command: the one place that decides it, for every command (docs/workbench.md).

It reads texts, not YAML: a command outside a project does not pay for it.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import WorkbenchError

NO_STACK = "none"
"""Value of ``--stack`` for default settings."""
DEFAULT_STACK = "local"
"""The stack of a command that is not told another one, where the project has it."""
_STDIN = "-"
_PROJECT_FILE = "Pulumi.yaml"
_CONFIG_FOLDER = r"""^stackConfigDir:\s*["']?([^"'#\s]+)"""


class ChosenStack(NamedTuple):
    """The stack whose settings apply.

    Attributes:
        name: Empty for default settings.
        folder: The project folder.
    """

    name: str
    folder: Path

    @property
    def title(self) -> str:
        """The stack, for a line of output."""
        return f"stack: {self.name}" if self.name else "no stack: default settings"


def choose_stack(cwd: Path, name: str | None = None, paths: Sequence[Path] = ()) -> ChosenStack:
    """Return the stack of a command.

    ``--stack`` wins. Else, in a project of this program, it is ``local``, or the only stack. Manifests that belong to
    no project, or to another one, have default settings.

    Args:
        cwd: The project folder, or a folder below it.
        name: The value of ``--stack``; None or empty without it.
        paths: The manifests of the command; empty for those of the stack.

    Raises:
        WorkbenchError: the project has several stacks, and none is called ``local``.
    """
    if name == NO_STACK:
        return ChosenStack("", cwd)
    folder = project_folder(cwd)
    if name:
        return ChosenStack(name, folder or cwd)
    if folder is None or not _has_any(folder, paths):
        return ChosenStack("", cwd)
    names = stacks_of(folder)
    if DEFAULT_STACK in names:
        return ChosenStack(DEFAULT_STACK, folder)
    if len(names) > 1:
        raise WorkbenchError(
            f"{folder / _PROJECT_FILE}: has the stacks {', '.join(names)}, and none called {DEFAULT_STACK}; pass "
            f"--stack NAME, or --stack {NO_STACK} for default settings",
            2,
        )
    return ChosenStack(names[0], folder) if names else ChosenStack("", cwd)


def project_folder(start: Path) -> Path | None:
    """Return the nearest folder with a Pulumi.yaml, as Pulumi finds it; None outside of projects.

    It is relative if the current folder is below it, because messages name its files.
    """
    if (start / _PROJECT_FILE).is_file():
        return start
    for folder in start.resolve().parents:
        if (folder / _PROJECT_FILE).is_file():
            return Path(os.path.relpath(folder))
    return None


def stacks_of(folder: Path) -> list[str]:
    """Return the stacks with settings of this program; empty for a project with a program of its own."""
    from stacks import PROJECT

    # A project of this name, or a setting of the program.
    ours = re.compile(rf"""^name:\s*["']?{PROJECT}["']?\s*(\#.*)?$|^\s+["']?{PROJECT}:\w""", re.MULTILINE | re.ASCII)
    text = _read(folder / _PROJECT_FILE)
    configured = re.search(_CONFIG_FOLDER, text, re.MULTILINE)
    files = sorted((folder / configured[1] if configured else folder).glob("Pulumi.*.yaml"))
    if not ours.search(text):
        files = [file for file in files if ours.search(_read(file))]
    return [file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files]


def _has_any(folder: Path, paths: Sequence[Path]) -> bool:
    """Whether a path belongs to the project: no other project is nearer."""
    if not paths:
        return True
    real = folder.resolve()
    for path in paths:
        if str(path) == _STDIN:
            return True
        nearest = next((parent for parent in path.resolve().parents if (parent / _PROJECT_FILE).is_file()), None)
        if real in (path.resolve(), nearest):
            return True
    return False


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # reading the settings reports the error
