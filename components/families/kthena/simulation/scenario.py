"""Reads policy and binding for the simulation."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from ....api.findings import unknown
from ....api.load import Loaded
from ....api.meta import Resource
from ....api.quantity import parse_quantity
from ....simulation.runs import ScalingRun
from ....simulation.scenario import Names, Scaled, Scenario, ScenarioError, Simulator
from ....simulation.trace import Moment, Trace
from ..durations import seconds_of
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelServing
from ..types.autoscaling import (
    AutoscalingPolicyPanicPolicy,
    AutoscalingPolicyStablePolicy,
    OptimizerParam,
    ScalingConfiguration,
)
from .autoscaler import SCALER, simulate
from .collection import moments
from .settings import DEFECTS, UNLIMITED, Bound, Literal, Panic, Rate, ScaledTarget, ScalingPolicy

_LONGEST = 1e9
"""Seconds; what is longer than a generation makes no difference."""
_R = TypeVar("_R", bound=Resource)


def scenario(resources: Sequence[Loaded], names: Names) -> Scenario:
    """Return the autoscaler of a binding and a policy."""
    source, binding = _named(resources, AutoscalingPolicyBinding, names.binding, names.namespace)
    namespace = binding.metadata.namespace or names.namespace
    chosen = names.policy or binding.spec.policy_ref.name
    if not chosen:
        raise ScenarioError(f"{source.where}: spec.policyRef.name is empty; name the policy with --policy")
    written, policy = _named(resources, AutoscalingPolicy, chosen, namespace)
    settings, bound = policy_settings(policy), bound_settings(binding)
    if not bound.targets:
        raise ScenarioError(f"{source.where}: scales nothing; set optimizerConfiguration or scalingConfiguration")
    if len({target.name for target in bound.targets}) < len(bound.targets):
        raise ScenarioError(f"{source.where}: two targets have the same name; remove one of them")

    def read(trace: Trace, defects: Sequence[str], every: int | None) -> tuple[Moment, ...]:
        return moments(trace, dict(settings.metrics), Literal.of(defects), every)

    def run(read_moments: Sequence[Moment], start: Mapping[str, int], defects: Sequence[str]) -> ScalingRun:
        return simulate(settings, bound, read_moments, start, Literal.of(defects))

    replicas = _replicas(resources, namespace, names.namespace)
    return Scenario(
        scaler=SCALER,
        sources=(source, written),
        namespace=namespace,
        targets=tuple(Scaled(t.name, t.minimum, t.maximum, replicas.get(t.name)) for t in bound.targets),
        metrics=dict(settings.metrics),
        read=read,
        run=run,
        notes=tuple(_notes(binding, written)),
    )


def policy_settings(policy: AutoscalingPolicy) -> ScalingPolicy:
    """Return what a policy says; a section that it does not have sets no limit, as in the controller."""
    spec = policy.spec
    up = spec.behavior.scale_up if spec.behavior else None
    return ScalingPolicy(
        tolerance=spec.tolerance_percent,
        metrics=tuple((metric.metric_name, Fraction(parse_quantity(metric.target_value))) for metric in spec.metrics),
        up=_rate(up.stable_policy if up else None),
        down=_rate(spec.behavior.scale_down if spec.behavior else None),
        panic=_panic(up.panic_policy if up else None),
    )


def bound_settings(binding: AutoscalingPolicyBinding) -> Bound:
    """Return what a binding says."""
    spec = binding.spec
    if spec.optimizer_configuration:
        params = spec.optimizer_configuration.params
        expansion = spec.optimizer_configuration.cost_expansion_rate_percent
        return Bound(tuple(_target(param, param.cost) for param in params), expansion)
    if spec.scaling_configuration:
        return Bound((_target(spec.scaling_configuration),))
    return Bound(())


def _target(scaled: ScalingConfiguration | OptimizerParam, cost: int = 0) -> ScaledTarget:
    return ScaledTarget(scaled.target.target_ref.name or "", scaled.min_replicas, scaled.max_replicas, cost)


def _rate(policy: AutoscalingPolicyStablePolicy | None) -> Rate:
    if policy is None:
        return UNLIMITED
    return Rate(
        instances=policy.instances,
        percent=policy.percent,
        period=_milliseconds(policy.period),
        either=policy.select_policy == "Or",
        window=_milliseconds(policy.stabilization_window or "0"),
    )


def _panic(policy: AutoscalingPolicyPanicPolicy | None) -> Panic | None:
    if policy is None:
        return None
    return Panic(
        percent=policy.percent,
        period=_milliseconds(policy.period),
        threshold=policy.panic_threshold_percent,
        hold=_milliseconds(policy.panic_mode_hold),
    )


def _milliseconds(duration: str) -> int:
    """Return whole milliseconds, as the controller counts: what is shorter is none."""
    return int(round(min(max(seconds_of(duration), 0.0), _LONGEST) * 1000, 6))


def _named(resources: Iterable[Loaded], kind: type[_R], name: str, namespace: str) -> tuple[Loaded, _R]:
    """Return the resource of a kind with a name, which may have its namespace in front."""
    there = {
        (resource.metadata.namespace or namespace, loaded.name): (loaded, resource)
        for loaded in resources
        if isinstance(resource := loaded.resource, kind)
    }
    space, slash, own = name.rpartition("/")
    same = [key for key in there if key[1] == own and (not slash or key[0] == space)]
    found = next((key for key in same if key[0] == namespace), same[0] if len(same) == 1 else None)
    if found is None and same:
        spaces = ", ".join(f"{key[0]}/{key[1]}" for key in sorted(same))
        raise ScenarioError(f"several {kind.__name__}s are named {own!r}; name one of {spaces}")
    if found is None:
        known = (own for _, own in there)
        raise ScenarioError(unknown(kind.__name__, name, known, "correct the name, or pass the file that has it"))
    return there[found]


def _replicas(resources: Iterable[Loaded], namespace: str, usual: str) -> dict[str, int]:
    """Return the replicas that ModelServings of a namespace ask for."""
    return {
        loaded.name: resource.spec.replicas
        for loaded in resources
        if isinstance(resource := loaded.resource, ModelServing)
        and (resource.metadata.namespace or usual) == namespace
    }


def _notes(binding: AutoscalingPolicyBinding, policy: Loaded) -> Iterable[str]:
    if binding.spec.policy_ref.name != policy.name:
        yield (
            f"the binding names the policy {binding.spec.policy_ref.name!r}, and is simulated with {policy.name!r}"
        )


SIMULATOR = Simulator(DEFECTS, scenario)
