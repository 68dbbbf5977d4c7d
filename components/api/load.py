"""Reads manifests: files or folders of YAML in, checked resources and every problem out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .base import Json
from .checking import check
from .collection import paused_collection
from .documents.positions import DocumentSpan, LocatedDocument
from .documents.reader import Document, YamlError, documents, locate
from .kinds import Kind, Kinds
from .meta import Resource
from .problems import Problem, Severity, did_you_mean, field_path, path_parts
from .texts.secrets import masked_text, secret_texts

SUFFIXES = (".yaml", ".yml")


class Source:
    """A file whose fields can be located. The document that was last asked for is at hand."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = text
        self._held: tuple[DocumentSpan, LocatedDocument] | None = None

    def hold(self, document: Document) -> None:
        """Keep a document at hand while it is read."""
        self._held = (document.span, document.located)

    def release(self) -> None:
        """Let go of the document at hand: a node tree takes far more memory than its text."""
        self._held = None

    def line(self, span: DocumentSpan, parts: list[str | int]) -> int:
        """Return the line of a field of a document."""
        if self._held is None or self._held[0] != span:
            self._held = (span, locate(self._text, span))
        return self._held[1].line(parts)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object stands: a document of a source, or an item of a List in it."""

    source: Source
    span: DocumentSpan
    prefix: tuple[str | int, ...] = ()

    def line(self, path: str) -> int:
        """Return the line of a field, or of its nearest parent that is written."""
        return self.source.line(self.span, [*self.prefix, *path_parts(path)])


@dataclass(frozen=True, slots=True)
class Loaded:
    """A resource, its kind and where it came from."""

    resource: Resource
    kind: Kind
    file: str
    line: int
    place: Place | None = field(default=None, repr=False, compare=False)
    _secrets: list[frozenset[str]] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, resource: Resource, kind: Kind) -> "Loaded":
        """Wrap a resource that a program made."""
        return cls(resource, kind, "<program>", 0)

    @property
    def name(self) -> str:
        """Name of the resource."""
        return self.resource.metadata.name

    @property
    def title(self) -> str:
        """``Kind/name``, as messages name it."""
        return f"{self.resource.kind}/{self.name}"

    @property
    def where(self) -> str:
        """The resource and its place, for messages about another one."""
        return f"{self.title} in {self.file}:{self.line}" if self.line else f"{self.title} in {self.file}"

    @property
    def secrets(self) -> frozenset[str]:
        """Secrets that are written in it in clear; no message shows them."""
        if not self._secrets:
            self._secrets.append(secret_texts(self.resource.wire()))
        return self._secrets[0]

    def problem(self, path: str, reason: str, severity: Severity = Severity.ERROR) -> Problem:
        """Return a problem of this resource, at the line of the field."""
        reason = masked_text(reason, self.secrets)
        line = self.place.line(path) if self.place else self.line
        name = self.resource.metadata.name
        return Problem(self.file, line, self.resource.kind, name, path, reason, severity)


@dataclass(frozen=True, slots=True)
class Manifests:
    """What was read."""

    resources: tuple[Loaded, ...] = ()
    problems: tuple[Problem, ...] = ()


def load(paths: Iterable[Path | str], kinds: Kinds) -> Manifests:
    """Read files, and folders with everything below them, in order; each file once.

    Never raises for what it finds: an absent file, bad YAML or a wrong field is a problem.
    """
    reader = _ManifestReader(kinds)
    with paused_collection():
        for file in _files(paths, reader.problems):
            text = _text(file, reader.problems)
            if text is not None:
                reader.read(text, str(file))
    return Manifests(tuple(reader.resources), tuple(sorted(reader.problems, key=lambda p: p.place)))


def parse(text: str, kinds: Kinds, file: str = "<text>") -> Manifests:
    """Read manifests from text."""
    reader = _ManifestReader(kinds)
    with paused_collection():
        reader.read(text, file)
    return Manifests(tuple(reader.resources), tuple(reader.problems))


def objects(values: Iterable[Json], kinds: Kinds, file: str = "<program>") -> Manifests:
    """Take manifests that a program has as data, each an object in wire form."""
    reader = _ManifestReader(kinds)
    for value in values:
        reader.take(value, file)
    return Manifests(tuple(reader.resources), tuple(reader.problems))


def _files(paths: Iterable[Path | str], problems: list[Problem]) -> Iterator[Path]:
    seen = set()
    for given in paths:
        for file in _below(Path(given), problems):
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _below(path: Path, problems: list[Problem]) -> list[Path]:
    """Return a file, or the manifests of a folder."""
    try:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
            if not found:
                reason = "no *.yaml or *.yml file in this folder"
                problems.append(_file_problem(path, reason, severity=Severity.WARNING))
            return found
        if path.is_file():
            return [path]
        there = path.exists()
    except OSError as error:
        problems.append(_file_problem(path, f"cannot be read: {error.strerror}"))
        return []
    reason = "is neither a file nor a folder; pass a manifest file" if there else "no such file or folder"
    problems.append(_file_problem(path, reason if there else f"{reason}; check the path"))
    return []


def _text(file: Path, problems: list[Problem]) -> str | None:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_file_problem(file, "not UTF-8 text; save the file as UTF-8", line))
    except OSError as error:
        problems.append(_file_problem(file, f"cannot be read: {error.strerror}"))
    return None


def _file_problem(path: Path, reason: str, line: int = 1, severity: Severity = Severity.ERROR) -> Problem:
    return Problem(str(path), line, "", "", "", reason, severity)


class _ManifestReader:
    """Collects resources and problems, whatever the text."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.resources: list[Loaded] = []
        self.problems: list[Problem] = []

    def read(self, text: str, file: str) -> None:
        """Read the documents of a file."""
        source = Source(file, text)
        try:
            for document in documents(text):
                if document.value is not None:
                    source.hold(document)
                    self._document(document, source)
        except YamlError as error:
            self.problems.append(Problem(file, error.line, "", "", "", error.reason))
        source.release()

    def take(self, value: Json, file: str) -> None:
        """Take one object that has no text."""
        self._object(value, file, 0, None, odd=True)

    def _document(self, document: Document, source: Source) -> None:
        value = document.value
        place = Place(source, document.span)
        if document.duplicates:
            kind, name = _identity(value)
            self.problems += [
                Problem(source.file, line, kind, name, "", f"key {key!r} appears twice in the same map; remove one")
                for line, key in document.duplicates
            ]
            return
        if isinstance(value, dict) and value.get("kind") == "List" and value.get("apiVersion") == "v1":
            self._list(value, document, place)
            return
        self._object(value, source.file, document.span.line, place, odd=document.odd)

    def _list(self, value: dict[str, Any], document: Document, place: Place) -> None:
        items = value.get("items")
        file = place.source.file
        if not isinstance(items, list):
            reason = "must be a list of objects; list them under items, or put each into its own document"
            self.problems.append(Problem(file, place.line("items"), "List", "", "items", reason))
            return
        for index, item in enumerate(items):
            inner = Place(place.source, document.span, ("items", index))
            self._object(item, file, inner.line(""), inner, odd=document.odd)

    def _object(self, value: Json, file: str, line: int, place: Place | None, *, odd: bool) -> None:
        if not isinstance(value, dict):
            reason = "must be a map with apiVersion, kind, metadata and spec"
            self.problems.append(Problem(file, line, "", "", "", reason))
            return

        secrets: list[frozenset[str]] = []

        def problem(path: str, reason: str) -> None:
            at = place.line(path) if place else line
            secrets[:] = secrets or [secret_texts(value)]
            self.problems.append(Problem(file, at, *_identity(value), path, masked_text(reason, secrets[0])))

        kind = self.kinds.find(value.get("apiVersion"), value.get("kind"))
        if kind is None:
            problem(*_unknown_kind(value.get("apiVersion"), value.get("kind"), self.kinds))
            return
        resource, found = check(value, kind, odd=odd)
        if resource is not None:
            loaded = Loaded(resource, kind, file, line, place)
            self.resources.append(loaded)
            if resource.metadata.namespace and not kind.namespaced:
                reason = f"has no effect: {kind.kind} is cluster-scoped; remove it"
                self.problems.append(loaded.problem("metadata.namespace", reason, Severity.WARNING))
        for parts, reason in found:
            problem(field_path(parts), reason)


def _unknown_kind(api_version: object, kind: object, kinds: Kinds) -> tuple[str, str]:
    titles = ", ".join(kinds.titles)
    if not isinstance(api_version, str) or not api_version:
        return "apiVersion", f"is required, found {api_version!r}; use one of {titles}"
    if not isinstance(kind, str) or not kind:
        return "kind", f"is required, found {kind!r}; use one of {titles}"
    for known in kinds:
        if known.kind == kind:
            return "apiVersion", f"must be '{known.api_version}' for kind {kind}, found {api_version!r}"
    hint = did_you_mean(kind, [k.kind for k in kinds])
    return "kind", f"unknown kind '{api_version}/{kind}'{hint or f'; known kinds: {titles}'}"


def _identity(value: Json) -> tuple[str, str]:
    """Return kind and name for a message, whatever the value is."""
    if not isinstance(value, dict):
        return "", ""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind")
    return kind if isinstance(kind, str) else "", name if isinstance(name, str) else "?"
