"""Commands that read manifests or describe them: ``validate``, ``defaults``, ``crds``, ``schema``."""

import enum
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import WorkbenchError

if TYPE_CHECKING:
    from components.api.load import Manifests
    from components.api.problems import Problem

Paths = Annotated[list[Path], typer.Argument(help="YAML files, or folders of them.", metavar="PATH...")]
Kinds = Annotated[
    list[str] | None,
    typer.Argument(help="Kind or apiVersion/Kind; all if none is given.", metavar="[KIND...]"),
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
    output: Annotated[Output, typer.Option(help="text: one line per problem; json: a list.")] = Output.TEXT,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Check each object by itself, as the API server's admission could."),
    ] = False,
) -> None:
    """Check manifests; exit 0 if they can be used, 1 if not.

    One line per problem: file:line: Kind/name: field.path: reason.
    """
    from components.api.load import load
    from components.api.problems import errors

    manifests = load(paths)
    problems = list(manifests.problems)
    if not alone:
        problems += _across(manifests)
    problems = sorted(set(problems), key=lambda problem: problem.place)
    if output is Output.JSON:
        _write(json.dumps([problem.as_dict() for problem in problems], indent=2) + "\n")
    else:
        _write("".join(f"{_line(problem)}\n" for problem in problems))
    if errors(problems):
        raise typer.Exit(1)


def _line(problem: "Problem") -> str:
    return f"{problem}" if problem.severity == "error" else f"{problem} ({problem.severity})"


def _across(manifests: "Manifests") -> Iterable["Problem"]:
    """Return what is wrong between objects: references, templates, metrics, and whether pods fit their instances."""
    from components.planning.fit import fit
    from components.render.fleet import render_fleet
    from components.render.metrics import metric_chain

    fleet = render_fleet(manifests.resources, unread=manifests.problems)
    return [*fleet.problems, *metric_chain(fleet).problems, *fit(fleet)]


def defaults(paths: Paths) -> None:
    """Write the resources as the API server would store them, with every default filled in."""
    from components.api.defaults import with_defaults
    from components.api.load import load
    from components.api.problems import errors

    manifests = load(paths)
    wrong = errors(manifests.problems)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    _write(_yaml([with_defaults(loaded.resource) for loaded in manifests.resources]))


def crds(kinds: Kinds = None) -> None:
    """Write CustomResourceDefinitions as YAML."""
    from components.api.crds import crd

    _write(_yaml([crd(kind) for kind in _chosen(kinds)]))


def schema(kinds: Kinds = None) -> None:
    """Write one JSON object: apiVersion/Kind to the JSON schema of the kind."""
    from components.api.jsonschema import schema as schema_of

    _write(json.dumps({kind: schema_of(kind) for kind in _chosen(kinds)}, indent=2) + "\n")


def _chosen(names: list[str] | None) -> list[str]:
    """Return the titles of the kinds that were asked for; a wrong name is wrong usage."""
    from components.api.jsonschema import one_kind
    from components.api.kinds import KINDS

    try:
        return [one_kind(name).title for name in names] if names else [kind.title for kind in KINDS.values()]
    except ValueError as error:
        raise WorkbenchError(str(error), exit_code=2) from None


def _yaml(objects: list[dict[str, Any]]) -> str:
    from components.render.yamltext import dump_all

    return dump_all(objects)


def _write(text: str) -> None:
    sys.stdout.write(text)
