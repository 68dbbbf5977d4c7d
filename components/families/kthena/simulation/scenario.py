"""Sets up the simulation of a binding and its policy, or of a policy that names its targets itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
from ..autoscaling.effective import effective_policy
from ..autoscaling.targets import TargetScaling, scaling_of
from ..booster.context import ExpansionOptions
from ..booster.expansion import expand
from ..generated import Generated
from ..serving.context import ServingContext
from ..serving.roles import replica_cost
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelBooster, ModelServing
from ..types.autoscaling import OptimizerParam, ScalingConfiguration
from .autoscaler import SCALER, simulate
from .collection import moments
from .settings import DEFECTS, FIXED, UNLIMITED, Bound, Defects, ScaledTarget, ScalingPolicy

_NO_COSTS: Mapping[str, int] = MappingProxyType({})
_R = TypeVar("_R", bound=Resource)


def scenario(resources: Sequence[LoadedResource], names: AutoscalerQuery) -> Scenario:
    """Return the autoscaler of a binding and a policy, written by the user or generated from a ModelBooster."""
    resources = [*resources, *_generated(resources, names.namespace)]
    source, scaled, policy_name = _scaler(resources, names)
    namespace = scaled.metadata.namespace or names.namespace
    policy_name = names.policy or policy_name
    if not policy_name:
        raise ScenarioError(f"{source.where}: spec.policyRef.name is empty; name the policy with --policy")
    policy_source, policy = _named(resources, AutoscalingPolicy, policy_name, namespace)
    servings = {
        loaded.name: ServingContext(loaded, resource, namespace, Options(), Findings(loaded))
        for loaded in resources
        if isinstance(resource := loaded.resource, ModelServing)
        and (resource.metadata.namespace or names.namespace) == namespace
    }
    costs = {name: cost for name, serving in servings.items() if (cost := replica_cost(serving)) is not None}
    scaling = scaling_of(scaled)
    policy = _with_scraped_names(source, policy, scaling)
    metrics, bound = dict(policy_settings(policy).metrics), bound_settings(scaling, costs)
    if not bound.targets:
        raise ScenarioError(f"{source.where}: scales no ModelServing as a whole; set homogeneousTarget")
    if len({target.name for target in bound.targets}) < len(bound.targets):
        raise ScenarioError(f"{source.where}: two targets have the same name; remove one of them")

    def read(trace: Trace, defects: Sequence[str], every: int | None) -> tuple[Moment, ...]:
        return moments(trace, metrics, Defects.of(defects), every)

    def run(read_moments: Sequence[Moment], start: Mapping[str, int], defects: Sequence[str]) -> ScalingRun:
        switches = Defects.of(defects)
        # With this defect, nothing fills in a missing cost or section.
        as_written = bound_settings(scaling) if switches.absent_stays else bound
        is_sent = isinstance(policy_source, Generated) and switches.absent_stays
        settings = policy_settings(_as_sent(policy) if is_sent else policy, switches)
        return simulate(settings, as_written, read_moments, start, switches)

    notes = []
    named = scaled.spec.policy_ref.name if isinstance(scaled, AutoscalingPolicyBinding) else policy_source.name
    if named != policy_source.name:
        notes.append(f"the binding names the policy {named!r}, but is simulated with {policy_source.name!r}")
    replicas = {name: serving.replicas for name, serving in servings.items()}
    return Scenario(
        scaler=SCALER,
        sources=(source, policy_source),
        namespace=namespace,
        targets=tuple(SimulatedTarget(t.name, t.minimum, t.maximum, replicas.get(t.name)) for t in bound.targets),
        metrics=metrics,
        read=read,
        run=run,
        notes=tuple(notes),
    )


def policy_settings(policy: AutoscalingPolicy, defects: Defects = FIXED) -> ScalingPolicy:
    """Return the settings of a policy; missing sections get their defaults."""
    effective, behavior = effective_policy(policy.spec), policy.spec.behavior
    scale_up = behavior.scale_up if behavior else None
    up, down = effective.up, effective.down
    if defects.absent_stays:
        up = up if scale_up and scale_up.stable_policy else UNLIMITED
        down = down if behavior and behavior.scale_down else UNLIMITED
    return ScalingPolicy(
        tolerance=effective.tolerance,
        metrics=tuple((metric, Fraction(target)) for metric, target in effective.targets.items()),
        up=up,
        down=down,
        panic=effective.panic,
        crashes=scale_up is None or scale_up.panic_policy is None,
    )


def _as_sent(policy: AutoscalingPolicy) -> AutoscalingPolicy:
    """Return a booster's policy as Kthena sends it: missing sections are empty, and get defaults (spec 2.8)."""
    body = policy.wire()
    behavior = body["spec"].get("behavior") or {}
    scale_up = {"stablePolicy": {}, "panicPolicy": {"period": "0s"}, **(behavior.get("scaleUp") or {})}
    body["spec"]["behavior"] = {"scaleUp": scale_up, "scaleDown": behavior.get("scaleDown") or {}}
    return AutoscalingPolicy.model_validate(body)


def bound_settings(scaling: TargetScaling, costs: Mapping[str, int] = _NO_COSTS) -> Bound:
    """Return the settings of the targets of a binding or policy.

    Args:
        scaling: The targets.
        costs: The price of a replica by ModelServing, for targets without a cost.
    """
    if scaling.optimizer is None:
        return Bound(tuple(_target(target.bounds) for target in scaling.targets))
    targets = []
    for target in scaling.targets:
        own = target.bounds.cost if isinstance(target.bounds, OptimizerParam) else 0
        targets.append(_target(target.bounds, own if target.has_cost else costs.get(target.name, own)))
    return Bound(tuple(targets), scaling.optimizer.cost_expansion_rate_percent)


def _target(scaled: ScalingConfiguration | OptimizerParam, cost: int = 0) -> ScaledTarget:
    target = scaled.target
    has_endpoint = target.metric_endpoint is not None or target.metric_sources is not None
    return ScaledTarget(
        target.target_ref.name or "", scaled.min_replicas, scaled.max_replicas, cost, has_endpoint=has_endpoint
    )


def _scaler(
    resources: Sequence[LoadedResource], names: AutoscalerQuery
) -> tuple[LoadedResource, AutoscalingPolicyBinding | AutoscalingPolicy, str]:
    """Return the selected binding, or else a policy with targets of its own, and the name of the policy."""
    policies = [item for item in resources if _has_target(item)]
    try:
        source, binding = _named(resources, AutoscalingPolicyBinding, names.binding, names.namespace)
    except ScenarioError:
        if not any(item.name == names.binding.rpartition("/")[2] for item in policies):
            raise
        source, policy = _named(policies, AutoscalingPolicy, names.binding, names.namespace)
        return source, policy, source.name
    return source, binding, binding.spec.policy_ref.name


def _has_target(loaded: LoadedResource) -> bool:
    return isinstance(loaded.resource, AutoscalingPolicy) and loaded.resource.spec.has_target


def _with_scraped_names(
    source: LoadedResource, policy: AutoscalingPolicy, scaling: TargetScaling
) -> AutoscalingPolicy:
    """Return a policy whose metrics have the names under which the pods of all targets, and so traces, have them."""
    if any(target.spec.sub_targets for target in scaling.targets):
        raise ScenarioError(f"{source.where}: scales a role, which cannot be simulated; name another autoscaler")
    body = policy.wire()
    for metric in body["spec"].get("metrics") or ():
        key = metric.get("name", metric.get("metricName"))
        sources = [target.source_of(key) for target in scaling.targets]
        for path, metric_source in sources:
            if metric_source and metric_source.prometheus:
                raise ScenarioError(
                    f"{source.where}: {path} is a query of Prometheus, which traces of pods do not have; simulate a "
                    "policy whose metrics come from pods"
                )
        scraped = {(item and item.pod and item.pod.name) or key for _, item in sources}
        if len(scraped) > 1:
            names = ", ".join(sorted(scraped))
            raise ScenarioError(f"{source.where}: {key!r} has different names in the pods of its targets: {names}")
        if "name" in metric:
            metric["name"] = scraped.pop() if scraped else key
    return AutoscalingPolicy.model_validate(body)


def _generated(resources: Iterable[LoadedResource], namespace: str) -> Iterator[LoadedResource]:
    """Yield the resources generated from ModelBoosters, whose problems are reported where they are rendered."""
    for loaded in resources:
        if isinstance(loaded.resource, ModelBooster):
            with suppress(Unrenderable):
                yield from expand(loaded, Findings(loaded), ExpansionOptions(namespace=namespace))


def _named(
    resources: Iterable[LoadedResource], kind: type[_R], name: str, namespace: str
) -> tuple[LoadedResource, _R]:
    """Return a resource by kind and name; the name may be prefixed with a namespace."""
    candidates = {
        (resource.metadata.namespace or namespace, loaded.name): (loaded, resource)
        for loaded in resources
        if isinstance(resource := loaded.resource, kind)
    }
    prefix, slash, own_name = name.rpartition("/")
    same = [key for key in candidates if key[1] == own_name and (not slash or key[0] == prefix)]
    chosen = next((key for key in same if key[0] == namespace), same[0] if len(same) == 1 else None)
    if chosen is None and same:
        options = ", ".join(f"{key[0]}/{key[1]}" for key in sorted(same))
        raise ScenarioError(f"several {kind.__name__}s are named {own_name!r}; name one of {options}")
    if chosen is None:
        known = (candidate for _, candidate in candidates)
        raise ScenarioError(
            unknown_reference(kind.__name__, name, known, "correct the name, or pass the file that has it")
        )
    return candidates[chosen]


def places(resources: Sequence[LoadedResource], namespace: str) -> tuple[tuple[str, str], ...]:
    """Return the namespace and name of every binding and policy with targets, also of those of ModelBoosters."""
    all_resources = [*resources, *_generated(resources, namespace)]
    scalers = [
        item for item in all_resources if isinstance(item.resource, AutoscalingPolicyBinding) or _has_target(item)
    ]
    return tuple((item.resource.metadata.namespace or namespace, item.name) for item in scalers)


SIMULATOR = Simulator("AutoscalingPolicyBinding", DEFECTS, places, scenario)
