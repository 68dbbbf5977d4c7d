"""Rules of AutoscalingPolicies and their bindings across fields (Kthena spec 1.4: V2, V9 and V10).

Those of targets in a policy are v1.0.0's: its CRD, and its webhook (pkg/autoscaler/webhook of volcano-sh/kthena).
"""

import re
from collections.abc import Iterator

from ....contract.base import Json, Rule, Violation
from ....contract.quantity import parse_quantity
from ....contract.releases import Span
from ....contract.rules import check_parts, duplicates, server_only
from ....contract.texts.go_durations import nanoseconds_of

MAX_REPLICAS = 1_000_000
"""Upper limit of minReplicas and maxReplicas, in backends and targets (Kthena spec 1.4, V2)."""


def _bounds_broken(bounds: Json) -> Iterator[Violation]:
    least, most = bounds.min_replicas, bounds.max_replicas
    if least is not None and most is not None and least > most:
        yield ("minReplicas",), f", found {bounds.min_replicas} and {bounds.max_replicas}"


BOUNDS = Rule("minReplicas must not be above maxReplicas", _bounds_broken, "self.minReplicas <= self.maxReplicas")

_SINCE_TARGETS = Span(since="v1.0.0")
"""The releases in which a policy names its targets itself."""

_MAX_NANOSECONDS = 30 * 60 * 10**9
_Parts = Iterator[tuple[tuple[str | int, ...], Json]]


def _time(attribute: str, wire: str) -> Rule:
    def broken(policy: Json) -> Iterator[Violation]:
        written = getattr(policy, attribute)
        if written is not None and not 0 <= nanoseconds_of(written) <= _MAX_NANOSECONDS:
            yield (wire,), f", found {written!r}"

    return Rule(
        f"{wire} must be from 0s to 30m",
        broken,
        f"!has(self.{wire}) || (duration(self.{wire}) >= duration('0s') && duration(self.{wire}) <= duration('30m'))",
    )


_STABLE = (_time("period", "period"), _time("stabilization_window", "stabilizationWindow"))
_PANIC = (_time("period", "period"), _time("panic_mode_hold", "panicModeHold"))


def _value_broken(metric: Json) -> Iterator[Violation]:
    if parse_quantity(metric.target_value) <= 0:
        yield ("targetValue",), f", found {metric.target_value!r}"


_VALUE = Rule(
    "targetValue must be above 0",
    _value_broken,
    "quantity(string(self.targetValue)).isGreaterThan(quantity('0'))",
)


def _name_broken(metric: Json) -> Iterator[Violation]:
    if metric.name is None and metric.metric_name is None:
        yield ("metricName",), "is required; since v1.0.0, name takes its place"
    elif metric.name is not None and metric.metric_name is not None:
        yield ("metricName",), "must not be set together with name, which takes its place since v1.0.0; remove one"


_ONE_NAME = Rule("", _name_broken, "")


def _lists(spec: Json) -> _Parts:
    """Yield the lists of metrics of a policy: its own, and those of roles."""
    yield (), spec
    if spec.disaggregated_target:
        for name, role in spec.disaggregated_target.roles.items():
            yield ("disaggregatedTarget", "roles", name), role


def _names_broken(spec: Json) -> Iterator[Violation]:
    metrics = spec.metrics or ()
    for index, name in duplicates(metric.key for metric in metrics):
        field = "metricName" if metrics[index].name is None else "name"
        yield ("metrics", index, field), f"{name!r} is used twice; keep one of the two"


_NAMES = Rule("", _names_broken, "")
"""Without CEL: for the API server, the field is a list map keyed by the name."""


def _metrics(spec: Json) -> _Parts:
    for path, part in _lists(spec):
        for index, metric in enumerate(part.metrics or ()):
            yield (*path, "metrics", index), metric


def _stable(spec: Json) -> _Parts:
    behavior = spec.behavior
    if behavior and behavior.scale_up and behavior.scale_up.stable_policy:
        yield ("behavior", "scaleUp", "stablePolicy"), behavior.scale_up.stable_policy
    if behavior and behavior.scale_down:
        yield ("behavior", "scaleDown"), behavior.scale_down


def _panic(spec: Json) -> _Parts:
    behavior = spec.behavior
    if behavior and behavior.scale_up and behavior.scale_up.panic_policy:
        yield ("behavior", "scaleUp", "panicPolicy"), behavior.scale_up.panic_policy


def _unmeasured(spec: Json) -> Iterator[Violation]:
    if spec.metrics is None and spec.disaggregated_target is None:
        yield ("metrics",), "is required; set the metrics to scale on"
    elif not spec.metrics and spec.disaggregated_target is None:
        yield ("metrics",), "must have at least one item, found []"


_MEASURED = Rule("", _unmeasured, "")
_MEASURED_CEL = Rule(
    "metrics must have at least one item, unless each role of disaggregatedTarget has its own",
    _unmeasured,
    "has(self.disaggregatedTarget) || (has(self.metrics) && self.metrics.size() > 0)",
    span=_SINCE_TARGETS,
)

POLICY = (
    _MEASURED,
    check_parts(_ONE_NAME, _metrics),
    check_parts(_NAMES, _lists),
    check_parts(_VALUE, _metrics),
    *(check_parts(rule, _stable) for rule in _STABLE),
    *(check_parts(rule, _panic) for rule in _PANIC),
)
"""The rules of a policy's ``spec``, also as a field of a ModelBooster."""

# Targets of bindings and policies


def _kind_broken(target: Json) -> Iterator[Violation]:
    kind = target.target_ref.kind
    if kind not in (None, "ModelServing"):
        yield ("targetRef", "kind"), f", found {kind!r}"


_KIND = Rule(
    "targetRef.kind must be ModelServing, or absent: nothing else can be scaled",
    _kind_broken,
    "!has(self.targetRef.kind) || self.targetRef.kind == 'ModelServing'",
)


def _unnamed(target: Json) -> Iterator[Violation]:
    if not target.target_ref.name:
        yield ("targetRef", "name"), "is required: name the ModelServing to scale"


_NAMED = Rule("", _unnamed, "")
"""Without CEL, because bindings, whose targets have the same type, may lack it; v1.0.0's webhook checks it."""


def bounded_of(spec: Json) -> _Parts:
    """Yield the targets of a binding or policy with their bounds, in any form, except roles."""
    for attribute, wire in (
        ("scaling_configuration", "scalingConfiguration"),
        ("homogeneous_target", "homogeneousTarget"),
    ):
        if getattr(spec, attribute, None):
            yield (wire,), getattr(spec, attribute)
    for attribute, wire in (
        ("optimizer_configuration", "optimizerConfiguration"),
        ("heterogeneous_target", "heterogeneousTarget"),
    ):
        if getattr(spec, attribute, None):
            for index, param in enumerate(getattr(spec, attribute).params):
                yield (wire, "params", index), param


def _targets(spec: Json) -> _Parts:
    for path, bounded in bounded_of(spec):
        yield (*path, "target"), bounded.target


# Targets of a policy

_TARGET_FIELDS = {
    "homogeneous_target": "homogeneousTarget",
    "heterogeneous_target": "heterogeneousTarget",
    "disaggregated_target": "disaggregatedTarget",
}
_HAS_ONE = " ".join(f"(has(self.{field}) ? 1 : 0) +" for field in _TARGET_FIELDS.values()).removesuffix(" +")


def _targets_of(spec: Json) -> list[str]:
    return [wire for attribute, wire in _TARGET_FIELDS.items() if getattr(spec, attribute) is not None]


def _several_targets(spec: Json) -> Iterator[Violation]:
    found = _targets_of(spec)
    if len(found) > 1:
        yield (), f", found {' and '.join(found)}"


def _no_target(spec: Json) -> Iterator[Violation]:
    if not _targets_of(spec):
        yield (), ", found none: since v1.0.0 there are no bindings"


_ONE_TARGET = Rule(f"set only one of {', '.join(_TARGET_FIELDS.values())}", _several_targets, "")
_A_TARGET = Rule(
    f"set exactly one of {', '.join(_TARGET_FIELDS.values())}", _no_target, f"{_HAS_ONE} == 1", span=_SINCE_TARGETS
)


_OF_POLICY = (_A_TARGET, _MEASURED_CEL)


def _sources_broken(source: Json) -> Iterator[Violation]:
    if (source.pod is None) == (source.prometheus is None):
        yield (), ", found neither" if source.pod is None else ", found both"


_ONE_SOURCE = Rule("set exactly one of pod and prometheus", _sources_broken, "has(self.pod) != has(self.prometheus)")


SERVER_URL = (
    r"^https?://"
    r"(([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+@)?"
    r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?"
    r"([/?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$"
)
"""What v1.0.0's collector and Go's url.ParseRequestURI, by which API servers check the format, accept."""


def _server_broken(source: Json) -> Iterator[Violation]:
    if not re.fullmatch(SERVER_URL.removesuffix("$"), source.server_url):
        yield ("serverURL",), f", found {source.server_url!r}"


_SERVER = Rule("serverURL must begin with http:// or https://, and be a valid address", _server_broken, "")
"""Without CEL: the schema has a pattern. An expression that matches a text would exceed the API server's budget."""


def _roles(target: Json) -> _Parts:
    for name, role in target.roles.items():
        yield ("roles", name), role


def _role_sources_broken(spec: Json) -> Iterator[Violation]:
    target = spec.disaggregated_target
    for name, role in target.roles.items() if target else ():
        path = ("disaggregatedTarget", "roles", name)
        metrics = role.metrics or spec.metrics or ()
        if role.is_fixed:
            continue
        if not metrics:
            yield (*path, "metrics"), "is required, because neither the role nor the policy has one"
        elif not role.metric_sources:
            yield (*path, "metricSources"), "is required: it tells where the metrics of the role come from"
        else:
            keys = {metric.key for metric in metrics}
            for key in role.metric_sources:
                if key not in keys:
                    yield (
                        (*path, "metricSources", key),
                        f"is no metric of the role, which has {', '.join(sorted(keys))}",
                    )


_ROLE_SOURCES = Rule("", _role_sources_broken, "")
"""Without CEL, which would exceed the API server's budget; v1.0.0's webhook checks it."""


def _same_role(constraint: Json) -> Iterator[Violation]:
    if constraint.numerator_role == constraint.denominator_role:
        yield ("denominatorRole",), f", found {constraint.denominator_role!r} twice"


def _ratios_broken(constraint: Json) -> Iterator[Violation]:
    least, most = parse_quantity(constraint.min_ratio), parse_quantity(constraint.max_ratio)
    if least < 0 or most <= 0 or least > most:
        yield ("minRatio",), f", found {constraint.min_ratio} and {constraint.max_ratio}"


_TWO_ROLES = Rule(
    "numeratorRole and denominatorRole must differ", _same_role, "self.numeratorRole != self.denominatorRole"
)
_RATIOS = Rule(
    "minRatio must be from 0 to maxRatio, which must be above 0",
    _ratios_broken,
    "!quantity(string(self.minRatio)).isLessThan(quantity('0')) && "
    "quantity(string(self.maxRatio)).isGreaterThan(quantity('0')) && "
    "!quantity(string(self.minRatio)).isGreaterThan(quantity(string(self.maxRatio)))",
)
_OF_RATIO = (_TWO_ROLES, _RATIOS)


def _ratio(target: Json) -> _Parts:
    if target.ratio_constraint:
        yield ("ratioConstraint",), target.ratio_constraint


def _constrained_broken(target: Json) -> Iterator[Violation]:
    constraint = target.ratio_constraint
    if constraint is None:
        return
    names = {"numeratorRole": constraint.numerator_role, "denominatorRole": constraint.denominator_role}
    for field, name in names.items():
        if name not in target.roles:
            known = ", ".join(map(repr, target.roles))
            yield ("ratioConstraint", field), f", found {name!r}, and roles has {known}"


_CONSTRAINED = Rule(
    "ratioConstraint must name two of the roles",
    _constrained_broken,
    "!has(self.ratioConstraint) || "
    "(self.ratioConstraint.numeratorRole in self.roles && self.ratioConstraint.denominatorRole in self.roles)",
)


def _unreachable(target: Json) -> Iterator[Violation]:
    constraint = target.ratio_constraint
    if constraint is None or not {constraint.numerator_role, constraint.denominator_role} <= target.roles.keys():
        return
    upper, lower = target.roles[constraint.numerator_role], target.roles[constraint.denominator_role]
    least, most = parse_quantity(constraint.min_ratio), parse_quantity(constraint.max_ratio)
    if (upper.min_replicas == 0) != (lower.min_replicas == 0):
        yield ("ratioConstraint",), ": both roles must be able to scale to zero, or none"
    elif upper.min_replicas > most * lower.max_replicas or upper.max_replicas < least * lower.min_replicas:
        yield ("ratioConstraint",), ": no numbers of instances within the bounds have such a ratio"


_REACHABLE = Rule("ratioConstraint must fit the bounds of its roles", _unreachable, "")
"""Without CEL, which would exceed the API server's budget; v1.0.0's webhook checks it."""


def _disaggregated(spec: Json) -> _Parts:
    if spec.disaggregated_target:
        yield ("disaggregatedTarget",), spec.disaggregated_target


def _sources(spec: Json) -> _Parts:
    """Yield every metric source of a policy."""
    parts: list[tuple[tuple[str | int, ...], Json]] = [
        ((*path, "target"), bounded.target) for path, bounded in bounded_of(spec)
    ]
    parts += [
        (("disaggregatedTarget", *path), role) for _, target in _disaggregated(spec) for path, role in _roles(target)
    ]
    for path, part in parts:
        for key, source in (part.metric_sources or {}).items():
            yield (*path, "metricSources", key), source


def _servers(spec: Json) -> _Parts:
    for path, source in _sources(spec):
        if source.prometheus:
            yield (*path, "prometheus"), source.prometheus


def _policy_bounds(spec: Json) -> _Parts:
    yield from bounded_of(spec)
    for path, target in _disaggregated(spec):
        for inner, role in _roles(target):
            yield (*path, *inner), role


def _policy_references(spec: Json) -> _Parts:
    yield from _targets(spec)
    yield from _disaggregated(spec)


WHOLE_POLICY = tuple(
    check_parts(rule, lambda policy: [(("spec",), policy.spec)])
    for rule in (
        *POLICY,
        _ONE_TARGET,
        _A_TARGET,
        check_parts(BOUNDS, _policy_bounds),
        check_parts(_KIND, _policy_references),
        check_parts(_NAMED, _policy_references),
        check_parts(_ONE_SOURCE, _sources),
        check_parts(_SERVER, _servers),
        _ROLE_SOURCES,
        *(check_parts(check_parts(rule, _ratio), _disaggregated) for rule in _OF_RATIO),
        *(check_parts(rule, _disaggregated) for rule in (_CONSTRAINED, _REACHABLE)),
    )
)
POLICY_CEL = tuple(map(server_only, _OF_POLICY))
SOURCE_CEL = (server_only(_ONE_SOURCE),)
RATIO_CEL = tuple(map(server_only, _OF_RATIO))
ROLES_CEL = (server_only(_CONSTRAINED), server_only(_KIND))
METRIC_CEL = (server_only(_VALUE),)
STABLE_CEL = tuple(map(server_only, _STABLE))
PANIC_CEL = tuple(map(server_only, _PANIC))

# Rules of bindings


_WAYS = {
    "scaling_configuration": "scalingConfiguration",
    "optimizer_configuration": "optimizerConfiguration",
    "homogeneous_target": "homogeneousTarget",
    "heterogeneous_target": "heterogeneousTarget",
}


def _one_way_broken(spec: Json) -> Iterator[Violation]:
    found = [wire for attribute, wire in _WAYS.items() if getattr(spec, attribute) is not None]
    if len(found) != 1:
        how_many = "both" if set(found) == {"scalingConfiguration", "optimizerConfiguration"} else " and ".join(found)
        yield (), f", found {how_many or 'neither'}"


_ONE_WAY = Rule(
    "set exactly one of scalingConfiguration, for one target, and optimizerConfiguration, for several that share a "
    "load; since v0.2.0 they are homogeneousTarget and heterogeneousTarget",
    _one_way_broken,
    "",
)
_ONE_WAY_CEL = (
    Rule(
        _ONE_WAY.message,
        _one_way_broken,
        "has(self.optimizerConfiguration) != has(self.scalingConfiguration)",
        span=Span(until="v0.1.0"),
    ),
    Rule(
        _ONE_WAY.message,
        _one_way_broken,
        "has(self.heterogeneousTarget) != has(self.homogeneousTarget)",
        span=Span("v0.2.0", "v0.4.0"),
    ),
)


WHOLE_BINDING = tuple(
    check_parts(rule, lambda binding: [(("spec",), binding.spec)])
    for rule in (_ONE_WAY, check_parts(BOUNDS, bounded_of), check_parts(_KIND, _targets))
)
BINDING_CEL = tuple(map(server_only, _ONE_WAY_CEL))
TARGET_CEL = (server_only(_KIND),)
BOUNDS_CEL = (server_only(BOUNDS),)
