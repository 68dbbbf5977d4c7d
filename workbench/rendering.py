"""``workbench render``: the Kubernetes objects of manifests as YAML."""

import itertools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.printing import ShowSecrets, write_objects

from .errors import WorkbenchError
from .subject import Paths, Subject, planned, takes_subject

if TYPE_CHECKING:
    from components.contract.load import LoadedResource
    from components.contract.problems import Problem
    from components.families.family import Member


def register(app: typer.Typer) -> None:
    """Add the ``render`` command."""
    app.command()(render)


@takes_subject
def render(
    subject: Subject,
    *,
    paths: Paths = None,
    expand: Annotated[
        bool,
        typer.Option(
            "--expand",
            help="Print equivalent manifests, with shorthand resources replaced by the resources they stand for.",
        ),
    ] = False,
    literal: Annotated[
        bool,
        typer.Option(
            "--literal",
            help="Print the objects that the upstream operator creates, including its defects, for comparison.",
        ),
    ] = False,
    show_secrets: ShowSecrets = False,
) -> None:
    """Print the Kubernetes objects that manifests render to.

    Without PATH, includes the other objects of the stack: namespaces, policies, monitoring and the front door.
    Problems go to stderr; if there is an error, no objects are printed.
    """
    if expand and literal:
        raise WorkbenchError("--expand and --literal cannot be used together", 2)
    if expand:
        write_objects((), _expanded(subject, paths), show_secrets=show_secrets)
    elif literal:
        write_objects(_literal(subject, paths), show_secrets=show_secrets)
    else:
        write_objects(*_rendered(subject, paths), show_secrets=show_secrets)


_Objects = Iterable[dict[str, Any]]


def _rendered(subject: Subject, paths: list[Path] | None) -> tuple[_Objects, _Objects]:
    """Return the rendered objects, and those that are passed through as they are written."""
    from components.plan.namespaces import is_namespace, namespace_objects

    _, plan = planned(subject, paths)
    _report(plan.problems)
    if not subject.stack or paths:
        return plan.fleet.objects, plan.others
    others = (body for body in plan.others if not is_namespace(body))
    return itertools.chain(namespace_objects(plan).values(), plan.objects), others


def _expanded(subject: Subject, paths: list[Path] | None) -> list[dict[str, Any]]:
    """Expand shorthand resources, and pass the others through unchanged.

    Resources that cannot be rendered are no error here: users expand them in order to rewrite them.
    """
    from components.contract.findings.collector import Findings
    from components.families.family import Expandable
    from components.fleet.serving import as_manifest

    settings = subject.settings()
    manifests = subject.manifests(paths, settings)
    options = settings.options()
    objects: list[dict[str, Any]] = []
    problems = list(manifests.problems)
    for source in manifests.resources:
        member, findings = _member(source), Findings(source)
        if isinstance(member, Expandable):
            objects += member.expand(source, options, findings)
        else:
            objects.append(as_manifest(source, options))
        problems += findings.problems
    _report(problems)
    return [*objects, *(other.value for other in manifests.others)]


def _literal(subject: Subject, paths: list[Path] | None) -> list[dict[str, Any]]:
    """Return the objects that upstream operators create, with a warning for each resource that one gives up on."""
    from components.contract.findings.ids import RuleId
    from components.contract.problems import Severity
    from components.families.family import Convertible

    settings = subject.settings()
    manifests = subject.manifests(paths, settings)
    convertible = [
        (source, member) for source in manifests.resources if isinstance(member := _member(source), Convertible)
    ]
    objects: list[dict[str, Any]] = []
    problems = list(manifests.problems)
    for source, member in convertible:
        bodies, failure = member.convert(source, settings.options())
        objects += bodies
        if failure:
            reason = f"the operator gives up: {failure}"
            problems.append(source.problem("", reason, Severity.WARNING, rule=RuleId.OPERATOR_UNSUPPORTED))
    _report(problems)
    if not convertible:
        raise WorkbenchError("--literal: no upstream operator converts any of these resources; omit --literal")
    return objects


def _member(source: "LoadedResource") -> "Member":
    from components.families import members

    return members()[source.kind.title][1]


_PREFIXES = {"warning": "warning: ", "note": "info: "}
"""Log prefixes by severity; errors have none."""


def _report(problems: "Iterable[Problem]") -> None:
    """Print problems to stderr, and exit if there is an error."""
    from components.contract.problems import errors

    unique = sorted(set(problems), key=lambda problem: problem.sort_key)
    for problem in unique:
        prefix = _PREFIXES.get(problem.severity, "")
        print(f"{prefix}{problem}", file=sys.stderr)  # noqa: T201
    if errors(unique):
        raise typer.Exit(1)
