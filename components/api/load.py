"""Reads manifests: files or folders of YAML in, checked resources and every problem out."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError
from yaml.nodes import Node

from .base import Json
from .collection import paused_collection
from .kinds import KINDS, Kind
from .meta import Resource
from .problems import Problem, did_you_mean, field_path, path_parts
from .yamlread import Document, YamlError, documents, line_of, nodes

SUFFIXES = (".yaml", ".yml")
Found = tuple[tuple[str | int, ...], str]


class Source:
    """A file whose fields can be located."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = text

    @functools.cached_property
    def _nodes(self) -> list[Node]:
        return list(nodes(self._text))

    def line(self, index: int, parts: list[str | int]) -> int:
        """Return the line of a field of a document."""
        return line_of(self._nodes[index], parts)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object stands: a document of a source, or an item of a List in it."""

    source: Source
    index: int
    prefix: tuple[str | int, ...] = ()

    def line(self, path: str) -> int:
        """Return the line of a field, or of its nearest parent that is written."""
        return self.source.line(self.index, [*self.prefix, *path_parts(path)])


@dataclass(frozen=True, slots=True)
class Loaded:
    """A resource and where it came from."""

    resource: Resource
    file: str
    line: int
    place: Place | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, resource: Resource) -> "Loaded":
        """Wrap a resource that a program made."""
        return cls(resource, "<program>", 0)

    def problem(self, path: str, reason: str, severity: str = "error") -> Problem:
        """Return a problem of this resource, at the line of the field."""
        line = self.place.line(path) if self.place else self.line
        name = self.resource.metadata.name
        return Problem(self.file, line, self.resource.kind, name, path, reason, severity)


@dataclass(frozen=True, slots=True)
class Manifests:
    """What was read."""

    resources: tuple[Loaded, ...] = ()
    problems: tuple[Problem, ...] = ()


def load(paths: Iterable[Path | str]) -> Manifests:
    """Read files, and folders with everything below them, in order; each file once.

    Never raises for what it finds: an absent file, bad YAML or a wrong field is a problem.
    """
    resources: list[Loaded] = []
    problems: list[Problem] = []
    with paused_collection():
        for file in _files(paths, problems):
            text = _text(file, problems)
            if text is not None:
                _read(text, str(file), resources, problems)
    return Manifests(tuple(resources), tuple(sorted(problems, key=lambda p: p.place)))


def parse(text: str, file: str = "<text>") -> Manifests:
    """Read manifests from text."""
    resources: list[Loaded] = []
    problems: list[Problem] = []
    with paused_collection():
        _read(text, file, resources, problems)
    return Manifests(tuple(resources), tuple(problems))


def _files(paths: Iterable[Path | str], problems: list[Problem]) -> Iterator[Path]:
    seen = set()
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
            if not found:
                problems.append(_file_problem(path, "no *.yaml or *.yml file in this folder", severity="warning"))
        elif path.exists():
            found = [path]
        else:
            problems.append(_file_problem(path, "no such file or folder; check the path"))
            continue
        for file in found:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _text(file: Path, problems: list[Problem]) -> str | None:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_file_problem(file, "not UTF-8 text; save the file as UTF-8", line))
    except OSError as error:
        problems.append(_file_problem(file, f"cannot be read: {error.strerror}"))
    return None


def _file_problem(path: Path, reason: str, line: int = 1, severity: str = "error") -> Problem:
    return Problem(str(path), line, "", "", "", reason, severity)


def _read(text: str, file: str, resources: list[Loaded], problems: list[Problem]) -> None:
    source = Source(file, text)
    try:
        for document in documents(text):
            if document.value is not None:
                _document(document, source, resources, problems)
    except YamlError as error:
        problems.append(Problem(file, error.line, "", "", "", error.reason))


def _document(document: Document, source: Source, resources: list[Loaded], problems: list[Problem]) -> None:
    value = document.value
    place = Place(source, document.index)
    if document.duplicates:
        kind, name = _identity(value)
        problems += [
            Problem(source.file, line, kind, name, "", f"key {key!r} is written twice in one map; remove one")
            for line, key in document.duplicates
        ]
        return
    if isinstance(value, dict) and value.get("kind") == "List" and value.get("apiVersion") == "v1":
        items = value.get("items")
        if not isinstance(items, list):
            reason = "must be a list of objects; write them as items or as documents of their own"
            problems.append(Problem(source.file, place.line("items"), "List", "", "items", reason))
            return
        for index, item in enumerate(items):
            inner = Place(source, document.index, ("items", index))
            _object(item, document, inner, resources, problems)
        return
    _object(value, document, place, resources, problems)


def _object(value: Json, document: Document, place: Place, resources: list[Loaded], problems: list[Problem]) -> None:
    file = place.source.file
    line = document.line if not place.prefix else place.line("")
    if not isinstance(value, dict):
        problems.append(Problem(file, line, "", "", "", "must be a map with apiVersion, kind, metadata and spec"))
        return
    api_version, kind_name = value.get("apiVersion"), value.get("kind")
    kind = (
        KINDS.get((api_version, kind_name)) if isinstance(api_version, str) and isinstance(kind_name, str) else None
    )
    if kind is None:
        path, reason = _unknown_kind(api_version, kind_name)
        problems.append(Problem(file, place.line(path), *_identity(value), path, reason))
        return
    resource, found = check(value, kind, odd=document.odd)
    if resource is not None:
        loaded = Loaded(resource, file, line, place)
        resources.append(loaded)
        if resource.metadata.namespace and not kind.namespaced:
            reason = f"has no effect: {kind.kind} is cluster-scoped; remove it"
            problems.append(loaded.problem("metadata.namespace", reason, "warning"))
    identity = _identity(value)
    for parts, reason in found:
        path = field_path(parts)
        problems.append(Problem(file, place.line(path), *identity, path, reason))


def check(value: dict[str, Any], kind: Kind, *, odd: bool = True) -> tuple[Resource | None, list[Found]]:
    """Check one object of a known kind as the API server's admission does.

    Args:
        value: The object in wire form; it is not changed.
        kind: Its kind.
        odd: Whether nulls or floats may occur in it.

    Returns:
        The resource, or None, and every problem as path and reason. Status is checked for unknown fields only
        and dropped, as on creation.
    """
    found: list[Found] = []
    if odd or "status" in value:
        from .structural import clean, graph, unknown

        schema = graph(kind)
        status = schema.root["properties"].get("status")
        if "status" in value and status is not None:
            found += [
                (path, f"unknown field{did_you_mean(str(path[-1]), schema.fields_at(path[:-1]))}")
                for path in unknown(value["status"], schema, status, ("status",))
            ]
            value = {key: inner for key, inner in value.items() if key != "status"}
        value = clean(value, schema, schema.root)
    try:
        resource = kind.model.model_validate(value)
    except ValidationError as error:
        from .messages import explain

        reasons = list(explain(error, kind))
        return None, [*found, *_name_problems(value, kind, reasons), *reasons]
    return (None if found else resource), found


def _name_problems(value: dict[str, Any], kind: Kind, known: list[Found]) -> list[Found]:
    """Check the name although the object is broken elsewhere; pydantic leaves the outermost rules out then."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or any(path == ("metadata", "name") for path, _ in known):
        return []
    named = SimpleNamespace(metadata=SimpleNamespace(name=name))
    return [found for rule in kind.model.rules for found in rule.problems(named)]


def _unknown_kind(api_version: object, kind: object) -> tuple[str, str]:
    titles = ", ".join(k.title for k in KINDS.values())
    if not isinstance(api_version, str) or not api_version:
        return "apiVersion", f"is required, found {api_version!r}; use one of {titles}"
    if not isinstance(kind, str) or not kind:
        return "kind", f"is required, found {kind!r}; use one of {titles}"
    for known in KINDS.values():
        if known.kind == kind:
            return "apiVersion", f"must be '{known.api_version}' for kind {kind}, found {api_version!r}"
    hint = did_you_mean(kind, [k.kind for k in KINDS.values()])
    return "kind", f"unknown kind '{api_version}/{kind}'{hint or f'; known are {titles}'}"


def _identity(value: Json) -> tuple[str, str]:
    """Return kind and name for a message, whatever the value is."""
    if not isinstance(value, dict):
        return "", ""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind")
    return kind if isinstance(kind, str) else "", name if isinstance(name, str) else "?"
