"""Rules of AutoscalingPolicies and their bindings across fields (Kthena spec 1.4: V2, V9 and V10)."""

from collections.abc import Iterator

from ....contract.base import Json, Rule, Violation
from ....contract.quantity import parse_quantity
from ....contract.rules import check_parts, duplicates, server_only
from ..durations import nanoseconds_of

MAX_REPLICAS = 1_000_000
"""Upper limit of minReplicas and maxReplicas, in backends and targets (Kthena spec 1.4, V2)."""


def _bounds_broken(bounds: Json) -> Iterator[Violation]:
    if bounds.min_replicas > bounds.max_replicas:
        yield ("minReplicas",), f", found {bounds.min_replicas} and {bounds.max_replicas}"


BOUNDS = Rule("minReplicas must not be above maxReplicas", _bounds_broken, "self.minReplicas <= self.maxReplicas")


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


def _names_broken(spec: Json) -> Iterator[Violation]:
    for index, name in duplicates(metric.metric_name for metric in spec.metrics):
        yield ("metrics", index, "metricName"), f"{name!r} is used twice; keep one of the two"


_NAMES = Rule("", _names_broken, "")
"""Without CEL: for the API server, the field is a list map keyed by the name."""


def _metrics(spec: Json) -> _Parts:
    for index, metric in enumerate(spec.metrics):
        yield ("metrics", index), metric


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


POLICY = (
    _NAMES,
    check_parts(_VALUE, _metrics),
    *(check_parts(rule, _stable) for rule in _STABLE),
    *(check_parts(rule, _panic) for rule in _PANIC),
)
"""The rules of a policy's ``spec``, also as a field of a ModelBooster."""
WHOLE_POLICY = tuple(check_parts(rule, lambda policy: [(("spec",), policy.spec)]) for rule in POLICY)

METRIC_CEL = (server_only(_VALUE),)
STABLE_CEL = tuple(map(server_only, _STABLE))
PANIC_CEL = tuple(map(server_only, _PANIC))

# Rules of bindings


def _one_way_broken(spec: Json) -> Iterator[Violation]:
    if (spec.optimizer_configuration is None) == (spec.scaling_configuration is None):
        yield (), ", found neither" if spec.scaling_configuration is None else ", found both"


_ONE_WAY = Rule(
    "set exactly one of scalingConfiguration, for one target, and optimizerConfiguration, for several that share a "
    "load",
    _one_way_broken,
    "has(self.optimizerConfiguration) != has(self.scalingConfiguration)",
)


def _kind_broken(target: Json) -> Iterator[Violation]:
    kind = target.target_ref.kind
    if kind not in (None, "ModelServing"):
        yield ("targetRef", "kind"), f", found {kind!r}"


_KIND = Rule(
    "targetRef.kind must be ModelServing, or absent: nothing else can be scaled",
    _kind_broken,
    "!has(self.targetRef.kind) || self.targetRef.kind == 'ModelServing'",
)


def _bounded(spec: Json) -> _Parts:
    if spec.scaling_configuration:
        yield ("scalingConfiguration",), spec.scaling_configuration
    if spec.optimizer_configuration:
        for index, param in enumerate(spec.optimizer_configuration.params):
            yield ("optimizerConfiguration", "params", index), param


def _targets(spec: Json) -> _Parts:
    for path, bounded in _bounded(spec):
        yield (*path, "target"), bounded.target


WHOLE_BINDING = tuple(
    check_parts(rule, lambda binding: [(("spec",), binding.spec)])
    for rule in (_ONE_WAY, check_parts(BOUNDS, _bounded), check_parts(_KIND, _targets))
)
BINDING_CEL = (server_only(_ONE_WAY),)
TARGET_CEL = (server_only(_KIND),)
BOUNDS_CEL = (server_only(BOUNDS),)
