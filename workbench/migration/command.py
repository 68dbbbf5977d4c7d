"""The command ``migrate``."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from components.contract.documents.reader import read_documents
from components.contract.texts.printable import printable, printable_lines
from components.contract.texts.secrets import masked_text, quoted_texts
from toolkit.printing import pluralize

from ..errors import WorkbenchError
from ..subject import complete_stack, parse_releases


def register(app: typer.Typer) -> None:
    """Add the ``migrate`` command."""
    app.command()(migrate)


def migrate(
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Manifest files or folders. Default: the models of all stacks of the project, whose setting "
            "releases is changed too.",
        ),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option(metavar="FAMILY=RELEASE", help="Release to convert to, such as kthena=v1.0.0. Can be repeated."),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FAMILY=RELEASE",
            help="Release that the manifests are written for. Default: that of the stacks, or the form of each "
            "manifest.",
        ),
    ] = None,
    to_family: Annotated[
        str,
        typer.Option(
            metavar="FAMILY",
            help="Convert the resources of other families to the kinds of this one instead: kthena or llmkube.",
        ),
    ] = "",
    stack: Annotated[str, typer.Option(help="Only this stack of the project.", autocompletion=complete_stack)] = "",
    cwd: Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")] = Path(),
    write: Annotated[
        bool, typer.Option("--write", help="Change the files in place, instead of printing a diff.")
    ] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the converted files, instead of a diff.")] = False,
    lossy: Annotated[
        bool,
        typer.Option("--lossy", help="Convert although the release cannot express some fields; they are removed."),
    ] = False,
    shared: Annotated[
        bool,
        typer.Option("--shared", help="With --stack, also change files that other stacks read in another release."),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a file would change.")] = False,
) -> None:
    """Convert manifests from one release of their API to another, or to another family.

    Comments, the order of keys and formatting are kept. What the release cannot express is listed on stderr, and
    nothing is written without --lossy.

    Exit codes: 0 success, 1 losses without --lossy, invalid manifests, or changes with --check, 2 usage error.
    """
    from .conversion import convert, files_in, text_of
    from .leaving import convert_to_family
    from .project import MigratedProject

    targets, origins = parse_releases(release) or {}, parse_releases(origin) or {}
    if bool(targets) == bool(to_family):
        raise WorkbenchError(
            "pass --release, the release to convert to, such as --release kthena=v1.0.0, or --to-family; not both", 2
        )
    project = None if paths else MigratedProject(cwd, stack)
    if project:
        declared = {family: project.release(family) for family in targets}
        origins = {family: release for family, release in declared.items() if release} | origins
    files = files_in(project.models if project else paths or [])
    if to_family:
        converted = convert_to_family(files, to_family)
    elif project:
        converted = convert(files, targets, origins, lossy=lossy, stacks=project)
    else:
        converted = convert(files, targets, origins, lossy=lossy)
    texts = dict(converted.texts)
    if project and targets:
        texts |= project.with_releases(targets)
    for line in (*(f"loss: {loss}" for loss in converted.losses), *(f"note: {note}" for note in converted.notes)):
        print(printable(line), file=sys.stderr)  # noqa: T201
    changed = {path: text for path, text in texts.items() if text.encode() != path.read_bytes()}
    for path in changed:
        if text_of(path).encode() != path.read_bytes():
            note = f"note: {path}: each line ends with a line feed now, and there is no byte order mark"
            print(printable(note), file=sys.stderr)  # noqa: T201
    refused = converted.losses and not lossy
    readers = project.readers(targets) if project else {}
    others = {path: readers[path.resolve()] for path in changed if path.resolve() in readers}
    for path, stacks in others.items():
        print(printable(f"note: {path}: is also read by the stacks {', '.join(stacks)}"), file=sys.stderr)  # noqa: T201
    if write and others and not shared and not refused:
        raise WorkbenchError(
            f"{pluralize(len(others), 'file')} of --stack {stack}: other stacks read them; nothing is written. Omit "
            "--stack to convert all stacks, or pass --shared to change the files although the others read them"
        )
    if stdout:
        sys.stdout.write("---\n".join(texts[path] for path in converted.texts))
    elif write and not refused:
        for path, text in changed.items():
            path.write_text(text, encoding="utf-8", newline="")
        print(f"{pluralize(len(changed), 'file')} changed")  # noqa: T201
    else:
        for path, text in changed.items():
            sys.stdout.writelines(_diff(path, text_of(path), text))
    if refused:
        raise WorkbenchError(
            f"{pluralize(len(converted.losses), 'loss')}: nothing is written; pass --lossy to convert without them"
        )
    if check and changed:
        raise WorkbenchError(f"{pluralize(len(changed), 'file')} would change; run 'workbench migrate --write'")


def _diff(path: Path, old: str, new: str) -> Iterator[str]:
    from .differences import unified_lines

    # Not splitlines: it also ends lines at characters that no tool which applies a diff takes for an end.
    before, after = (io.StringIO(text, newline="\n").readlines() for text in (old, new))
    if before == after:
        return
    name = path.as_posix().lstrip("/")
    documents = [*read_documents(old), *read_documents(new)]
    secrets = frozenset[str]().union(*(quoted_texts(document.value) for document in documents))
    for line in (f"--- a/{name}\n", f"+++ b/{name}\n", *unified_lines(before, after)):
        shown = printable_lines(masked_text(line, secrets))
        yield shown if line.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"
