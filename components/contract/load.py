"""Reads manifests from YAML files and folders, and returns validated resources and all problems."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from .base import Json
from .checking import check, without_faults
from .collection import paused_collection
from .documents.files import manifest_files, read_manifest, read_stream
from .documents.reader import Document, YamlError, read_documents
from .documents.source import Location, Source
from .findings.annotations import reason_to_ignore
from .findings.ids import RuleId
from .kinds import Kind, Kinds
from .meta import Resource
from .problems import Owner, Problem, Severity, did_you_mean, field_path, some_of

_MOST_BREAKS = 20
"""Maximum number of invalid YAML documents per file; the rest of the file is then not read."""
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_NO_BREAK = re.compile("[^\n\r\x85\u2028\u2029]")
"""All characters except the line breaks of YAML 1.1."""
_RESOLVED = dict.fromkeys(("apiVersion", "kind"), "write '---' on a line before it if another resource starts there")
"""What to do about a key that appears twice, if it is not to remove one."""
_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_KIND = re.compile(r"^kind:\s*['\"]?([A-Za-z]{1,63})", re.MULTILINE)
_NAME = re.compile(
    r"^metadata:\s*\{?(?:[^\n]*\n[ \t]+|[^\n]*,\s*|\s*)?name:\s*['\"]?([-a-z0-9.]{1,253})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LoadedResource:
    """A validated resource with its kind and location."""

    resource: Resource
    kind: Kind
    file: str
    line: int
    location: Location | None = field(default=None, repr=False, compare=False)
    _secrets: list[frozenset[str]] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def from_program(cls, resource: Resource, kind: Kind) -> "LoadedResource":
        """Wrap a resource that was created in Python, without a file."""
        return cls(resource, kind, "<program>", 0)

    @property
    def name(self) -> str:
        return self.resource.metadata.name

    @property
    def title(self) -> str:
        """``Kind/name``, as used in messages."""
        return f"{self.resource.kind}/{self.name}"

    @property
    def owner(self) -> Owner:
        metadata = self.resource.metadata
        return Owner(self.file, self.resource.kind, metadata.name, metadata.namespace or "")

    @property
    def where(self) -> str:
        """The resource and its location, for messages about other resources."""
        return f"{self.title} in {self.file}:{self.line}" if self.line else f"{self.title} in {self.file}"

    @property
    def secrets(self) -> frozenset[str]:
        """Texts of the manifest that are or may be secrets, which messages must hide."""
        if not self._secrets:
            from .texts.secrets import quoted_texts

            self._secrets.append(quoted_texts(self.resource.wire()))
        return self._secrets[0]

    def with_resource(self, resource: Resource) -> "LoadedResource":
        """Return a copy with another version of the resource, which is in no file."""
        other = replace(self, resource=resource, location=None)
        # A version differs in one field and adds no secret. Searching again would take most of the time of a trial
        # if manifests contain scripts and files.
        other._secrets.append(self.secrets)  # noqa: SLF001  of the same class
        return other

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of this resource, at the line of the field."""
        from .texts.secrets import masked_text

        reason = masked_text(reason, self.secrets)
        line = self.location.line(path) if self.location else self.line
        metadata = self.resource.metadata
        ignored = masked_text(reason_to_ignore(metadata.annotations, rule), self.secrets)
        return Problem(
            file=self.file,
            line=line,
            kind=self.resource.kind,
            name=metadata.name,
            path=path,
            reason=reason,
            severity=severity,
            rule=rule,
            namespace=metadata.namespace or "",
            ignored=ignored,
        )

    def written(self, path: str) -> str:
        """Return the field of the manifest from which a field comes: itself."""
        return path


@dataclass(frozen=True, slots=True)
class OtherObject:
    """A manifest of an unsupported API, unchanged. Callers decide whether it is allowed."""

    value: dict[str, Any]
    file: str
    line: int
    location: Location | None = field(default=None, repr=False, compare=False)

    @property
    def title(self) -> str:
        """``apiVersion/Kind``."""
        return f"{self.value['apiVersion']}/{self.value['kind']}"

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        """Return a problem of this object, at the line of the field."""
        from .texts.secrets import masked_text, quoted_texts

        reason = masked_text(reason, quoted_texts(self.value))
        line = self.location.line(path) if self.location else self.line
        kind, name = _identity(self.value)
        return Problem(
            file=self.file,
            line=line,
            kind=kind,
            name=name,
            path=path,
            reason=reason,
            severity=severity,
            rule=rule,
            namespace=_namespace(self.value),
        )

    def written(self, path: str) -> str:
        """Return the field of the manifest from which a field comes: itself."""
        return path


@dataclass(frozen=True, slots=True)
class Manifests:
    """The result of reading manifests.

    Attributes:
        others: Objects of unsupported APIs.
        count: Number of objects read, valid or not.
        files: Number of files read.
        partial: Invalid resources without their invalid fields, each of which is among the problems. They are used
            only to find further problems; no objects may be created from them.
    """

    resources: tuple[LoadedResource, ...] = ()
    problems: tuple[Problem, ...] = ()
    others: tuple[OtherObject, ...] = ()
    count: int = 0
    files: int = 0
    partial: tuple[LoadedResource, ...] = ()

    @classmethod
    def merged(cls, parts: Iterable["Manifests"]) -> "Manifests":
        """Merge several results."""
        resources: list[LoadedResource] = []
        problems: list[Problem] = []
        others: list[OtherObject] = []
        partial: list[LoadedResource] = []
        count = files = 0
        for part in parts:
            resources += part.resources
            problems += part.problems
            others += part.others
            partial += part.partial
            count += part.count
            files += part.files
        problems.sort(key=lambda problem: problem.sort_key)
        return cls(
            resources=tuple(resources),
            problems=tuple(problems),
            others=tuple(others),
            count=count,
            files=files,
            partial=tuple(partial),
        )


def load(paths: Iterable[Path | str], kinds: Kinds) -> Manifests:
    """Read files and, recursively, folders, in order; each file once.

    Never raises for bad input: a missing file, invalid YAML, or an invalid field becomes a problem.
    """
    reader = _ManifestReader(kinds)
    with paused_collection():
        for file in manifest_files(paths, reader.problems):
            text = read_manifest(file, reader.problems)
            if text is not None:
                reader.read(text, str(file))
    return reader.result(of_files=True)


def load_stream(stream: BinaryIO, kinds: Kinds, file: str) -> Manifests:
    """Read manifests from an open file, such as standard input."""
    reader = _ManifestReader(kinds)
    with paused_collection():
        text = read_stream(stream, file, reader.problems)
        if text is not None:
            reader.read(text, file)
    return reader.result(of_files=True)


def parse(text: str, kinds: Kinds, file: str = "<text>") -> Manifests:
    """Read manifests from text."""
    reader = _ManifestReader(kinds)
    with paused_collection():
        reader.read(text, file)
    return reader.result()


def load_objects(values: Iterable[Json], kinds: Kinds, file: str = "<program>") -> Manifests:
    """Validate manifests that are already parsed, each an object in wire form."""
    reader = _ManifestReader(kinds)
    for value in values:
        reader.read_object(value, 0, None, file)
    return reader.result()


class _ManifestReader:
    """Collects resources and problems from one or more texts."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.resources: list[LoadedResource] = []
        self.problems: list[Problem] = []
        self.others: list[OtherObject] = []
        self.partial: list[LoadedResource] = []
        self._empty: list[tuple[str, bool]] = []
        self._count = 0
        self._documents = 0
        self._files = 0
        self._may_hide = True
        """Whether the text is not ASCII, or has escapes. Objects of programs and clusters have no text."""

    def result(self, *, of_files: bool = False) -> Manifests:
        problems = self.problems
        if of_files:
            problems = sorted([*problems, *self._empty_files()], key=lambda p: p.sort_key)
        return Manifests(
            resources=tuple(self.resources),
            problems=tuple(problems),
            others=tuple(self.others),
            count=self._count,
            files=self._files,
            partial=tuple(self.partial),
        )

    def _empty_files(self) -> Iterator[Problem]:
        """Report files without any object.

        An empty file is an error if there is nothing else, as for ``kubectl apply``. One with comments was written on
        purpose, such as that of a stack whose models are yet to come.
        """
        for file, has_comments in self._empty:
            what = "contains only comments" if has_comments else "is empty"
            reason = f"{what}; write a manifest into it (`workbench init` writes one to start from), or remove it"
            severity = Severity.WARNING if self._count or has_comments else Severity.ERROR
            yield Problem(file=file, path="", reason=reason, severity=severity, rule=RuleId.MANIFEST_EMPTY)

    def read(self, text: str, file: str) -> None:
        before = self._documents, len(self.problems)
        self._may_hide = not text.isascii() or "\\" in text
        self._read(text, file)
        if before == (self._documents, len(self.problems)):
            self._empty.append((file, "#" in text))
        if not text.isascii() or "\r" in text:
            self._comments(text, file)

    def _comments(self, text: str, file: str) -> None:
        """Report what is not seen outside of values."""
        from .texts.unseen import unseen_comments

        self.problems += [
            Problem(
                file=file, line=line, path="", reason=reason, severity=Severity.WARNING, rule=RuleId.CHARACTER_UNSEEN
            )
            for line, reason in unseen_comments(text)
        ]

    def _read(self, text: str, file: str) -> None:
        self._files += 1
        source = Source(file, text)
        start, first = 0, self._documents
        for _ in range(_MOST_BREAKS):
            try:
                # Text before the start is blanked rather than cut, so that positions stay valid.
                for document in read_documents(_NO_BREAK.sub(" ", text[:start]) + text[start:]):
                    if document.value is not None:
                        source.hold(document)
                        if self._documents == first and not isinstance(document.value, dict):
                            # The first words of a text in another format are a YAML scalar.
                            from .foreign import text_reason

                            foreign = text_reason(text, file)
                            if foreign:
                                self.problems.append(Problem(file=file, line=foreign[0], path="", reason=foreign[1]))
                                break
                        self._document(document, source)
                break
            except YamlError as error:
                from .foreign import template_reason, text_reason

                foreign = template_reason(text, error.line) or (text_reason(text, file) if start == 0 else None)
                if foreign:
                    self.problems.append(Problem(file=file, line=foreign[0], path="", reason=foreign[1]))
                    break
                # Resume at the next separator after the error: an unclosed string or list extends at most to it.
                separators = list(_separators(text))
                resume = next((at for at, line in separators if at > start and line >= error.line), None)
                earlier = (at for at, line in separators if line <= error.line and at != resume)
                part = text[max(earlier, default=start) : resume]
                # With kind and name, references to the invalid document are not reported as missing.
                kind, name = _KIND.search(part), _NAME.search(part)
                self.problems.append(
                    Problem(
                        file=file,
                        line=error.line,
                        kind=kind[1] if kind and name else "",
                        name=name[1] if kind and name else "",
                        path="",
                        reason=error.reason,
                    )
                )
                if resume is None:
                    break
                start = resume
        source.release()

    def _document(self, document: Document, source: Source) -> None:
        self._documents += 1
        value = document.value
        location = Location(source, document.span)
        kind, name = _identity(value)
        self.problems += [
            Problem(
                file=source.file,
                line=line,
                kind=kind,
                name=name,
                path="",
                reason=f"key {key!r} appears twice in the same map; {_RESOLVED.get(key, 'remove one')}",
                namespace=_namespace(value),
            )
            for line, key in document.duplicates
        ]
        if isinstance(value, dict):
            title = value.get("apiVersion"), value.get("kind")
            if document.duplicates and self.kinds.find(*title) is None:
                # The last value of a duplicate key may not be the intended one, so it is not passed on unchecked.
                self._count += 1
                return
            of_kind = self.kinds.of_list(*title)
            if of_kind or title == ("v1", "List"):
                self._list(value, document, location, of_kind)
                return
        self.read_object(value, document.span.line, location, source.file, document)

    def _list(self, value: dict[str, Any], document: Document, location: Location, kind: Kind | None) -> None:
        """Read a ``v1`` List, or the typed list of a kind such as ``ModelList``."""
        items, file, name = value.get("items"), location.source.file, str(value["kind"])

        def problem(path: str, reason: str) -> None:
            self.problems.append(Problem(file=file, line=location.line(path), kind=name, path=path, reason=reason))

        for key in value:
            if key not in ("apiVersion", "kind", "metadata", "items"):
                problem(str(key), "unknown field; a list has metadata and items")
        if not isinstance(items, list):
            problem("items", "must be a list of objects; list them under items, or put each into its own document")
            return
        for index, item in enumerate(items):
            inner = Location(location.source, document.span, ("items", index))
            if kind and isinstance(item, dict):
                # The API server omits apiVersion and kind in the items of a typed list.
                item = {"apiVersion": kind.api_version, "kind": kind.kind, **item}
                if item["kind"] != kind.kind or item["apiVersion"] != kind.api_version:
                    problem(f"items[{index}]", f"must be of kind {kind.kind}; put others into a List of v1")
                    continue
            self.read_object(item, inner.line(""), inner, file, document)

    def read_object(
        self, value: Json, line: int, location: Location | None, file: str, document: Document | None = None
    ) -> None:
        self._count += 1
        if not isinstance(value, dict):
            reason = "must be a map with apiVersion, kind, metadata and spec"
            self.problems.append(Problem(file=file, line=line, path="", reason=reason))
            return

        secrets: list[frozenset[str]] = []

        def problem(
            path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
        ) -> None:
            from .texts.secrets import masked_text, quoted_texts

            problem_line = location.line(path) if location else line
            secrets[:] = secrets or [quoted_texts(value)]
            ignored = reason_to_ignore(_annotations(value), rule)
            kind, name = _identity(value)
            self.problems.append(
                Problem(
                    file=file,
                    line=problem_line,
                    kind=kind,
                    name=name,
                    path=path,
                    reason=masked_text(reason, secrets[0]),
                    severity=severity,
                    rule=rule,
                    namespace=_namespace(value),
                    ignored=masked_text(ignored, secrets[0]),
                )
            )

        if self._may_hide:
            from .texts.unseen import unseen_texts

            for text in unseen_texts(value):
                severity = Severity.WARNING if text.is_free else Severity.ERROR
                problem(field_path(text.path), text.reason, severity, RuleId.CHARACTER_UNSEEN)
        kind = self.kinds.find(value.get("apiVersion"), value.get("kind"))
        if kind is None:
            wrong = _wrong_kind(value, self.kinds, file)
            if wrong:
                problem(*wrong)
            else:
                self.others.append(OtherObject(value, file, line, location))
            return
        odd = document is None or document.odd
        resource, faults = check(value, kind, odd=odd)
        if resource is None:
            part, more = without_faults(value, kind, faults, odd=odd)
            faults += more
            if part is not None:
                self.partial.append(LoadedResource(part, kind, file, line, location))
        elif document is not None and document.duplicates:
            # The last value of a duplicate key was read, which may not be the intended one.
            self.partial.append(LoadedResource(resource, kind, file, line, location))
        else:
            loaded = LoadedResource(resource, kind, file, line, location)
            self.resources.append(loaded)
            if resource.metadata.namespace and not kind.namespaced:
                reason = f"has no effect: {kind.kind} is cluster-scoped; remove it"
                self.problems.append(
                    loaded.problem("metadata.namespace", reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)
                )
        for parts, reason in faults:
            problem(field_path(parts), reason)


def _separators(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offset and line of each document separator."""
    line, offset = 1, 0
    for separator in _SEPARATOR.finditer(text):
        line += len(_BREAK.findall(text, offset, separator.start()))
        offset = separator.start()
        yield offset, line


def _wrong_kind(value: Mapping[str, Any], kinds: Kinds, file: str) -> tuple[str, str] | None:
    """Return the field and reason if apiVersion or kind is invalid; None if the object belongs to another API."""
    api_version, kind = value.get("apiVersion"), value.get("kind")
    has_title = isinstance(kind, str) and kind and isinstance(api_version, str) and api_version
    if not has_title or (api_version, kind) == ("v1", "Config"):
        from .foreign import map_reason

        foreign = map_reason(value, file)
        if foreign:
            return "", foreign
    all_kinds = "`workbench crds` prints all kinds"
    if not isinstance(api_version, str) or not api_version:
        # The kind tells the API, if it is one of ours.
        named = [known for known in kinds if known.kind == kind]
        if named:
            versions = dict.fromkeys(repr(known.api_version) for known in named)
            return (
                "apiVersion",
                f"is required for kind {kind}, found {api_version!r}; set it to {' or '.join(versions)}",
            )
        names = list(dict.fromkeys(known.kind for known in kinds))
        hint = did_you_mean(kind, names) if isinstance(kind, str) else ""
        if hint:
            return "kind", f"unknown kind {kind!r} without an apiVersion{hint}"
        return "apiVersion", (
            f"is required, found {api_version!r}; use one such as {some_of(kinds.titles, all_kinds)}"
        )
    if not isinstance(kind, str) or not kind:
        titles = [title for title in kinds.titles if title.startswith(f"{api_version}/")] or kinds.titles
        return "kind", f"is required, found {kind!r}; use one of {some_of(titles, all_kinds)}"
    return kinds.misspelt(api_version, kind)


def _namespace(value: Json) -> str:
    """Return the namespace of an object that may be anything; empty without one."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else ""


def _annotations(value: dict[str, Any]) -> dict[str, str]:
    """Return the annotations of an object whose fields may be anything."""
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    found = annotations.items() if isinstance(annotations, dict) else ()
    return {key: text for key, text in found if isinstance(text, str)}


def _identity(value: Json) -> tuple[str, str]:
    """Return kind and name for a message; the value may be anything."""
    if not isinstance(value, dict):
        return "", ""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind")
    return kind if isinstance(kind, str) else "", name if isinstance(name, str) else "?"
