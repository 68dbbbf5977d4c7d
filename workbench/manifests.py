"""Commands that read manifests or describe them: ``validate``, ``defaults``, ``crds``, ``schema``."""

import enum
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import WorkbenchError
from .printing import ShowSecrets, write_objects

if TYPE_CHECKING:
    from components.api.kinds import Kind
    from components.api.problems import Problem

Paths = Annotated[list[Path], typer.Argument(help="Manifest files or folders.", metavar="PATH...")]
Kinds = Annotated[
    list[str] | None,
    typer.Argument(help="Kind or apiVersion/Kind. Default: all.", metavar="[KIND...]"),
]


class Output(enum.StrEnum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(validate)
    app.command()(defaults)
    app.command()(crds)
    app.command()(schema)


def validate(
    paths: Paths,
    *,
    output: Annotated[Output, typer.Option(help="text prints one line per problem, json a list.")] = Output.TEXT,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Check each object by itself, as API server admission does."),
    ] = False,
) -> None:
    """Check manifests. Exit with 0 if they are valid, with 1 if there are errors.

    One line per problem: file:line: Kind/name: field.path: reason.
    """
    from components.api.problems import errors
    from components.families import load

    manifests = load(paths)
    problems: Iterable[Problem] = manifests.problems
    if not alone:
        from components.plan.plan import plan

        problems = plan(manifests).problems
    problems = sorted(set(problems), key=lambda problem: problem.place)
    if output is Output.JSON:
        _write(json.dumps([problem.as_dict() for problem in problems], indent=2) + "\n")
    else:
        _write("".join(f"{_line(problem)}\n" for problem in problems))
    if errors(problems):
        raise typer.Exit(1)


def _line(problem: "Problem") -> str:
    return f"{problem}" if problem.is_error else f"{problem} ({problem.severity})"


def defaults(paths: Paths, *, show_secrets: ShowSecrets = False) -> None:
    """Print the resources as the API server would store them, with all defaults filled in."""
    from components.api.problems import errors
    from components.api.schema.defaults import with_defaults
    from components.families import load

    manifests = load(paths)
    wrong = errors(manifests.problems)
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
