"""Converts manifest files to the kinds of another family."""

import copy
from collections.abc import Iterable
from pathlib import Path

from components.contract.load import LoadedResource
from components.contract.schema.embedded import format_value
from components.contract.texts.secrets import masked_at
from components.families import load
from components.families.migration import MigratedDocument, MigrationNote
from components.fleet.objects import Object
from components.plan.conversion.convert import Replacement, convert_family
from components.plan.review.differences import parse_path

from ..errors import WorkbenchError
from .conversion import Converted, raise_before, raise_errors, text_of
from .files import ManifestFile, convert_files

_Key = tuple[str, str, str, str]
"""File, kind, namespace and name of a manifest."""


def convert_to_family(paths: Iterable[Path], family: str) -> Converted:
    """Convert the resources of other families that serve a model.

    The manifests of a resource take its place in its file; those that only converted resources refer to are removed.
    A loss is a difference between what is rendered before and after.

    Raises:
        WorkbenchError: the family cannot adopt resources of others, or a manifest is invalid.
    """
    paths = list(paths)
    manifests = load(paths)
    raise_before(manifests.problems)
    try:
        conversion = convert_family(manifests.resources, family=family)
    except ValueError as error:
        raise WorkbenchError(f"--to-family: {error}", 2) from None
    raise_errors(conversion.problems, "correct the manifests first")
    replaced = {_key(item.source): item for item in conversion.converted if item.documents}
    unused = {_key(source) for source in conversion.unused}
    files = [ManifestFile(path, text_of(path), editable=lambda _: False) for path in paths]
    placed: list[MigratedDocument] = []
    for file in files:
        removed: list[MigratedDocument] = []
        first: MigratedDocument | None = None
        for document in file.documents:
            key = document.file, document.kind, document.namespace, document.name
            if key in replaced:
                added = [_in_place_of(document, body) for body in replaced[key].documents]
                document.into = added[0]
                first = first or added[0]
                placed += added
            elif key in unused:
                removed.append(document)
            else:
                placed.append(document)
        for document in removed:
            document.into = first
    converted = Converted(convert_files(files, placed))
    for item in conversion.converted:
        converted.losses += [
            _note(item, difference.path, difference.before, difference.after) for difference in item.differences
        ]
        converted.notes += [_note(item, note.path, note.before, note.after) for note in item.notes]
    return converted


def _in_place_of(document: MigratedDocument, body: Object) -> MigratedDocument:
    """Return a manifest in the place of another one, without a namespace if that one names none.

    The environment then decides about the namespace, as before.
    """
    value = copy.deepcopy(body)
    if not document.namespace:
        value["metadata"].pop("namespace", None)
    return MigratedDocument(value, document.file)


def _key(source: LoadedResource) -> _Key:
    return source.file, source.kind.kind, source.resource.metadata.namespace or "", source.name


def _note(item: Replacement, path: str, before: object, after: object) -> MigrationNote:
    steps, kind = parse_path(path), item.source.resource.kind
    old, new = (format_value(masked_at(value, steps, kind=kind)) for value in (before, after))
    return MigrationNote(item.source.title, path, f"{old} becomes {new}")
