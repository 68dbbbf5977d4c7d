"""Findings that somebody ignores, each with the reason; and what is wrong with that, which is a finding itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..load import LoadedResource
from ..problems import Owner, Problem, did_you_mean, errors, field_path
from .annotations import PREFIX, ignore_annotations, rule_named
from .ids import FINAL, RuleId
from .registry import rule

SETTING = "ignore"
_ANYWHERE = ("field", "engine", "image", "adapters", "flags", "weights", "gpus", "handover", "security")
"""Areas of rules of which a manifest tells all by itself. What others find depends on where the models run."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where findings are looked for, as far as ignoring goes.

    Attributes:
        ignore: Rules whose findings of the settings do not count, each with the reason.
        file: File of the settings, for messages.
        is_known: Whether it is known where the models run.
    """

    ignore: Mapping[str, str]
    file: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Ignored:
    """A finding that does not count.

    Attributes:
        reason: Why, as somebody wrote it.
    """

    problem: Problem
    reason: str


def without_ignored(
    problems: Iterable[Problem], resources: Iterable[LoadedResource], scope: Scope
) -> tuple[tuple[Problem, ...], tuple[Ignored, ...]]:
    """Part what counts from what is ignored.

    Of resources that is done by annotations, which their problems know already. Of settings it is done by a setting.

    Args:
        problems: Everything that was found.
        resources: Everything that was read.
        scope: Where it was looked for.
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
    """Return a problem that is of no resource as ignored, if the settings say so."""
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
    """Say why there is nothing that a name could ignore; empty where there is."""
    named = rule_named(name)
    if named is None:
        hint = did_you_mean(name, map(str, RuleId)) or "; the ids are those in brackets at the end of messages"
        return f"there is no rule {name!r}{hint}"
    if named in FINAL:
        what = "nothing could be made of it otherwise"
        return f"{name} cannot be ignored: {what}; correct what it finds, and remove this"
    return ""


def _mistake(name: str, reason: str, used: set[RuleId], scope: Scope, *, whole: bool) -> tuple[RuleId, str] | None:
    """Return what is wrong with ignoring a rule; None where nothing is."""
    wrong, named = why_not_ignorable(name), rule_named(name)
    if wrong or named is None:
        return RuleId.IGNORE_WRONG, wrong
    if not reason.strip():
        return RuleId.IGNORE_WRONG, f"needs a reason: write why {name} is right here, for those who read reports"
    if whole and named is not RuleId.IGNORE_UNUSED and named not in used and _is_looked_for(named, scope):
        return RuleId.IGNORE_UNUSED, f"ignores nothing: {name} finds nothing here; remove it"
    return None


def _is_looked_for(name: RuleId, scope: Scope) -> bool:
    """Tell whether a rule would have found something if there were something: what is not known is not checked."""
    return name.partition("-")[0] in _ANYWHERE or scope.is_known
