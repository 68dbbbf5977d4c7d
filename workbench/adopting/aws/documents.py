"""Values in files of others, with their paths: whatever is wrong with one is an error that names file and path."""

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from components.contract.texts.printable import printable

from ...errors import WorkbenchError

_LARGEST = 256 * 1024 * 1024
_DIGITS = 10
"""Digits with which a size is not meant; longer ones are not converted."""
_PLAIN = re.compile(r"[A-Za-z_][\w-]*")


class FileValue:
    """A value in a file."""

    def __init__(self, file: str, path: str, value: Any) -> None:  # noqa: ANN401  whatever the file contains
        self.file, self.path, self.raw = file, path, value

    def fail(self, reason: str) -> NoReturn:
        """Raise an error about this value.

        Raises:
            WorkbenchError: always.
        """
        raise WorkbenchError(printable(f"{self.file}: {self.path or 'the file'}: {reason}"))

    def expected(self, what: str) -> NoReturn:
        """Raise an error about the type of this value.

        Raises:
            WorkbenchError: always.
        """
        found = "nothing" if self.raw is None else type(self.raw).__name__
        known = {"dict": "a map", "list": "a list", "str": "a text", "int": "a number", "bool": "true or false"}
        self.fail(f"must be {what}, found {known.get(found, found)}")

    def map(self) -> Mapping[str, Any]:
        """Return a map with text keys; empty if the value is missing."""
        if self.raw is None:
            return {}
        if not isinstance(self.raw, dict) or not all(isinstance(key, str) for key in self.raw):
            self.expected("a map")
        return self.raw

    def at(self, *keys: str) -> "FileValue":
        """Return the value below keys; its ``raw`` is None if it is missing."""
        value = self
        for key in keys:
            name = f".{key}" if _PLAIN.fullmatch(key) else f"[{key!r}]"
            value = FileValue(value.file, (value.path + name).removeprefix("."), value.map().get(key))
        return value

    def items(self) -> Iterator["FileValue"]:
        """Yield the items of a list; none if the value is missing."""
        if self.raw is None:
            return
        if not isinstance(self.raw, list):
            self.expected("a list")
        for index, item in enumerate(self.raw):
            yield FileValue(self.file, f"{self.path}[{index}]", item)

    def text(self) -> str:
        """Return a text; empty if the value is missing."""
        if self.raw is None:
            return ""
        if not isinstance(self.raw, str):
            self.expected("a text")
        return self.raw

    def scalar(self) -> str:
        """Return a text, number or truth value as YAML's authors mean it in labels; empty if it is missing."""
        if isinstance(self.raw, bool):
            return str(self.raw).lower()
        return str(self.raw) if isinstance(self.raw, int | float) else self.text()

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(item.text() for item in self.items())

    def texts_by_key(self) -> dict[str, str]:
        """Return a map of texts, such as labels; without null values."""
        return {key: self.at(key).scalar() for key, raw in self.map().items() if raw is not None}

    def number(self) -> int | None:
        """Return a number; None if the value is missing. CloudFormation also takes texts of digits."""
        if self.raw is None:
            return None
        if isinstance(self.raw, str) and self.raw.isascii() and self.raw.isdigit() and len(self.raw) < _DIGITS:
            return int(self.raw)
        if isinstance(self.raw, bool) or not isinstance(self.raw, int | float) or self.raw != self.raw // 1:
            self.expected("a whole number")
        return int(self.raw)

    def moment(self) -> datetime.datetime | None:
        """Return a time with its zone; None if the value is missing or empty."""
        text = self.text()
        if not text:
            return None
        try:
            found = datetime.datetime.fromisoformat(text)
        except ValueError:
            self.expected("a time such as 2027-01-11T11:30:00Z")
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)

    def truth(self) -> bool:
        """Return a truth value; false if it is missing."""
        if self.raw is None:
            return False
        if not isinstance(self.raw, bool):
            self.expected("true or false")
        return self.raw


def read_document(option: str, path: Path) -> FileValue:
    """Read a JSON or YAML file.

    Raises:
        WorkbenchError: it cannot be read, or is neither.
    """
    file = str(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise WorkbenchError(printable(f"{option}: {file}: is larger than {_LARGEST // 2**20} MiB"))
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise WorkbenchError(printable(f"{option}: {file}: cannot be read: {error.strerror}"), 2) from None
    except UnicodeDecodeError:
        raise WorkbenchError(printable(f"{option}: {file}: is not UTF-8 text"), 2) from None
    try:
        raw = json.loads(text) if text.lstrip()[:1] in ("{", "[") else yaml.load(text, _Loader)  # noqa: S506  safe
    except json.JSONDecodeError as error:
        raise WorkbenchError(
            printable(f"{file}: line {error.lineno}: is not valid JSON: {error.msg}; write the file again")
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise WorkbenchError(printable(f"{file}: {line}is not valid YAML: {problem}")) from None
    return FileValue(file, "", raw)


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms of functions as their long forms."""


def _short_form(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = "Ref" if suffix == "Ref" else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        return {name: str(value).split(".", 1) if suffix == "GetAtt" else value}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    return {name: loader.construct_mapping(node, deep=True)} if isinstance(node, yaml.MappingNode) else {name: None}


_Loader.add_multi_constructor("!", _short_form)
