"""Commands that read manifests or describe them: ``validate``, ``defaults``, ``crds``, ``schema``."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from components.fleet.words import OtherKinds

from .errors import WorkbenchError
from .printing import Format, ShowSecrets, write_objects
from .subject import Paths, Subject, planned, takes_subject

if TYPE_CHECKING:
    from components.api.kinds import Kind
    from components.api.load import Manifests
    from components.api.problems import Problem

Kinds = Annotated[
    list[str] | None,
    typer.Argument(help="Kind or apiVersion/Kind. Default: all.", metavar="[KIND...]"),
]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(validate)
    app.command()(defaults)
    app.command()(crds)
    app.command()(schema)


@takes_subject
def validate(
    subject: Subject,
    *,
    paths: Paths = None,
    output: Annotated[Format, typer.Option(help="text prints one line per problem, json a list.")] = Format.TEXT,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Check each object by itself, as API server admission does."),
    ] = False,
) -> None:
    """Check manifests. Exit with 0 if they are valid, with 1 if there are errors.

    One line per problem: file:line: Kind/name: field.path: reason. What was checked is counted on stderr.
    """
    from components.api.problems import errors

    manifests, found = _checked_alone(subject, paths) if alone else _checked(subject, paths)
    problems = sorted(set(found), key=lambda problem: problem.place)
    if output is Format.JSON:
        _write(json.dumps([problem.as_dict() for problem in problems], indent=2) + "\n")
    else:
        _write("".join(f"{_line(problem)}\n" for problem in problems))
        print(_summary(manifests, problems), file=sys.stderr)  # noqa: T201
    if errors(problems):
        raise typer.Exit(1)


def _checked(subject: Subject, paths: list[Path] | None) -> "tuple[Manifests, Iterable[Problem]]":
    manifests, found = planned(subject, paths)
    return manifests, found.problems


def _checked_alone(subject: Subject, paths: list[Path] | None) -> "tuple[Manifests, Iterable[Problem]]":
    from components.plan.others import refused

    settings = subject.settings()
    manifests = subject.manifests(paths, settings)
    others = refused(manifests.others) if settings.other_kinds is OtherKinds.ERROR else ()
    return manifests, (*manifests.problems, *others)


def _line(problem: "Problem") -> str:
    return f"{problem}" if problem.is_error else f"{problem} ({problem.severity})"


def _summary(manifests: "Manifests", problems: "Sequence[Problem]") -> str:
    """Say how much was checked, and what came of it."""
    numbers = Counter(problem.severity.value for problem in problems)
    counts = [_count(numbers[word], word) for word in ("error", "warning", "note") if numbers[word]]
    if not {"error", "warning"} & numbers.keys():
        counts = ["no problems", *counts]
    checked = f"{_count(manifests.count, 'resource')} in {_count(manifests.files, 'file')}"
    others = f", {len(manifests.others)} of other APIs" if manifests.others else ""
    return f"{checked}{others}: {', '.join(counts)}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


@takes_subject
def defaults(subject: Subject, *, paths: Paths = None, show_secrets: ShowSecrets = False) -> None:
    """Print the resources as the API server would store them, with all defaults filled in."""
    from components.api.problems import errors
    from components.api.schema.defaults import with_defaults

    manifests, found = _checked_alone(subject, paths)
    wrong = errors(found)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    write_objects((with_defaults(loaded) for loaded in manifests.resources), show_secrets=show_secrets)


def crds(kinds: Kinds = None) -> None:
    """Print CustomResourceDefinitions as YAML."""
    from components.api.schema.crds import crd

    _write(_yaml([crd(kind) for kind in _chosen(kinds)]))


def schema(kinds: Kinds = None) -> None:
    """Print one JSON object that maps apiVersion/Kind to the JSON schema of the kind."""
    from components.api.schema.jsonschema import schema as schema_of

    _write(json.dumps({kind.title: schema_of(kind) for kind in _chosen(kinds)}, indent=2) + "\n")


def _chosen(names: list[str] | None) -> "list[Kind]":
    """Return the kinds that were asked for; a wrong name is wrong usage."""
    from components.families import kinds

    known = kinds()
    try:
        return [known.one(name) for name in names] if names else list(known)
    except ValueError as error:
        raise WorkbenchError(str(error), exit_code=2) from None


def _yaml(objects: list[dict[str, Any]]) -> str:
    from components.api.documents.writer import dump_all

    return dump_all(objects)


def _write(text: str) -> None:
    sys.stdout.write(text)
