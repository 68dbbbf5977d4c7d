"""``workbench render``: what would be created, as YAML."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from .printing import ShowSecrets, write_objects
from .subject import Paths, Subject, planned, takes_subject

if TYPE_CHECKING:
    from components.api.problems import Problem
    from components.plan.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the ``render`` command."""
    app.command()(render)


@takes_subject
def render(subject: Subject, *, paths: Paths = None, show_secrets: ShowSecrets = False) -> None:
    """Print the Kubernetes objects that the manifests become.

    With --stack also what the stack creates beside them: namespaces, policies, monitoring, front door. Problems go to
    stderr; if one of them is an error, no objects are printed.
    """
    from components.api.problems import errors

    _, found = planned(subject, paths)
    _report(found.problems)
    if errors(found.problems):
        raise typer.Exit(1)
    objects = _of_stack(found) if subject.stack else itertools.chain(found.fleet.objects, found.others)
    write_objects(objects, show_secrets=show_secrets)


def _of_stack(found: "Plan") -> Iterator[dict[str, Any]]:
    from components.plan.namespaces import is_namespace, namespace_objects

    others = (body for body in found.others if not is_namespace(body))
    return itertools.chain(namespace_objects(found).values(), found.objects, others)


def _report(problems: "Iterable[Problem]") -> None:
    for problem in sorted(set(problems), key=lambda problem: problem.place):
        prefix = "" if problem.is_error else "warning: "
        print(f"{prefix}{problem}", file=sys.stderr)  # noqa: T201
