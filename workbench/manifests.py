"""Commands that read manifests or describe them: ``validate``, ``defaults``, ``crds``, ``schema``."""

import enum
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.fleet.words import OtherKinds
from toolkit.printing import ShowSecrets, output_option, pluralize, print_to_stderr, write_objects
from toolkit.screen import Details, Message, Screen, hidden_findings, write

from .errors import WorkbenchError
from .subject import Paths, Subject, fleet_settings, parse_releases, planned, takes_subject

if TYPE_CHECKING:
    from components.contract.kinds import Kind
    from components.contract.load import Manifests
    from components.contract.problems import Problem
    from components.plan.plan import Plan


class _Output(enum.StrEnum):
    TEXT = "text"
    LINES = "lines"
    JSON = "json"
    SARIF = "sarif"


Kinds = Annotated[
    list[str] | None,
    typer.Argument(help="Kind or apiVersion/Kind. Defaults to all kinds.", metavar="KIND"),
]


Releases = Annotated[
    list[str] | None,
    typer.Option(
        "--release",
        metavar="FAMILY=RELEASE",
        help="Release of an API, such as kthena=v1.0.0. Can be repeated.",
    ),
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
    output: Annotated[
        _Output,
        output_option(
            "Output format: text; lines of file:line: Kind/name: field.path: reason, for editors and scripts; a JSON "
            "list; or SARIF for code hosts."
        ),
    ] = _Output.TEXT,
    details: Details = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if it is not known whether a model fits its accelerators.")
    ] = False,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Check each object on its own, as admission in the API server does."),
    ] = False,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[MODEL=]PATH",
            help="config.json of a model, its folder or a GGUF file, to check whether it fits. Can be repeated.",
        ),
    ] = None,
) -> None:
    """Check manifests for errors.

    Prints each problem with its place, cause and remedy, of many of one rule the first ones, and counts what was
    checked, and the models whose memory could not be checked.

    Exit codes: 0 no errors, 1 errors, or with --strict models that are not checked, 2 usage error.
    """
    from components.contract.problems import errors

    missing: list[str] = []
    unsorted: Iterable[Problem]
    unchecked: Mapping[str, list[str]] = {}
    if alone:
        manifests, unsorted, namespace = _admitted(subject, paths)
    else:
        manifests, plan = planned(replace(subject, configs=tuple(config or ())), paths)
        _check_configs(plan, config or [])
        unsorted = (*plan.problems, *(finding.problem for finding in plan.ignored))
        unchecked, namespace = _unchecked(plan), plan.environment.options.namespace
        missing = _missing(plan) if strict else []
    problems = sorted(set(unsorted), key=lambda problem: problem.sort_key)
    if output is _Output.JSON:
        sys.stdout.write(json.dumps(list(_as_json(problems, namespace)), indent=2) + "\n")
    elif output is _Output.SARIF:
        from components.contract.findings.sarif import sarif
        from components.plan.review.planned import findings_of
        from components.version import __version__

        sys.stdout.write(json.dumps(sarif(findings_of(problems), __version__), indent=2) + "\n")
    elif output is _Output.LINES:
        sys.stdout.write("".join(f"{_line(problem)}\n" for problem in problems))
    else:
        write(_text(Screen.of(), manifests, problems, unchecked, details=details))
    print_to_stderr(f"--strict: {reason}" for reason in missing)
    if errors(problems) or missing:
        raise typer.Exit(1)


def _missing(plan: "Plan") -> list[str]:
    """Return which models are not checked, and why, one by one."""
    verdicts = ((fit.item.title, fit.verdict) for fit in plan.verdicts if fit.verdict.is_missing)
    return list(dict.fromkeys(f"{title}: memory not checked: {verdict.reason}" for title, verdict in verdicts))


def _as_json(problems: "Iterable[Problem]", namespace: str) -> "Iterator[dict[str, str | int]]":
    """Yield problems with the namespaces of their objects.

    Args:
        problems: The problems.
        namespace: The namespace of the environment, for objects that do not set one.
    """
    from components.families import kinds

    namespaced = {kind.kind for kind in kinds() if kind.namespaced}
    for problem in problems:
        default = namespace if problem.kind in namespaced else ""
        yield {**problem.as_dict(), "namespace": problem.namespace or default}


def _admitted(subject: Subject, paths: list[Path] | None) -> "tuple[Manifests, Iterable[Problem], str]":
    """Read manifests, and return the problems that admission finds in each object, and the default namespace."""
    from components.plan.others import refused

    settings = subject.settings()
    manifests = subject.manifests(paths, settings)
    others = refused(manifests.others) if settings.other_kinds is OtherKinds.ERROR else ()
    return manifests, (*manifests.problems, *others), settings.options().namespace


def _check_configs(plan: "Plan", options: Sequence[str]) -> None:
    """Reject a ``--config`` that matches no model, or several."""
    from .local_models import shapes_in

    shapes = [fit.verdict.asked.shape for fit in plan.verdicts if fit.verdict.asked]
    for name, described in shapes_in(options).items():
        source = described.shape.source
        matches = sorted({shape.name for shape in shapes if shape.source == source})
        if not matches:
            served = ", ".join(sorted({shape.name for shape in shapes})) or "none"
            raise WorkbenchError(
                f"--config: {source}: no manifest serves {name or 'a model of unknown shape'}; models: {served}",
                2,
            )
        if len(matches) > 1:
            raise WorkbenchError(
                f"--config: {source}: matches several models, {', '.join(matches)}; pass MODEL=PATH for one of them",
                2,
            )


def _unchecked(plan: "Plan") -> "dict[str, list[str]]":
    """Return which models are not checked, or estimated, with the reasons, below the sentence that counts them."""
    from components.checks.memory.verdicts import estimated, unchecked

    models = len({fit.item.title for fit in plan.verdicts})
    sentences: dict[str, list[str]] = {}
    if reasons := unchecked(plan.verdicts):
        count = len({name for names in reasons.values() for name in names})
        sentences[f"memory not checked for {count} of {pluralize(models, 'model')}"] = [
            f"{', '.join(names)}: {reason}" for reason, names in reasons.items()
        ]
    if names := estimated(plan.verdicts):
        sentences[f"memory estimated for {len(names)} of {pluralize(models, 'model')}, from their names"] = [
            f"{', '.join(names)}: add them to modelShapes for exact figures"
        ]
    return sentences


def _text(
    screen: Screen,
    manifests: "Manifests",
    problems: "Sequence[Problem]",
    unchecked: Mapping[str, list[str]],
    *,
    details: bool,
) -> Iterator[str]:
    """Yield what is not checked, then the findings, then what was checked."""
    from components.plan.engine_versions import unchecked_versions

    # With --details, the finding itself is among the notes.
    for cause in () if details else unchecked_versions(problems):
        yield from screen.text(cause, "warning")
    for sentence, reasons in unchecked.items():
        yield from screen.text(f"{sentence}{':' if details else ''}", "warning")
        for reason in reasons if details else ():
            yield from screen.text(reason, indent="  ", hanging="    ")
    findings: list[Message] = []
    if problems:
        from toolkit.findings import messages_of

        findings = messages_of(problems)
        yield from screen.findings(findings, details=details)
    checked = f"{pluralize(manifests.count, 'resource')} in {pluralize(manifests.files, 'file')}"
    others = f", {len(manifests.others)} of other APIs" if manifests.others else ""
    hidden = [] if details else [*hidden_findings(findings), *(["models that are not checked"] if unchecked else [])]
    yield from screen.closing(findings, hidden, checked=f"{checked}{others}")


def _line(problem: "Problem") -> str:
    if problem.ignored:
        return f"{problem} (ignored: {problem.ignored})"
    return f"{problem}" if problem.is_error else f"{problem} ({problem.severity})"


@takes_subject
def defaults(subject: Subject, *, paths: Paths = None, show_secrets: ShowSecrets = False) -> None:
    """Print resources with all defaults filled in, as the API server would store them."""
    from components.contract.problems import errors
    from components.contract.schema.defaults import with_defaults

    manifests, problems, _ = _admitted(subject, paths)
    if fatal := errors(problems):
        raise WorkbenchError("\n".join(map(str, fatal)))
    write_objects((), (with_defaults(loaded) for loaded in manifests.resources), show_secrets=show_secrets)


def crds(kinds: Kinds = None, release: Releases = None) -> None:
    """Print CustomResourceDefinitions as YAML, of the contract's release unless --release names another one."""
    from components.contract.documents.writer import dump_all
    from components.contract.schema.crds import crd

    chosen = _kinds(kinds, release)
    if not kinds:
        chosen = [kind for kind in chosen if kind.at(kind.release or kind.releases.contract).exists]
    sys.stdout.write(dump_all([crd(kind) for kind in chosen]))


def schema(
    kinds: Kinds = None,
    release: Releases = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the schemas of every release to DIR/FAMILY/RELEASE/KIND.json instead, for editors.",
        ),
    ] = None,
) -> None:
    """Print the JSON schemas of kinds, as one JSON object with apiVersion/Kind as keys.

    Without --release, a schema accepts the fields of all releases.
    """
    from components.contract.schema.jsonschema import json_schema, schema_files

    if folder is None:
        sys.stdout.write(
            json.dumps({kind.title: json_schema(kind) for kind in _kinds(kinds, release)}, indent=2) + "\n"
        )
        return
    for path, schema_of_kind in schema_files(_kinds(kinds, release)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(schema_of_kind, indent=2) + "\n", encoding="utf-8")


def _kinds(names: list[str] | None, release: list[str] | None) -> "list[Kind]":
    """Return kinds as of the releases that are named; without names, those that exist in them."""
    from components.families import kinds

    known = kinds(fleet_settings({"releases": parse_releases(release) or {}}).releases if release else {})
    try:
        chosen = [known.by_name(name) for name in names] if names else [kind for kind in known if kind.exists]
    except ValueError as error:
        raise WorkbenchError(str(error), exit_code=2) from None
    absent = [kind.absence for kind in chosen if kind.absence]
    if absent:
        raise WorkbenchError("\n".join(absent), exit_code=2)
    return chosen
