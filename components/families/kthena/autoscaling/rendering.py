"""Renders an AutoscalingPolicyBinding: natively as one HPA for each target (Kthena spec 4.6)."""

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....fleet.autoscalers import Autoscaler
from ....fleet.library import Library
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.shapes import LEADER_WORKER_SET
from ..references import find
from ..serving.groups import is_one_set
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding
from .effective import COST_EXPANSION_RATE, effective_policy
from .hpa import hpa_behavior, pods_metrics
from .operator import render_for_operator
from .targets import (
    MEASURED_ROLE,
    OPTIMIZER,
    BindingTarget,
    PolicyBinding,
    ScaledServing,
    check_measured_pods,
    find_target,
    hpa_origins,
    targets_of,
)


def render_binding(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render an AutoscalingPolicyBinding.

    Raises:
        Unrenderable: nothing can be rendered; the error is in ``findings``.
    """
    bound = _resolve(source, library, options, findings)
    if not options.realization.is_native:
        return render_for_operator(bound, options)
    optimizer = bound.binding.spec.optimizer_configuration
    if optimizer is not None:
        reason = (
            "natively the targets share no load: each one is scaled on its own, within its own bounds; costs and "
            "costExpansionRatePercent have no effect"
        )
        findings.warn(OPTIMIZER, reason, RuleId.NATIVE_DIFFERS)
        if optimizer.cost_expansion_rate_percent != COST_EXPANSION_RATE:
            reason = "has no effect natively: replicas are not distributed by cost; remove it"
            findings.warn(f"{OPTIMIZER}.costExpansionRatePercent", reason, RuleId.FIELD_NO_EFFECT)
    autoscalers = tuple(_autoscaler(bound, scaled, options) for scaled in bound.targets)
    findings.problems += bound.policy_findings.problems
    if findings.has_errors:
        raise Unrenderable
    return Rendered(source, source.kind.kind, source.name, bound.namespace, autoscalers=autoscalers)


def _resolve(source: LoadedResource, library: Library, options: Options, findings: Findings) -> PolicyBinding:
    """Find the policy and the targets of a binding.

    Raises:
        Unrenderable: one of them does not exist, or two targets are the same; the error is in ``findings``.
    """
    binding = source.resource
    assert isinstance(binding, AutoscalingPolicyBinding)  # noqa: S101  the caller chose this function by kind
    namespace = binding.metadata.namespace or options.namespace
    name, path = binding.spec.policy_ref.name, "spec.policyRef.name"
    policy = find(AutoscalingPolicy, library, namespace, name)
    if policy is None and not name:
        findings.error(path, "is required: name the AutoscalingPolicy to scale by", RuleId.REFERENCE_MISSING)
    elif policy is None and not library.is_unread("AutoscalingPolicy", name):
        known = library.all(AutoscalingPolicy, namespace)
        reason = unknown_reference("AutoscalingPolicy", name, known, f"correct the name, or add it in {namespace!r}")
        findings.error(path, reason, RuleId.REFERENCE_MISSING)
    targets = targets_of(binding)
    first_by_name: dict[str, BindingTarget] = {}
    for target in targets:
        first = first_by_name.setdefault(target.name, target)
        if first is not target:
            reason = f"is also the target of {first.path}; keep one of the two"
            findings.error(target.name_path, reason, RuleId.AUTOSCALING_CONTESTED)
    scaled = [find_target(target, library, namespace, options, findings) for target in targets]
    existing = tuple(item for item in scaled if item)
    if policy is None or findings.has_errors or len(existing) < len(targets):
        raise Unrenderable
    resource = policy.resource
    assert isinstance(resource, AutoscalingPolicy)  # noqa: S101  it was found by its kind
    return PolicyBinding(source, binding, namespace, resource, existing, findings, Findings(policy))


def _autoscaler(bound: PolicyBinding, scaled: ScaledServing, options: Options) -> Autoscaler:
    """Return the HPA of a target, and report why the target cannot be scaled."""
    group, target = scaled.serving.group, scaled.target
    if not is_one_set(group):
        # Kthena's controller can scale it, if it finds pods to measure.
        is_measured = any(role.name == MEASURED_ROLE for role in group.roles)
        alternative = ", or use realization 'operator'" if is_measured else ""
        reason = (
            "cannot be scaled natively: its serving groups have several role instances, or pods that start together, "
            "and become one LeaderWorkerSet each; scale a ModelServing with one role, one instance of it, and no "
            f"gangPolicy or networkTopology{alternative}"
        )
        bound.findings.error(target.name_path, reason, RuleId.NATIVE_UNSUPPORTED)
    check_measured_pods(scaled, bound.findings)
    exporter, findings = scaled.exporter, bound.policy_findings
    max_replicas = target.bounds.max_replicas
    spec: Object = {
        "scaleTargetRef": LEADER_WORKER_SET.target(target.name),
        "minReplicas": target.bounds.min_replicas,
        "maxReplicas": max_replicas,
        "metrics": pods_metrics(bound.policy.spec.metrics, exporter, findings) if exporter else [],
        "behavior": hpa_behavior(effective_policy(bound.policy.spec), max_replicas, options, findings),
    }
    has_optimizer = bound.binding.spec.optimizer_configuration is not None
    name = f"{bound.source.name}-{target.name}" if has_optimizer else bound.source.name
    hpa = new_object("autoscaling/v2", HPA, name, bound.namespace, spec)
    return Autoscaler(hpa, hpa_origins(bound, scaled), target_known=True)
