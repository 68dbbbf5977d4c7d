"""``workbench render``: what would be created, as YAML."""

import itertools
import sys
from collections.abc import Iterable, Iterator
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
    from components.plan.plan import Plan


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
            help="Print manifests that say the same in the resources that others stand for, to write these instead.",
        ),
    ] = False,
    literal: Annotated[
        bool,
        typer.Option(
            "--literal",
            help="Print what upstream's operator itself makes of resources, defects included, to compare.",
        ),
    ] = False,
    show_secrets: ShowSecrets = False,
) -> None:
    """Print the Kubernetes objects that the manifests become.

    With --stack also what the stack creates beside them: namespaces, policies, monitoring, front door. Problems go to
    stderr; if one of them is an error, no objects are printed.
    """
    if expand and literal:
        raise WorkbenchError("--expand and --literal print different things; pass one of the two", 2)
    if expand:
        write_objects(_expanded(subject, paths), show_secrets=show_secrets)
    elif literal:
        write_objects(_literal(subject, paths), show_secrets=show_secrets)
    else:
        write_objects(_rendered(subject, paths), show_secrets=show_secrets)


def _rendered(subject: Subject, paths: list[Path] | None) -> Iterable[dict[str, Any]]:
    _, found = planned(subject, paths)
    _report(found.problems)
    return _of_stack(found) if subject.stack else itertools.chain(found.fleet.objects, found.others)


def _of_stack(found: "Plan") -> Iterator[dict[str, Any]]:
    from components.plan.namespaces import is_namespace, namespace_objects

    others = (body for body in found.others if not is_namespace(body))
    return itertools.chain(namespace_objects(found).values(), found.objects, others)


def _expanded(subject: Subject, paths: list[Path] | None) -> list[dict[str, Any]]:
    """Return the resources that each stands for, and as they are written those that stand for themselves.

    Whether all of it can be rendered is another question: that something cannot is a reason to write it otherwise.
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
    """Return what the operators of resources make of them, and say where they give up."""
    from components.contract.findings.ids import RuleId
    from components.contract.problems import Severity
    from components.families.family import Convertible

    settings = subject.settings()
    manifests = subject.manifests(paths, settings)
    known = [(source, member) for source in manifests.resources if isinstance(member := _member(source), Convertible)]
    objects: list[dict[str, Any]] = []
    problems = list(manifests.problems)
    for source, member in known:
        bodies, failure = member.convert(source, settings.options())
        objects += bodies
        if failure:
            reason = f"the operator gives up: {failure}"
            problems.append(source.problem("", reason, Severity.WARNING, rule=RuleId.OPERATOR_UNSUPPORTED))
    _report(problems)
    if not known:
        raise WorkbenchError("no resource is of a kind that an operator makes typed resources of; omit --literal")
    return objects


def _member(source: "LoadedResource") -> "Member":
    from components.families import members

    return members()[source.kind.title][1]


_PREFIXES = {"warning": "warning: ", "note": "info: "}
"""What a log has in front of what is no error."""


def _report(problems: "Iterable[Problem]") -> None:
    """Print what there is to say, and end if there is an error."""
    from components.contract.problems import errors

    found = sorted(set(problems), key=lambda problem: problem.sort_key)
    for problem in found:
        prefix = _PREFIXES.get(problem.severity, "")
        print(f"{prefix}{problem}", file=sys.stderr)  # noqa: T201
    if errors(found):
        raise typer.Exit(1)
