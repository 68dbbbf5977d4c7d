"""Converts manifest files from one release of an API to another."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from components.checks.metrics.chain import DEFAULTS
from components.contract.documents.files import manifest_files, read_text
from components.contract.findings.ids import RuleId
from components.contract.kinds import Kinds
from components.contract.problems import Problem, Severity, errors
from components.families import FAMILIES, load, parse, released, releases_of
from components.families.family import Family, Migrating
from components.families.migration import (
    Batch,
    MigratedDocument,
    MigrationNote,
    StackFacts,
    leave_out,
    migrate,
    origin_of,
)

from ..errors import WorkbenchError
from .files import ManifestFile, convert_files

NO_STACKS = StackFacts()
NO_STACKS.prometheus = DEFAULTS.prometheus
_LINE_END = re.compile("\r\n?")


@dataclass(slots=True)
class Converted:
    """The result of a conversion.

    Attributes:
        texts: The text of every file, changed or not.
        losses: What the target cannot express.
        notes: What a reader should know.
    """

    texts: dict[Path, str]
    losses: list[MigrationNote] = field(default_factory=list)
    notes: list[MigrationNote] = field(default_factory=list)


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return the manifest files below paths.

    Raises:
        WorkbenchError: a path cannot be read, or there is no file.
    """
    problems: list[Problem] = []
    files = list(manifest_files(paths, problems))
    if problems or not files:
        raise WorkbenchError("\n".join(map(str, problems)) or "no manifests: pass files or folders", 2)
    return files


def convert(
    paths: Iterable[Path],
    targets: Mapping[str, str],
    origins: Mapping[str, str],
    *,
    lossy: bool,
    stacks: StackFacts = NO_STACKS,
) -> Converted:
    """Convert files to releases of their APIs.

    Args:
        paths: The manifest files.
        targets: The release to convert to, by family.
        origins: The release of the manifests, by family; without one, the form of each manifest decides.
        lossy: Whether to remove what the target cannot express; the losses then apply to the result.
        stacks: What the stacks of the manifests say.

    Raises:
        WorkbenchError: a family or release is unknown, or a manifest is invalid before or after the conversion.
    """
    paths = list(paths)
    for option, releases in (("--release", targets), ("--from", origins)):
        for family, release in releases.items():
            if family not in released():
                names = ", ".join(sorted(released()))
                raise WorkbenchError(f"{option}: {family!r} has no releases; families: {names}", 2)
            known = releases_of(family)
            if release not in known.names:
                names = ", ".join(known.names)
                raise WorkbenchError(f"{option}: {known.project} has no release {release!r}; releases: {names}", 2)
    raise_before(load(paths, origins).problems)
    converted = Converted({path: text_of(path) for path in paths})
    by_name = {family.name: family for family in FAMILIES}
    for name, target in targets.items():
        _convert_family(converted, by_name[name], origins.get(name, ""), target, lossy=lossy, stacks=stacks)
    if lossy or not converted.losses:
        for path, text in converted.texts.items():
            problems = parse(text, str(path), targets).problems
            raise_errors(problems, "the converted manifest is invalid, so that nothing is written")
    return converted


def _convert_family(
    converted: Converted,
    family: Family,
    origin: str,
    target: str,
    *,
    lossy: bool,
    stacks: StackFacts,
) -> None:
    kinds = Kinds([member.kind for member in family.members])

    def editable(value: Mapping[str, object]) -> bool:
        return kinds.find(value.get("apiVersion"), value.get("kind")) is not None

    migrating = family if isinstance(family, Migrating) else None

    def opened(value: Mapping[str, object]) -> bool:
        return editable(value) or (migrating is not None and migrating.edits(dict(value)))

    files = [ManifestFile(path, text, opened) for path, text in converted.texts.items()]
    documents = [document for file in files for document in file.documents]
    own = [document for document in documents if editable(document.value)]
    others = [document for document in documents if not editable(document.value)]
    batch = Batch(list(own), others, stacks=stacks)
    releases = family.releases
    steps = migrating.steps() if migrating else ()
    migrate(
        batch,
        kinds,
        releases=releases,
        steps=steps,
        origin=origin or origin_of(own, kinds, releases, target),
        target=target,
    )
    leave_out(batch, kinds, target, lossy=lossy)
    converted.losses += batch.losses
    converted.notes += batch.notes
    converted.texts |= convert_files(files, _in_order(documents, batch))


def _in_order(documents: list[MigratedDocument], batch: Batch) -> list[MigratedDocument]:
    """Return all documents by file: each added one where the one is that it replaces, or after its predecessor."""
    original = {id(document) for document in documents}
    kept = {id(document) for document in (*batch.documents, *batch.others)}
    replaced = {
        id(document.into): document
        for document in reversed(documents)
        if document.into is not None and document.into.file == document.file and id(document) not in kept
    }
    added: dict[int | str, list[MigratedDocument]] = {}
    previous: MigratedDocument | None = None
    for document in batch.documents:
        if id(document) in original:
            previous = document
        else:
            previous = replaced.get(id(document), previous)
            # The document that it was added after may have been removed: then it follows the one before.
            follows_previous = previous is not None and previous.file == document.file
            added.setdefault(id(previous) if follows_previous else document.file, []).append(document)
    placed: list[MigratedDocument] = []
    for document in documents:
        placed += added.pop(document.file, ())
        if id(document) in kept:
            placed.append(document)
        placed += added.get(id(document), ())
    return placed


def text_of(path: Path) -> str:
    """Return the text of a file without its byte order mark, each line with a line feed at its end.

    Raises:
        WorkbenchError: The file cannot be read.
    """
    problems: list[Problem] = []
    text = read_text(path.read_bytes, path, problems)
    raise_errors(problems, "correct the file first")
    return _LINE_END.sub("\n", text or "")


def raise_before(problems: Iterable[Problem]) -> None:
    """Raise the errors of manifests to convert, and every character that is not seen, also where it is a warning.

    It would be copied into the new files, and into a diff that people review. The conversion itself corrects the ends
    of lines.
    """
    serious = (
        replace(problem, severity=Severity.ERROR)
        if problem.rule is RuleId.CHARACTER_UNSEEN and "U+000D" not in problem.reason
        else problem
        for problem in problems
    )
    raise_errors(serious, "correct the manifests first")


def raise_errors(problems: Iterable[Problem], remedy: str) -> None:
    lines = list(map(str, errors(problems)))
    if lines:
        raise WorkbenchError("\n".join([*lines, remedy]))
