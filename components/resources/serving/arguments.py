"""Reading and checking the arguments of a component. All problems are reported at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

import pulumi
from pydantic import BaseModel

from ...contract.base import whole_float_to_int
from ...contract.checking import check
from ...contract.findings.ids import RuleId
from ...contract.kinds import Kind
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity, errors, field_path, path_parts
from ...families import kinds
from ...fleet.instances import Instance
from ...fleet.timeouts import Waits
from ...plan.plan import Plan
from .output_values import resolve_outputs, unresolved_outputs
from .typed_args import Found, keys_of, known_keys, unknown_keys, wire

Args = TypeVar("Args", bound=Mapping[str, Any])
PROGRAM = "<program>"
"""The file of problems in manifests that a program passes."""


class InvalidArguments(pulumi.InputPropertiesError, pulumi.RunError):
    """Invalid arguments, one line per problem. Fails programs and remote callers alike."""


class Arguments:
    """The arguments of a component.

    Attributes:
        name: Name of the component.
        values: Usable arguments by name, with nested values in wire form. Whole numbers are integers; those of remote
            callers arrive as floats.
        waits: What updates wait for; set with the rendering options.
        types: Instance types that the arguments describe, by name; likewise.
    """

    def __init__(
        self, name: str, args: Mapping[str, Any], typed: type, models: Mapping[str, type[BaseModel]] | None = None
    ) -> None:
        """Read the arguments of a component.

        Args:
            name: Name of the component.
            args: The arguments.
            typed: Their TypedDict.
            models: The contract's types of some of them, by argument.
        """
        self.name = name
        self.waits = Waits()
        self.types: Mapping[str, Instance] = {}
        read, problems = usable_args(args, typed)
        self._problems = [self._problem(path, reason) for path, reason in problems]
        self._unusable = {key for key, value in args.items() if value is not None} - read.keys()
        self._plain = {
            key: whole_numbers(known_keys(read[key], type_)) for key, type_ in keys_of(typed).items() if key in read
        }
        self.values: dict[str, Any] = {
            key: whole_numbers(wire(read[key], typed_value, (models or {}).get(key)))
            for key, typed_value in keys_of(typed).items()
            if key in read
        }

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401  JSON
        return self.values.get(key, default)

    def plain(self, key: str) -> Any:  # noqa: ANN401  JSON
        """Return an argument with nested keys as the program spells them."""
        return self._plain.get(key)

    def add_problem(self, key: str, reason: str) -> None:
        self._problems.append(self._problem(key, reason))

    def require(self, *keys: str) -> None:
        """Record a problem for each argument that is missing."""
        for key in keys:
            if key not in self.values and key not in self._unusable:
                self.add_problem(key, "is required")

    def manifest(self, key: str, kind: str) -> dict[str, Any]:
        """Return the manifest in an argument; records a problem if it is none."""
        value = self.get(key)
        if _is_manifest(value):
            manifest: dict[str, Any] = value
            return manifest
        if key not in self._unusable:
            self.add_problem(key, _no_manifest(value, kind))
        return {}

    def manifests(self, key: str, kind: str = "") -> list[dict[str, Any]]:
        """Return the manifests in an argument, of one kind or any; records a problem for each value that is none."""
        values = self.get(key)
        if isinstance(values, list) and values:
            for position, value in enumerate(values):
                if not _is_manifest(value):
                    self.add_problem(f"{key}[{position}]", _no_manifest(value, kind))
            return [value for value in values if _is_manifest(value)]
        if key not in self._unusable:
            actual = "nothing" if values is None else "none" if values == [] else type(values).__name__
            self.add_problem(key, f"must be a list of manifests, found {actual}; pass [{_component(kind)}.manifest]")
        return []

    def check(self) -> None:
        """Raise the recorded problems.

        Raises:
            InvalidArguments: there are any.
        """
        if self._problems:
            raise_errors(self._problems)

    def resource(self, api_version: str, kind: str, metadata: dict[str, Any], spec: dict[str, Any]) -> LoadedResource:
        """Validate and return the resource that the arguments describe.

        Raises:
            InvalidArguments: it violates the contract, or problems were recorded; every problem is listed.
        """
        value = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
        loaded, problems = _checked(value, metadata["name"], self.get("release", ""))
        if loaded is None or self._problems:
            raise_errors([*self._problems, *problems])
        return loaded

    def _problem(self, path: str, reason: str) -> Problem:
        return Problem(file=self.name, path=path, reason=reason, rule=RuleId.SETTINGS)


def _is_manifest(value: object) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("name"))


def _no_manifest(value: object, kind: str) -> str:
    article = "an" if kind[:1] in tuple("AEIOU") else "a"
    actual = "nothing" if value is None else type(value).__name__
    return f"must be the manifest of {article} {kind or 'resource'}, found {actual}; pass {_component(kind)}.manifest"


def _component(kind: str) -> str:
    return f"{kind}(...)" if kind else "component"


def usable_args(args: Mapping[str, Any], typed: type) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the usable arguments, and the problems of the others: unknown keys and values that must be plain."""
    read = resolve_outputs(args, typed)
    unready = list(unresolved_outputs(read, typed))
    not_plain = {path_parts(path)[0] for path, _ in unready}
    usable = {key: value for key, value in read.items() if value is not None and key not in not_plain}
    return usable, [*unknown_keys(read, typed), *unready]


def has_unusable(args: Mapping[str, Any], usable: Mapping[str, Any]) -> bool:
    """Return whether arguments were dropped. Further checks need all arguments, and would report false problems."""
    return any(value is not None and key not in usable for key, value in args.items())


def checked_args(name: str, args: Args, typed: type[Args], problems: Callable[[Args], Found] | None = None) -> Args:
    """Check arguments, and return them with whole numbers as integers.

    Args:
        name: Name of the component.
        args: The arguments.
        typed: Their TypedDict.
        problems: Yields further problems, by argument. Default: missing required arguments.

    Raises:
        InvalidArguments: keys are missing or unknown, or values invalid; every problem is listed.
    """
    usable, reported = usable_args(args, typed)
    read: Any = whole_numbers(usable)
    if not has_unusable(args, usable):
        reported += problems(read) if problems else missing(read, typed)
    if reported:
        raise_errors(
            [Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS) for path, reason in reported]
        )
    return cast("Args", read)


def missing(args: Mapping[str, Any], typed: type) -> Found:
    """Yield a problem for each required argument that is missing."""
    required: frozenset[str] = getattr(typed, "__required_keys__", frozenset())
    return ((key, "is required") for key in sorted(required) if args.get(key) is None)


def flavors_or_manifests(args: Mapping[str, Any]) -> Found:
    """Require exactly one of flavors and manifests."""
    if args.get("flavors") and args.get("manifests"):
        yield "manifests", "cannot be combined with flavors; use one of the two"
    elif not args.get("flavors") and not args.get("manifests"):
        yield "flavors", "is required unless manifests is set; list the flavors of the nodes"


def load_reference(value: Mapping[str, Any], of: Kind) -> LoadedResource:
    """Validate and return a manifest that a component refers to.

    Args:
        value: The manifest.
        of: The kind of the component's own resource. Manifests of the same API are read in its release.

    Raises:
        InvalidArguments: its kind is unknown, or it violates the contract.
    """
    kind = kinds().find(value.get("apiVersion"), value.get("kind"))
    release = of.release if kind and kind.releases.family == of.releases.family else ""
    loaded, problems = _checked(whole_numbers(dict(value)), "a referenced manifest", release)
    return loaded or raise_errors(problems)


def _checked(value: dict[str, Any], name: str, release: str) -> tuple[LoadedResource | None, list[Problem]]:
    kind = kinds().find(value.get("apiVersion"), value.get("kind"))
    if kind is None:
        reason = f"unknown kind {value.get('apiVersion')}/{value.get('kind')}"
        return None, [Problem(file=PROGRAM, name=name, path="kind", reason=reason)]
    if release and release not in kind.releases.names:
        reason = f"must be a release of {kind.releases.project}: {', '.join(kind.releases.names)}, found {release!r}"
        return None, [
            Problem(file=PROGRAM, kind=kind.kind, name=name, path="release", reason=reason, rule=RuleId.SETTINGS)
        ]
    kind = kind.at(release)
    if kind.absence:
        return None, [
            Problem(
                file=PROGRAM, kind=kind.kind, name=name, path="release", reason=kind.absence, rule=RuleId.SETTINGS
            )
        ]
    resource, problems = check(value, kind)
    if resource is None:
        named = value.get("metadata", {}).get("name", name)
        return None, [
            Problem(file=PROGRAM, kind=kind.kind, name=named, path=field_path(path), reason=reason)
            for path, reason in problems
        ]
    return LoadedResource.from_program(resource, kind), []


def checked_plan(planned: Plan) -> Plan:
    """Return a plan without errors; logs its warnings.

    Raises:
        InvalidArguments: there are errors; every problem is listed.
    """
    report(planned.problems)
    return planned


def report(problems: Sequence[Problem]) -> None:
    """Log notes and warnings, and raise errors.

    Raises:
        InvalidArguments: there are errors; every problem is listed.
    """
    log_warnings(problems, format_problem)
    if errors(problems):
        raise_errors(problems)


def report_errors(problems: Sequence[Problem]) -> None:
    """Report all problems if there are errors. Otherwise report none: warnings are logged later, at their resources.

    Raises:
        InvalidArguments: there are errors; every problem is listed.
    """
    if errors(problems):
        report(problems)


def log_warnings(
    problems: Iterable[Problem],
    line: Callable[[Problem], str],
    about: Callable[[Problem], pulumi.Resource | None] = lambda _: None,
) -> None:
    """Log notes and warnings.

    Args:
        problems: Problems of any severity.
        line: Formats a problem.
        about: Returns the resource of a problem, at which previews show it.
    """
    for problem in problems:
        if problem.severity is Severity.WARNING:
            pulumi.log.warn(line(problem), about(problem))
        elif problem.severity is Severity.NOTE:
            pulumi.log.info(line(problem), about(problem))


def raise_errors(problems: Iterable[Problem]) -> NoReturn:
    """Raise the errors among problems."""
    severe = errors(problems)
    details: list[pulumi.InputPropertyErrorDetails] = [
        {"property_path": problem.path, "reason": problem.reason} for problem in severe
    ]
    raise InvalidArguments("\n".join(map(format_problem, severe)), details)


def format_problem(problem: Problem) -> str:
    """Format a problem as one line, without a file if it is in a manifest that a program passes."""
    return str(problem).removeprefix(f"{PROGRAM}: ")


def compact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Drop unset and empty values. Only for fields without defaults, where empty means unset."""
    return {key: value for key, value in values.items() if value is not None and value not in ({}, [])}


def whole_numbers(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return JSON with whole floats as integers; numbers of remote callers arrive as floats."""
    if isinstance(value, Mapping):
        return {key: whole_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(inner) for inner in value]
    return whole_float_to_int(value)
