"""The file of a stack, ``Pulumi.<stack>.yaml``: the one place that writes where a setting is."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from components.contract.documents.positions import Lines, LocatedDocument
from components.contract.documents.reader import YamlError
from components.contract.problems import Problem
from components.contract.tables import read_table
from components.contract.texts.printable import printable

from . import PROJECT


@dataclass(frozen=True)
class StackFile:
    """The file of a stack, to locate its settings in messages.

    Attributes:
        name: Name of the file, for messages.
        folder: The project folder; None if the settings are not in a file yet.
    """

    name: str
    folder: Path | None = None

    def message(self, path: str, reason: str) -> str:
        """Return a message about the setting at a path."""
        return self.at(f"{PROJECT}:{path}", reason)

    def at(self, key: str, reason: str) -> str:
        """Return a message about a key of any project, which may be followed by a path."""
        line = self.line(key)
        place = f"{self.name}:{line}" if line else self.name
        return f"{place}: {printable(key)}: {printable(reason)}"

    def located(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return problems with the full keys and the lines of settings; those of manifests are unchanged."""
        return tuple(self._located(problem) for problem in problems)

    def _located(self, problem: Problem) -> Problem:
        if problem.kind or problem.file != self.name or not problem.path:
            return problem
        key = f"{PROJECT}:{problem.path}"
        return replace(problem, line=self.line(key), path=key)

    def line(self, key: str) -> int:
        """Return the line of a key, or of the nearest parent in the file; 0 without a file."""
        document = self._document
        if document is None:
            return 0
        line = document.line_at(f"config.{key}")
        # Keys of the project itself may be written without its name.
        return line if line != document.line_at("config") else document.line_at(f"config.{key.partition(':')[2]}")

    def config(self) -> Mapping[str, Any]:
        """Return the values in the file, with secrets as they are stored; empty if it cannot be read."""
        try:
            content = read_table(self._path) if self._path else None
        except (OSError, ValueError, StopIteration, YamlError):
            return {}
        config = content.get("config") if isinstance(content, dict) else None
        return config if isinstance(config, dict) else {}

    @property
    def _path(self) -> Path | None:
        if self.folder is None:
            return None
        try:
            below = str(read_table(self.folder / "Pulumi.yaml").get("stackConfigDir") or "")
        except (OSError, ValueError, StopIteration, YamlError):
            below = ""
        return self.folder / below / self.name

    @functools.cached_property
    def _document(self) -> LocatedDocument | None:
        """The content with positions, which is read only for messages."""
        path = self._path
        return located_document(path) if path else None


def located_document(file: Path) -> LocatedDocument | None:
    """Return the content of a file with positions; None if it cannot be read, or is not YAML."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None  # The Pulumi CLI can read settings from another file.
    # Neither composer accepts every text that a project is read from: libyaml alone accepts a tab in a word.
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        try:
            node = yaml.compose(text, loader)
        except (ValueError, RecursionError, yaml.YAMLError):
            continue
        return LocatedDocument(node, Lines(text)) if node else None
    return None
