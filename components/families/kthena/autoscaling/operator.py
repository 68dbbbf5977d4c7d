"""Bindings for Kthena's controller, and the defects of its version v0.1.0 (Kthena spec 4, 10).

Read in volcano-sh/kthena at v0.1.0: pkg/autoscaler, and the ClusterRole of its chart.
"""

from collections.abc import Iterator

from ....contract.findings.collector import Unrenderable
from ....contract.findings.ids import RuleId
from ....engines.metrics import find_anywhere
from ....fleet.autoscalers import Autoscaler
from ....fleet.objects import HPA, new_object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.shapes import POD
from ..generated import Generated
from ..names import CONTROLLER_NAMESPACE, OPERATOR, role_service
from ..serving.operator_checks import Defect
from ..serving.roles import replica_cost
from .effective import effective_endpoint, effective_policy
from .targets import MEASURED_ROLE, OPTIMIZER, ROLE_LABEL, PolicyBinding, hpa_origins

_TICK = 15_000
"""Milliseconds between two passes of the controller."""
_MISSING_METRICS = frozenset({"kthena:generation_tokens_total"})
"""Documented for Kthena's runtime, but not there: the runtime removes the suffix ``_total``."""
_NATIVE = "use realization 'native'"


def render_for_operator(bound: PolicyBinding, options: Options) -> Rendered:
    """Return the binding for Kthena's controller.

    Raises:
        Unrenderable: the controller would crash on it or ignore it; the error is in the findings.
    """
    findings, policy_findings = bound.findings, bound.policy_findings
    for collector, errors, warnings in (
        (findings, _binding_errors(bound), _binding_warnings(bound)),
        (policy_findings, _policy_errors(bound), _policy_warnings(bound)),
    ):
        for path, reason in errors:
            collector.error(path, f"Kthena's controller v0.1.0 {reason}", RuleId.OPERATOR_UNSUPPORTED)
        for path, reason in warnings:
            collector.warn(path, f"Kthena's controller v0.1.0 {reason}", RuleId.OPERATOR_DIFFERS)
    # A generated policy reports at the same ModelBooster as its binding.
    findings.problems += [problem for problem in policy_findings.problems if problem not in findings.problems]

    body = as_manifest(bound.source, options)
    optimizer = body["spec"].get("optimizerConfiguration")
    params = optimizer["params"] if optimizer else [body["spec"]["scalingConfiguration"]]
    for param, scaled in zip(params, bound.targets, strict=True):
        # The controller fills in neither of these.
        param["target"]["metricEndpoint"] = effective_endpoint(scaled.target.spec).wire()
        if optimizer and not scaled.target.has_cost:
            cost = replica_cost(scaled.serving)
            if cost is None:
                reason = (
                    f"no price is recorded for the nodes of ModelServing {scaled.target.name!r}, so a replica costs "
                    "0; select an instance type in its pod templates, or set the cost"
                )
                findings.warn(f"{scaled.target.path}.cost", reason, RuleId.COST_UNKNOWN)
            param["cost"] = cost or 0
    if findings.has_errors:
        raise Unrenderable
    return Rendered(
        bound.source,
        bound.source.kind.kind,
        bound.source.name,
        bound.namespace,
        autoscalers=tuple(_pod_bounds(bound)),
        others=(body,),
        requires=frozenset({OPERATOR}),
    )


def _pod_bounds(bound: PolicyBinding) -> Iterator[Autoscaler]:
    """Yield the bounds of the pods of each role, which determine the nodes that they need."""
    for scaled in bound.targets:
        bounds = scaled.target.bounds
        for role in scaled.serving.group.roles:
            name = role_service(scaled.target.name, role.name)
            spec = {
                "scaleTargetRef": {"kind": POD, "name": name},
                "minReplicas": bounds.min_replicas * role.replicas,
                "maxReplicas": bounds.max_replicas * role.replicas,
            }
            hpa = new_object("autoscaling/v2", HPA, name, bound.namespace, spec)
            yield Autoscaler(hpa, hpa_origins(bound, scaled), operated=True, reads_pods=True, target_known=True)


def _binding_errors(bound: PolicyBinding) -> Iterator[Defect]:
    if bound.namespace != CONTROLLER_NAMESPACE:
        yield (
            "metadata.namespace",
            f"only watches bindings in its own namespace {CONTROLLER_NAMESPACE!r}, found {bound.namespace!r}; move "
            f"binding, policy and ModelServing there, or {_NATIVE}",
        )
    for target, roles in ((scaled.target, scaled.serving.group.roles) for scaled in bound.targets):
        if not target.spec.target_ref.kind:
            reason = "adds up the metrics of all pods in the namespace without it; set ModelServing"
            yield f"{target.path}.target.targetRef.kind", reason
        names = [role.name for role in roles]
        if MEASURED_ROLE not in names:
            yield (
                target.name_path,
                f"only measures pods of role {MEASURED_ROLE!r}, found {', '.join(names)}; rename one, or {_NATIVE}",
            )
        label = (target.spec.additional_match_labels or {}).get(ROLE_LABEL, MEASURED_ROLE)
        if label != MEASURED_ROLE:
            path = f"{target.path}.target.additionalMatchLabels[{ROLE_LABEL}]"
            yield path, f"replaces it with {MEASURED_ROLE!r}, found {label!r}; remove it, or {_NATIVE}"
    behavior = bound.policy.spec.behavior
    has_panic_policy = behavior and behavior.scale_up and behavior.scale_up.panic_policy
    if bound.binding.spec.optimizer_configuration and not has_panic_policy and not _is_generated(bound):
        yield (
            "spec.policyRef.name",
            "crashes on a policy without behavior.scaleUp.panicPolicy if several targets share a load; add "
            "{period: 0s, panicModeHold: 0s}, which disables panic mode, or bind each target separately",
        )


def _binding_warnings(bound: PolicyBinding) -> Iterator[Defect]:
    if bound.binding.spec.optimizer_configuration is not None:
        yield (
            OPTIMIZER,
            "passes on no metrics if several targets share a load: it only keeps their replicas within the bounds; "
            f"bind each target separately, or {_NATIVE}",
        )
    elif not sum(scaled.target.bounds.min_replicas for scaled in bound.targets):
        yield (
            f"{bound.targets[0].target.path}.minReplicas",
            "scales to zero and never up again, because without pods it has nothing to measure; set 1",
        )
    for scaled in bound.targets:
        port = effective_endpoint(scaled.target.spec).port
        containers = scaled.role.entry.spec["containers"] if scaled.role else ()
        declared = {int(port["containerPort"]) for container in containers for port in container.get("ports") or ()}
        if declared and port not in declared:
            yield (
                f"{scaled.target.path}.target.metricEndpoint",
                f"reads metrics at port {port} of each pod, but the containers of {scaled.target.name!r} declare "
                f"{', '.join(map(str, sorted(declared)))}; set the port that serves metrics",
            )


def _policy_errors(bound: PolicyBinding) -> Iterator[Defect]:
    for position, metric in enumerate(bound.policy.spec.metrics):
        if metric.metric_name in _MISSING_METRICS:
            yield (
                f"spec.metrics[{position}].metricName",
                f"takes {metric.metric_name!r} for 0, which Kthena's runtime does not export; use another metric",
            )


def _policy_warnings(bound: PolicyBinding) -> Iterator[Defect]:
    spec = bound.policy.spec
    effective, behavior = effective_policy(spec), spec.behavior
    sections = {
        "spec.behavior": behavior,
        "spec.behavior.scaleUp.stablePolicy": behavior and behavior.scale_up and behavior.scale_up.stable_policy,
        "spec.behavior.scaleDown": behavior and behavior.scale_down,
    }
    missing = [path for path, section in sections.items() if section is None]
    # Nothing fills in the sections of a policy that the user writes. In one from a ModelBooster, the controller fills
    # them in with empty ones (spec 2.8).
    if _is_generated(bound):
        reason = "treats a missing section as empty: 1 or 100 % every 15s, and panic mode; set it"
    else:
        reason = "sets no limit if it is missing: replicas change at once by any number; set it"
    for path in missing[:1] if behavior is None else missing:
        yield path, reason
    down = behavior.scale_down if behavior else None
    up = behavior.scale_up.stable_policy if behavior and behavior.scale_up else None
    if down and effective.down.window > _TICK:
        yield (
            "spec.behavior.scaleDown.stabilizationWindow",
            "never scales down with a window above 15s as long as it has metrics (D-17); remove it, or " + _NATIVE,
        )
    if up and effective.up.window > _TICK:
        yield (
            "spec.behavior.scaleUp.stablePolicy.stabilizationWindow",
            "scales up once and then never again with a window above 15s (D-17); remove it, or " + _NATIVE,
        )
    is_limited = effective.down.percent < 100 or not effective.down.fastest
    if down and effective.down.period > _TICK and is_limited:
        yield (
            "spec.behavior.scaleDown.period",
            "applies the limit every 15s instead of once per period (D-16); set 15s, or " + _NATIVE,
        )
    if "tolerance_percent" in spec.model_fields_set and spec.tolerance_percent:
        yield (
            "spec.tolerancePercent",
            "compares the tolerance to one replica, whatever their number (D-15), and so only ignores loads of about "
            f"one replica; {_NATIVE}",
        )
    for position, metric in enumerate(spec.metrics):
        facts = find_anywhere(metric.metric_name)
        if facts is not None and facts.type == "counter":
            yield (
                f"spec.metrics[{position}].metricName",
                f"compares the value of the counter {metric.metric_name!r}, which only increases, and so do the "
                "replicas; use a gauge, such as the queue length of the engine",
            )


def _is_generated(bound: PolicyBinding) -> bool:
    """Return whether the controller itself creates binding and policy, from a ModelBooster: with every section."""
    return isinstance(bound.source, Generated)
