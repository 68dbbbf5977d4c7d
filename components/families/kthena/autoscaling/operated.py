"""Bindings that are left to Kthena's controller, and what its version v0.1.0 makes of them (Kthena spec 4, 10).

Read in volcano-sh/kthena at v0.1.0: pkg/autoscaler, and the ClusterRole of its chart.
"""

from collections.abc import Iterable, Iterator

from ....contract.findings.collector import Findings, Unrenderable
from ....contract.findings.ids import RuleId
from ....fleet.autoscalers import Autoscaler
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.shapes import POD
from ..made import Made
from ..names import CONTROLLER_NAMESPACE, role_service
from ..operated import OPERATOR
from ..types.autoscaling import AutoscalingPolicySpec
from .aims import OPTIMIZER
from .bound import PolicyBinding, blame_of
from .costs import replica_cost
from .effective import effective_endpoint, effective_policy
from .metrics import NEVER_OFFERED, is_counter
from .targets import MEASURED, ROLE_LABEL, AimedServing

_TICK = 15_000
"""Milliseconds between two looks."""
_ALL = 100
_UNKNOWN = 0
"""Cost of a replica whose price nobody knows."""
_NATIVE = "use realization 'native'"
_CONTROLLER = "Kthena's controller v0.1.0"
Fault = tuple[str, str]
"""Path of a field, and what the controller does to it."""


def render_for_operator(bound: PolicyBinding, options: Options) -> Rendered:
    """Return the binding for Kthena's controller.

    Raises:
        Unrenderable: it would break the controller, or be ignored; it is in the findings.
    """
    _check(bound)
    written = _completed(as_manifest(bound.source, options), bound)
    if bound.findings.has_errors:
        raise Unrenderable
    return Rendered(
        bound.source,
        bound.source.kind.kind,
        bound.source.name,
        bound.namespace,
        autoscalers=tuple(_scaled_by_it(bound)),
        others=(written,),
        requires=frozenset({OPERATOR}),
    )


def _scaled_by_it(bound: PolicyBinding) -> Iterator[Autoscaler]:
    """Yield the bounds of the pods of each role, for the nodes that they need: serving groups have each role."""
    for target in bound.targets:
        for role in target.asked.group.roles:
            name = role_service(target.aim.name, role.name)
            spec = {
                "scaleTargetRef": {"kind": POD, "name": name},
                "minReplicas": target.aim.asked.min_replicas * role.replicas,
                "maxReplicas": target.aim.asked.max_replicas * role.replicas,
            }
            hpa = new_object("autoscaling/v2", HPA, name, bound.namespace, spec)
            yield Autoscaler(hpa, blame_of(bound, target), operated=True, reads_pods=True, target_known=True)


def _check(bound: PolicyBinding) -> None:
    findings = bound.findings
    for found, refused, doubts in (
        (findings, _refused(bound), _doubts(bound)),
        (bound.policy_findings, _refused_in_policy(bound), _doubts_of_policy(bound)),
    ):
        for path, reason in refused:
            found.error(path, f"{_CONTROLLER} {reason}", RuleId.OPERATOR_UNSUPPORTED)
        for path, reason in doubts:
            found.warn(path, f"{_CONTROLLER} {reason}", RuleId.OPERATOR_DIFFERS)
        if found is bound.policy_findings:
            findings.problems += [each for each in found.problems if each not in findings.problems]


def _refused(bound: PolicyBinding) -> Iterator[Fault]:
    if bound.namespace != CONTROLLER_NAMESPACE:
        yield (
            "metadata.namespace",
            (
                f"sees no bindings outside of its own namespace {CONTROLLER_NAMESPACE!r}, found {bound.namespace!r}; "
                f"put binding, policy and ModelServing there, or {_NATIVE}"
            ),
        )
    for target in bound.targets:
        yield from _unmeasured(target)
    optimizer = bound.binding.spec.optimizer_configuration
    behavior = bound.policy.spec.behavior
    crashes = not (behavior and behavior.scale_up and behavior.scale_up.panic_policy)
    if optimizer is not None and crashes and not _is_made(bound):
        yield (
            "spec.policyRef.name",
            (
                "crashes on a policy without behavior.scaleUp.panicPolicy where several targets share a load; add "
                "{period: 0s, panicModeHold: 0s}, which is no panic mode, or bind each target by itself"
            ),
        )


def _unmeasured(target: AimedServing) -> Iterator[Fault]:
    """Yield why the controller finds no pods to measure, or the wrong ones."""
    aim = target.aim
    if not aim.target.target_ref.kind:
        yield (
            f"{aim.path}.target.targetRef.kind",
            ("adds up the metrics of all pods in the namespace without it; write ModelServing"),
        )
    roles = [role.name for role in target.asked.group.roles]
    if MEASURED not in roles:
        yield (
            aim.name_path,
            (f"measures pods of role {MEASURED!r} alone, found {', '.join(roles)}; name a role so, or {_NATIVE}"),
        )
    named = (aim.target.additional_match_labels or {}).get(ROLE_LABEL, MEASURED)
    if named != MEASURED:
        path = f"{aim.path}.target.additionalMatchLabels[{ROLE_LABEL}]"
        yield path, f"replaces it by {MEASURED!r}, found {named!r}; remove it, or {_NATIVE}"


def _doubts(bound: PolicyBinding) -> Iterator[Fault]:
    asked = [target.aim.asked for target in bound.targets]
    if bound.binding.spec.optimizer_configuration is not None:
        yield (
            OPTIMIZER,
            (
                "hands no metrics on where several targets share a load: it only brings their replicas into the "
                f"bounds; bind each target by itself, or {_NATIVE}"
            ),
        )
    elif not sum(each.min_replicas for each in asked):
        yield (
            f"{bound.targets[0].aim.path}.minReplicas",
            ("scales to zero and never up again, because without pods it has nothing to measure; set 1"),
        )
    for target in bound.targets:
        port = effective_endpoint(target.aim.target).port
        declared = set(_ports(target))
        if declared and port not in declared:
            yield (
                f"{target.aim.path}.target.metricEndpoint",
                (
                    f"reads metrics at port {port} of each pod, and the containers of {target.aim.name!r} declare "
                    f"{', '.join(map(str, sorted(declared)))}; name the one that serves metrics"
                ),
            )


def _ports(target: AimedServing) -> Iterator[int]:
    containers: Iterable[Object] = target.role.entry.spec["containers"] if target.role else ()
    for container in containers:
        yield from (int(port["containerPort"]) for port in container.get("ports") or ())


def _refused_in_policy(bound: PolicyBinding) -> Iterator[Fault]:
    for position, metric in enumerate(bound.policy.spec.metrics):
        if metric.metric_name in NEVER_OFFERED:
            yield (
                f"spec.metrics[{position}].metricName",
                (f"takes {metric.metric_name!r} for 0, which Kthena's runtime does not offer; use another one"),
            )


def _is_made(bound: PolicyBinding) -> bool:
    """Tell whether the controller itself makes binding and policy, of a ModelBooster: with every section."""
    return isinstance(bound.source, Made)


def _doubts_of_policy(bound: PolicyBinding) -> Iterator[Fault]:
    spec = bound.policy.spec
    yield from _absent(spec, completed=_is_made(bound))
    effective = effective_policy(spec)
    behavior = spec.behavior
    down = behavior.scale_down if behavior else None
    up = behavior.scale_up.stable_policy if behavior and behavior.scale_up else None
    if down and effective.down.window > _TICK:
        yield (
            "spec.behavior.scaleDown.stabilizationWindow",
            (f"never scales down with a window above 15s, as long as it has metrics (D-17); remove it, or {_NATIVE}"),
        )
    if up and effective.up.window > _TICK:
        yield (
            "spec.behavior.scaleUp.stablePolicy.stabilizationWindow",
            (f"scales up once and then no more with a window above 15s (D-17); remove it, or {_NATIVE}"),
        )
    is_limited = effective.down.percent < _ALL or not effective.down.fastest
    if down and effective.down.period > _TICK and is_limited:
        yield (
            "spec.behavior.scaleDown.period",
            (f"lets replicas shrink by so many every 15s, not in each period (D-16); write 15s, or {_NATIVE}"),
        )
    if "tolerance_percent" in spec.model_fields_set and spec.tolerance_percent:
        yield (
            "spec.tolerancePercent",
            (
                "measures the tolerance against one replica, whatever their number (D-15): it ignores only loads of "
                f"about one replica; {_NATIVE}"
            ),
        )
    for position, metric in enumerate(spec.metrics):
        if is_counter(metric.metric_name):
            yield (
                f"spec.metrics[{position}].metricName",
                (
                    f"compares {metric.metric_name!r} as it is, which only ever grows, and so do the replicas; use a "
                    "gauge, such as the queue of the engine"
                ),
            )


def _absent(spec: AutoscalingPolicySpec, *, completed: bool) -> Iterator[Fault]:
    """Yield the sections that nobody fills in, or the controller with empty ones (2.8)."""
    behavior = spec.behavior
    there = {
        "spec.behavior": behavior,
        "spec.behavior.scaleUp.stablePolicy": behavior and behavior.scale_up and behavior.scale_up.stable_policy,
        "spec.behavior.scaleDown": behavior and behavior.scale_down,
    }
    missing = [path for path, section in there.items() if section is None]
    becomes = "takes it for an empty one where it is absent: 1 or 100 % every 15s, and panic mode; write it"
    unlimited = "has no limit where it is absent: replicas change at once by any number; write it"
    for path in missing[:1] if behavior is None else missing:
        yield path, becomes if completed else unlimited


def _completed(written: Object, bound: PolicyBinding) -> Object:
    """Return the object with what the controller does not fill in: where metrics are, and what a replica costs."""
    spec = written["spec"]
    optimizer = spec.get("optimizerConfiguration")
    params = optimizer["params"] if optimizer else [spec["scalingConfiguration"]]
    for param, target in zip(params, bound.targets, strict=True):
        param["target"]["metricEndpoint"] = effective_endpoint(target.aim.target).wire()
        if optimizer and not target.aim.is_priced:
            param["cost"] = _cost(target, bound.findings)
    return written


def _cost(target: AimedServing, findings: Findings) -> int:
    """Return what a replica of a target costs; 0, with a warning, where its price is not known."""
    cost = replica_cost(target.asked)
    if cost is None:
        findings.warn(
            f"{target.aim.path}.cost",
            f"no price is recorded for the nodes of ModelServing {target.aim.name!r}, so that a replica counts as "
            f"{_UNKNOWN}; name an instance type in its templates, or write the cost",
            RuleId.COST_UNKNOWN,
        )
        return _UNKNOWN
    return cost
