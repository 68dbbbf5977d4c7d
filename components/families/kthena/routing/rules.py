"""The rules of a ModelRoute: which requests each one matches (Kthena spec 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.go_patterns import pattern_error
from ....fleet.endpoints import HeaderMatch
from ....fleet.options import Options
from ....fleet.origins import Origin, ProblemSource
from ....fleet.words import HeaderKind
from ..types.networking import ModelMatch, StringMatch

_KINDS: Mapping[HeaderKind, str] = {HeaderKind.EXACT: "exact", HeaderKind.PREFIX: "prefix", HeaderKind.REGEX: "regex"}
"""Fields of a match, in order of precedence."""


@dataclass(frozen=True, slots=True)
class RoutingRule:
    """A rule of a ModelRoute.

    Attributes:
        path: The field of the rule.
        name: Empty without a name.
        headers: Matches of request headers.
        uri: Match of the request path; None for any.
        model: The model that requests must name; None for any.
        targets: Names of ModelServers and their weights.
    """

    path: str
    name: str
    headers: Mapping[str, StringMatch]
    uri: StringMatch | None
    model: str | None
    targets: tuple[tuple[str, int], ...]

    @classmethod
    def create(
        cls,
        index: int,
        name: str,
        match: ModelMatch | None,
        targets: tuple[tuple[str, int], ...],
        model: str | None = None,
    ) -> "RoutingRule":
        """Return a rule; ``model`` takes the place of the model in its match."""
        path = f"spec.rules[{index}]"
        if match is None:
            return cls(path=path, name=name, headers={}, uri=None, model=model, targets=targets)
        if model is None and match.body:
            model = match.body.model
        return cls(path=path, name=name, headers=match.headers or {}, uri=match.uri, model=model, targets=targets)

    @property
    def matches_paths(self) -> bool:
        """Whether the rule matches some request paths only."""
        condition = _condition(self.uri) if self.uri else None
        if condition is None:
            return False
        kind, value = condition
        # The paths of all requests begin with /v1/.
        return not (kind is HeaderKind.PREFIX and "/v1/".startswith(value))


@dataclass(frozen=True, slots=True)
class RouteContext:
    """A ModelRoute, written by the user or standing for a ModelBooster, while it is rendered.

    Attributes:
        source: What problems are reported at.
        model: The model name of requests; empty for a route of adapters only.
        lora_adapters: Names of adapters as written.
        adapters: Names of the adapters that the route leads to (:func:`routed_adapters`).
        limited: Whether it has a rate limit, which counts tokens.
    """

    source: ProblemSource
    name: str
    namespace: str
    model: str
    lora_adapters: tuple[str, ...]
    adapters: tuple[str, ...]
    rules: tuple[RoutingRule, ...]
    options: Options
    findings: Findings
    limited: bool = False

    def origin(self, path: str = "") -> Origin:
        """Return the origin of a field; of the whole route without a path."""
        return Origin(self.source, path)

    @property
    def models(self) -> tuple[str, ...]:
        """The names that requests can give as their model; that of the model comes first."""
        return (self.model, *self.adapters) if self.model else self.adapters


def routed_adapters(model: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the adapters that a route leads to: an adapter with the name of the model is never reached."""
    return tuple(name for name in dict.fromkeys(names) if name != model)


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """A rule that can match requests for a model.

    Attributes:
        path: The field of the rule.
        order: Its position among the rules.
        name: Empty without a name.
    """

    path: str
    order: int
    name: str
    headers: tuple[HeaderMatch, ...]


ActiveRules = Mapping[str, list[ActiveRule]]
"""The rules that can match requests, by model."""


def rules_for(route: RouteContext, model: str) -> list[ActiveRule]:
    """Return the rules that can match requests for a model: those up to the first one that matches all of them."""
    active: list[ActiveRule] = []
    for order, rule in enumerate(route.rules):
        if rule.model is not None and rule.model != model:
            continue
        headers = tuple(
            HeaderMatch(name, *condition, route.origin(f"{rule.path}.modelMatch.headers[{name}]"))
            for name, match in sorted(rule.headers.items())
            if (condition := _condition(match)) is not None
        )
        active.append(ActiveRule(rule.path, order, rule.name, headers))
        # The first rule that matches counts, so nothing gets past one that matches all requests.
        if not headers and not rule.matches_paths:
            break
    return active


def _condition(match: StringMatch) -> tuple[HeaderKind, str] | None:
    """Return the condition of a match that counts; None if it has none."""
    values = ((kind, getattr(match, field)) for kind, field in _KINDS.items())
    return next(((kind, value) for kind, value in values if value is not None), None)


def check_rules(route: RouteContext, active: ActiveRules) -> None:
    """Report rules that never match, matches without a condition, and models without a rule."""
    reachable = {rule.path for rules in active.values() for rule in rules}
    for rule in route.rules:
        if rule.path not in reachable:
            if rule.model is not None and rule.model not in active:
                path = f"{rule.path}.modelMatch.body.model"
                reason = f"never matches: {rule.model!r} is neither modelName nor in loraAdapters; correct the name"
            else:
                path = rule.path
                reason = "never matches: an earlier rule matches all of its requests; move it up, or remove it"
            route.findings.warn(path, reason, RuleId.ACCESS_ROUTE_UNUSED)
        matches = {f"headers[{name}]": match for name, match in rule.headers.items()}
        if rule.uri:
            matches["uri"] = rule.uri
        for field, match in matches.items():
            if _condition(match) is None:
                reason = f"has no effect without one of {', '.join(_KINDS.values())}; add one, or remove it"
                route.findings.warn(f"{rule.path}.modelMatch.{field}", reason, RuleId.FIELD_NO_EFFECT)
    for model, rules in active.items():
        if not rules:
            reason = f"no rule matches requests for {model!r}; add one without modelMatch.body, or with that model"
            report = route.findings.warn if reachable else route.findings.error
            report("spec.rules", reason)


def check_patterns(match: ModelMatch | None, path: str, findings: Findings) -> None:
    """Report regular expressions of a match that no router accepts.

    Until v0.4.0 Kthena's router never matches such a rule (pkg/kthena-router/datastore/store.go), and since v1.0.0
    the admission webhook refuses it (pkg/kthena-router/webhook/validator.go); gateways have the same syntax.
    """
    if match is None:
        return
    conditions = {f"headers[{name}]": header for name, header in (match.headers or {}).items()}
    if match.uri:
        conditions["uri"] = match.uri
    for name, condition in conditions.items():
        wrong = pattern_error(condition.regex) if condition.regex is not None else None
        if wrong:
            reason = (
                f"{wrong}, found {condition.regex!r}; routers never match it, and Kthena's webhook refuses it since "
                "v1.0.0; write a regular expression of Go (RE2), without lookaround and back references"
            )
            findings.error(f"{path}.{name}.regex", reason)
