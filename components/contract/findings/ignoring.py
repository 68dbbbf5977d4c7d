"""Separates ignored findings, and reports invalid or unused requests to ignore one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..load import LoadedResource
from ..problems import Owner, Problem, did_you_mean, errors, field_path
from .annotations import PREFIX, ignore_annotations, rule_named
from .ids import COMPARED, FINAL, RuleId
from .registry import rule

SETTING = "ignore"
_ANYWHERE = ("field", "engine", "image", "adapters", "flags", "weights", "gpus", "handover", "security")
"""Areas of rules that depend only on the manifests. The findings of all others depend on the environment."""


class Scope(NamedTuple):
    """The settings and environment of a check.

    Attributes:
        ignore: Rules whose findings about the settings are ignored, each with the reason.
        file: File of the settings, for messages.
        is_known: Whether the environment is known, so that rules that depend on it were checked.
    """

    ignore: Mapping[str, str]
    file: str
    is_known: bool


class Ignored(NamedTuple):
    """An ignored finding, and the reason that the user gave."""

    problem: Problem
    reason: str


def without_ignored(
    problems: Iterable[Problem], resources: Iterable[LoadedResource], scope: Scope
) -> tuple[tuple[Problem, ...], tuple[Ignored, ...]]:
    """Return the effective problems and the ignored ones.

    Annotations ignore the problems of resources, which are already marked; a setting ignores those of the settings.
    Invalid and unused requests to ignore a rule are added as problems.
    """
    marked = [_ignored_by_settings(problem, scope.ignore) for problem in problems]
    used: dict[Owner, set[RuleId]] = {}
    for problem in marked:
        if problem.ignored:
            used.setdefault(problem.owner, set()).add(problem.rule)
    used_settings = {name for owner, names in used.items() if not owner.kind for name in names}
    has_errors = bool(errors([problem for problem in marked if not problem.ignored]))
    for source in resources:
        for name, reason in ignore_annotations(source.resource.metadata.annotations):
            mistake = _mistake(name, reason, used.get(source.owner, set()), scope, has_errors=has_errors)
            if mistake:
                broken, message = mistake
                path = field_path(("metadata", "annotations", f"{PREFIX}{name}"))
                marked.append(source.problem(path, message, rule(broken).severity, broken))
    for name, reason in scope.ignore.items():
        mistake = _mistake(name, reason, used_settings, scope, has_errors=has_errors)
        if mistake:
            broken, message = mistake
            path = field_path((SETTING, name))
            problem = Problem(file=scope.file, path=path, reason=message, severity=rule(broken).severity, rule=broken)
            marked.append(_ignored_by_settings(problem, scope.ignore))
    effective = tuple(problem for problem in marked if not problem.ignored)
    return effective, tuple(Ignored(problem, problem.ignored) for problem in marked if problem.ignored)


def _ignored_by_settings(problem: Problem, ignore: Mapping[str, str]) -> Problem:
    """Mark a problem without a resource as ignored if the settings ignore its rule."""
    reason = ignore.get(problem.rule, "").strip() if not problem.kind and problem.rule not in FINAL else ""
    return replace(problem, ignored=reason) if reason else problem


def why_not_ignorable(name: str) -> str:
    """Return why a rule cannot be ignored, or an empty string if it can."""
    named = rule_named(name)
    if named is None:
        hint = did_you_mean(name, map(str, RuleId)) or "; the ids are those in brackets at the end of messages"
        return f"there is no rule {name!r}{hint}"
    if named in FINAL:
        return (
            f"{name} cannot be ignored, because it is about input that cannot be rendered; correct what it reports, "
            "and remove this"
        )
    return ""


def _mistake(
    name: str, reason: str, used: set[RuleId], scope: Scope, *, has_errors: bool
) -> tuple[RuleId, str] | None:
    """Return the rule and message of an invalid or unused request to ignore a rule, or None."""
    objection, named = why_not_ignorable(name), rule_named(name)
    if objection or named is None:
        return RuleId.IGNORE_WRONG, objection
    if not reason.strip():
        return RuleId.IGNORE_WRONG, f"needs a reason: write why {name} is right here, for those who read reports"
    # A rule is unused only if it was checked; with errors left, or without the environment, many rules are not.
    was_checked = not has_errors and named not in COMPARED and (name.partition("-")[0] in _ANYWHERE or scope.is_known)
    if was_checked and named is not RuleId.IGNORE_UNUSED and named not in used:
        return RuleId.IGNORE_UNUSED, f"has no effect: rule {name} has no finding here; remove it"
    return None
