"""Separates ignored findings, and reports invalid or unused requests to ignore one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..load import LoadedResource
from ..problems import Owner, Problem, did_you_mean, errors, field_path
from .annotations import PREFIX, ignore_annotations, rule_named
from .ids import FINAL, RuleId
from .registry import rule

SETTING = "ignore"
_ANYWHERE = ("field", "engine", "image", "adapters", "flags", "weights", "gpus", "handover", "security")
"""Areas of rules that depend only on the manifests. The findings of all others depend on the environment."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The settings and environment of a check.

    Attributes:
        ignore: Rules whose findings about the settings are ignored, each with the reason.
        file: File of the settings, for messages.
        is_known: Whether the environment is known, so that rules that depend on it were checked.
    """

    ignore: Mapping[str, str]
    file: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Ignored:
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
    known = [_of_settings(problem, scope.ignore) for problem in problems]
    counting = [problem for problem in known if not problem.ignored]
    ignored = [Ignored(problem, problem.ignored) for problem in known if problem.ignored]
    used: dict[Owner, set[RuleId]] = {}
    for each in ignored:
        used.setdefault(each.problem.owner, set()).add(each.problem.rule)
    of_settings = {name for owner, names in used.items() if not owner.kind for name in names}
    whole = not errors(counting)
    mistakes = list(_in_annotations(resources, used, scope, whole=whole))
    mistakes += _in_settings(scope, of_settings, whole=whole)
    ignored += [Ignored(each, each.ignored) for each in mistakes if each.ignored]
    return (*counting, *(each for each in mistakes if not each.ignored)), tuple(ignored)


def _of_settings(problem: Problem, ignore: Mapping[str, str]) -> Problem:
    """Mark a problem without a resource as ignored if the settings ignore its rule."""
    reason = ignore.get(problem.rule, "").strip() if not problem.kind and problem.rule not in FINAL else ""
    return replace(problem, ignored=reason) if reason else problem


def _in_annotations(
    resources: Iterable[LoadedResource], used: Mapping[Owner, set[RuleId]], scope: Scope, *, whole: bool
) -> Iterator[Problem]:
    for source in resources:
        for name, reason in ignore_annotations(source.resource.metadata.annotations):
            found = _mistake(name, reason, used.get(source.owner, set()), scope, whole=whole)
            if found:
                wrong, why = found
                path = field_path(("metadata", "annotations", f"{PREFIX}{name}"))
                yield source.problem(path, why, rule(wrong).severity, wrong)


def _in_settings(scope: Scope, used: set[RuleId], *, whole: bool) -> Iterator[Problem]:
    for name, reason in scope.ignore.items():
        found = _mistake(name, reason, used, scope, whole=whole)
        if found:
            wrong, why = found
            path = field_path((SETTING, name))
            problem = Problem(scope.file, 0, "", "", path, why, rule(wrong).severity, rule=wrong)
            yield _of_settings(problem, scope.ignore)


def why_not_ignorable(name: str) -> str:
    """Return why a rule cannot be ignored, or an empty string if it can."""
    named = rule_named(name)
    if named is None:
        hint = did_you_mean(name, map(str, RuleId)) or "; the ids are those in brackets at the end of messages"
        return f"there is no rule {name!r}{hint}"
    if named in FINAL:
        return (
            f"{name} cannot be ignored: nothing could be made of it otherwise; correct what it finds, and remove this"
        )
    return ""


def _mistake(name: str, reason: str, used: set[RuleId], scope: Scope, *, whole: bool) -> tuple[RuleId, str] | None:
    """Return the rule and message of an invalid or unused request to ignore a rule, or None."""
    wrong, named = why_not_ignorable(name), rule_named(name)
    if wrong or named is None:
        return RuleId.IGNORE_WRONG, wrong
    if not reason.strip():
        return RuleId.IGNORE_WRONG, f"needs a reason: write why {name} is right here, for those who read reports"
    # A rule is unused only if it was checked; with errors left, or without the environment, many rules are not.
    was_checked = whole and (name.partition("-")[0] in _ANYWHERE or scope.is_known)
    if was_checked and named is not RuleId.IGNORE_UNUSED and named not in used:
        return RuleId.IGNORE_UNUSED, f"ignores nothing: {name} finds nothing here; remove it"
    return None
