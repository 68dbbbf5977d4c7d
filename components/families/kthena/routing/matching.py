"""Which requests the rules of a ModelRoute are for (Kthena spec 5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....contract.findings.ids import RuleId
from ....fleet.endpoints import HeaderMatch
from ....fleet.words import HeaderKind
from ..types.networking import StringMatch
from .asked import AskedRoute, AskedRule

_PATHS = "/v1/"
"""How the paths of all requests begin."""
_KINDS: Mapping[HeaderKind, str] = {HeaderKind.EXACT: "exact", HeaderKind.PREFIX: "prefix", HeaderKind.REGEX: "regex"}
"""Fields of a match, in the order in which they count."""


@dataclass(frozen=True, slots=True)
class UsedRule:
    """A rule that answers requests for a model.

    Attributes:
        path: The field of the rule.
        order: Its place among the rules.
        name: What it is called; empty without a name.
    """

    path: str
    order: int
    name: str
    headers: tuple[HeaderMatch, ...]


UsedRules = Mapping[str, list[UsedRule]]
"""The rules that answer requests, by model."""


def rules_for(asked: AskedRoute, model: str) -> list[UsedRule]:
    """Return the rules that answer requests for a model, up to the first one that takes all of them."""
    found: list[UsedRule] = []
    for order, rule in enumerate(asked.rules):
        if rule.model is not None and rule.model != model:
            continue
        headers = tuple(_headers(asked, rule))
        found.append(UsedRule(rule.path, order, rule.name, headers))
        if not headers and not matches_paths(rule):
            break
    return found


def _headers(asked: AskedRoute, rule: AskedRule) -> Iterator[HeaderMatch]:
    for name, match in sorted(rule.headers.items()):
        stated = _stated(match)
        if stated is not None:
            yield HeaderMatch(name, *stated, asked.origin(f"{rule.path}.modelMatch.headers[{name}]"))


def _stated(match: StringMatch) -> tuple[HeaderKind, str] | None:
    values = ((kind, getattr(match, field)) for kind, field in _KINDS.items())
    return next(((kind, value) for kind, value in values if value is not None), None)


def matches_paths(rule: AskedRule) -> bool:
    """Tell whether a rule is for some paths alone."""
    stated = _stated(rule.uri) if rule.uri else None
    if stated is None:
        return False
    kind, value = stated
    return not (kind is HeaderKind.PREFIX and _PATHS.startswith(value))


def check_rules(asked: AskedRoute, used: UsedRules) -> None:
    """Report rules that no request reaches, and models that no rule answers for."""
    reached = {rule.path for rules in used.values() for rule in rules}
    for rule in asked.rules:
        if rule.path not in reached:
            if rule.model is not None and rule.model not in used:
                reason = (
                    f"is never used: {rule.model!r} is neither modelName nor one of loraAdapters; correct the name"
                )
                asked.findings.warn(f"{rule.path}.modelMatch.body.model", reason, RuleId.ACCESS_ROUTE_UNUSED)
            else:
                reason = "is never used: a rule before it takes all of its requests; put it first, or remove it"
                asked.findings.warn(rule.path, reason, RuleId.ACCESS_ROUTE_UNUSED)
        _check_matches(asked, rule)
    for model, rules in used.items():
        if not rules:
            reason = f"no rule answers requests for {model!r}; add one without modelMatch.body, or with that model"
            report = asked.findings.warn if reached else asked.findings.error
            report("spec.rules", reason)


def _check_matches(asked: AskedRoute, rule: AskedRule) -> None:
    fields = {f"headers[{name}]": each for name, each in rule.headers.items()}
    if rule.uri:
        fields["uri"] = rule.uri
    for field, each in fields.items():
        if _stated(each) is None:
            reason = f"has no effect: it says none of {', '.join(_KINDS.values())}; add one, or remove it"
            asked.findings.warn(f"{rule.path}.modelMatch.{field}", reason, RuleId.FIELD_NO_EFFECT)
