"""Reads policy and binding for the simulation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.load import LoadedResource
from ....contract.meta import Resource
from ....fleet.options import Options
from ....performance.simulation.runs import ScalingRun
from ....performance.simulation.scenario import AutoscalerQuery, Scenario, ScenarioError, SimulatedTarget, Simulator
from ....performance.simulation.trace import Moment, Trace
from ..autoscaling.costs import replica_cost
from ..autoscaling.effective import effective_policy
from ..booster.expansion import expand
from ..booster.setup import Setup
from ..made import Made
from ..serving.asked import AskedServing
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelBooster, ModelServing
from ..types.autoscaling import OptimizerParam, ScalingConfiguration
from .autoscaler import SCALER, simulate
from .collection import moments
from .settings import DEFECTS, FIXED, UNLIMITED, Bound, Defects, ScaledTarget, ScalingPolicy

_UNPRICED: Mapping[str, int] = MappingProxyType({})
_R = TypeVar("_R", bound=Resource)


def scenario(resources: Sequence[LoadedResource], names: AutoscalerQuery) -> Scenario:
    """Return the autoscaler of a binding and a policy, written by hand or by a ModelBooster."""
    resources = [*resources, *_of_boosters(resources, names.namespace)]
    source, binding = _named(resources, AutoscalingPolicyBinding, names.binding, names.namespace)
    namespace = binding.metadata.namespace or names.namespace
    chosen = names.policy or binding.spec.policy_ref.name
    if not chosen:
        raise ScenarioError(f"{source.where}: spec.policyRef.name is empty; name the policy with --policy")
    written, policy = _named(resources, AutoscalingPolicy, chosen, namespace)
    costs = _costs(resources, namespace, names.namespace)
    metrics, bound = dict(policy_settings(policy).metrics), bound_settings(binding, costs)
    if not bound.targets:
        raise ScenarioError(f"{source.where}: scales nothing; set optimizerConfiguration or scalingConfiguration")
    if len({target.name for target in bound.targets}) < len(bound.targets):
        raise ScenarioError(f"{source.where}: two targets have the same name; remove one of them")

    def read(trace: Trace, defects: Sequence[str], every: int | None) -> tuple[Moment, ...]:
        return moments(trace, metrics, Defects.of(defects), every)

    def run(read_moments: Sequence[Moment], start: Mapping[str, int], defects: Sequence[str]) -> ScalingRun:
        switches = Defects.of(defects)
        filled = bound_settings(binding) if switches.absent_stays else bound
        read_by_it = _as_sent(policy) if isinstance(written, Made) and switches.absent_stays else policy
        return simulate(policy_settings(read_by_it, switches), filled, read_moments, start, switches)

    replicas = _replicas(resources, namespace, names.namespace)
    return Scenario(
        scaler=SCALER,
        sources=(source, written),
        namespace=namespace,
        targets=tuple(SimulatedTarget(t.name, t.minimum, t.maximum, replicas.get(t.name)) for t in bound.targets),
        metrics=metrics,
        read=read,
        run=run,
        notes=tuple(_notes(binding, written)),
    )


def policy_settings(policy: AutoscalingPolicy, defects: Defects = FIXED) -> ScalingPolicy:
    """Return what a policy says, with sections that are absent filled in."""
    effective, behavior = effective_policy(policy.spec), policy.spec.behavior
    growing = behavior.scale_up if behavior else None
    settings = ScalingPolicy(
        tolerance=effective.tolerance,
        metrics=tuple((metric, Fraction(target)) for metric, target in effective.targets.items()),
        up=effective.up,
        down=effective.down,
        panic=effective.panic,
        crashes=growing is None or growing.panic_policy is None,
    )
    if defects.absent_stays:
        grows, shrinks = growing and growing.stable_policy, behavior and behavior.scale_down
        settings = replace(
            settings, up=settings.up if grows else UNLIMITED, down=settings.down if shrinks else UNLIMITED
        )
    return settings


def _as_sent(policy: AutoscalingPolicy) -> AutoscalingPolicy:
    """Return the policy of a booster as Kthena sends it: absent sections are empty, and get defaults (spec 2.8)."""
    written = policy.wire()
    behavior = written["spec"].get("behavior") or {}
    growing = {"stablePolicy": {}, "panicPolicy": {"period": "0s"}, **(behavior.get("scaleUp") or {})}
    written["spec"]["behavior"] = {"scaleUp": growing, "scaleDown": behavior.get("scaleDown") or {}}
    return AutoscalingPolicy.model_validate(written)


def bound_settings(binding: AutoscalingPolicyBinding, costs: Mapping[str, int] = _UNPRICED) -> Bound:
    """Return what a binding says; what it does not say of a replica's cost is its price."""
    spec = binding.spec
    if spec.optimizer_configuration:
        params = spec.optimizer_configuration.params
        expansion = spec.optimizer_configuration.cost_expansion_rate_percent
        return Bound(tuple(_target(param, _cost(param, costs)) for param in params), expansion)
    if spec.scaling_configuration:
        return Bound((_target(spec.scaling_configuration),))
    return Bound(())


def _target(scaled: ScalingConfiguration | OptimizerParam, cost: int = 0) -> ScaledTarget:
    target = scaled.target
    has_endpoint = target.metric_endpoint is not None
    return ScaledTarget(
        target.target_ref.name or "", scaled.min_replicas, scaled.max_replicas, cost, has_endpoint=has_endpoint
    )


def _cost(param: OptimizerParam, costs: Mapping[str, int]) -> int:
    priced = "cost" not in param.model_fields_set
    return costs.get(param.target.target_ref.name or "", param.cost) if priced else param.cost


def _costs(resources: Iterable[LoadedResource], namespace: str, usual: str) -> dict[str, int]:
    """Return what a replica of each ModelServing of a namespace costs, where that is known."""
    found = {
        loaded.name: replica_cost(AskedServing(loaded, resource, namespace, Options(), Findings(loaded)))
        for loaded in resources
        if isinstance(resource := loaded.resource, ModelServing)
        and (resource.metadata.namespace or usual) == namespace
    }
    return {name: cost for name, cost in found.items() if cost is not None}


def _of_boosters(resources: Iterable[LoadedResource], namespace: str) -> Iterator[LoadedResource]:
    """Yield what boosters become; what is wrong with one is reported where it is rendered."""
    for loaded in resources:
        if isinstance(loaded.resource, ModelBooster):
            with suppress(Unrenderable):
                yield from expand(loaded, Findings(loaded), Setup(namespace=namespace))


def _named(
    resources: Iterable[LoadedResource], kind: type[_R], name: str, namespace: str
) -> tuple[LoadedResource, _R]:
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
        raise ScenarioError(
            unknown_reference(kind.__name__, name, known, "correct the name, or pass the file that has it")
        )
    return there[found]


def _replicas(resources: Iterable[LoadedResource], namespace: str, usual: str) -> dict[str, int]:
    """Return the replicas that ModelServings of a namespace ask for."""
    return {
        loaded.name: resource.spec.replicas
        for loaded in resources
        if isinstance(resource := loaded.resource, ModelServing)
        and (resource.metadata.namespace or usual) == namespace
    }


def _notes(binding: AutoscalingPolicyBinding, policy: LoadedResource) -> Iterable[str]:
    if binding.spec.policy_ref.name != policy.name:
        yield (
            f"the binding names the policy {binding.spec.policy_ref.name!r}, and is simulated with {policy.name!r}"
        )


def places(resources: Sequence[LoadedResource], namespace: str) -> tuple[tuple[str, str], ...]:
    """Return namespace and name of every binding, written by hand or by a ModelBooster."""
    there = [*resources, *_of_boosters(resources, namespace)]
    bindings = [each for each in there if isinstance(each.resource, AutoscalingPolicyBinding)]
    return tuple((each.resource.metadata.namespace or namespace, each.name) for each in bindings)


SIMULATOR = Simulator("AutoscalingPolicyBinding", DEFECTS, places, scenario)
