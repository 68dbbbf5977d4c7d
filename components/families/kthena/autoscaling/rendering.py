"""Renders bindings, and policies with targets of their own: natively as one HPA for each target (Kthena spec 4.6)."""

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import field_path
from ....fleet.autoscalers import Autoscaler
from ....fleet.library import Library
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import render_declared
from ....fleet.shapes import LEADER_WORKER_SET
from ..names import OPERATOR
from ..references import find
from ..serving.groups import is_one_set
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelServing
from .effective import COST_EXPANSION_RATE, effective_policy
from .hpa import NamedMetric, hpa_behavior, pods_metrics
from .operator import render_for_operator, render_roles_for_operator
from .targets import (
    MEASURED_ROLE,
    BindingTarget,
    PolicyBinding,
    ScaledServing,
    TargetScaling,
    check_measured_pods,
    find_serving,
    find_target,
    hpa_origins,
    name_field,
    scaling_of,
)


def render_binding(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render an AutoscalingPolicyBinding.

    Raises:
        Unrenderable: nothing can be rendered; the error is in ``findings``.
    """
    binding = source.resource
    assert isinstance(binding, AutoscalingPolicyBinding)  # noqa: S101  the caller chose this function by kind
    namespace = binding.metadata.namespace or options.namespace
    policy = _policy_of(binding, namespace, library, findings)
    scaling = scaling_of(binding)
    targets = _existing_targets(scaling, namespace, library, options, findings)
    if policy is None or findings.has_errors or len(targets) < len(scaling.targets):
        raise Unrenderable
    resource = policy.resource
    assert isinstance(resource, AutoscalingPolicy)  # noqa: S101  it was found by its kind
    bound = PolicyBinding(
        source=source,
        scaling=scaling,
        namespace=namespace,
        policy=resource,
        targets=targets,
        findings=findings,
        policy_findings=Findings(policy),
    )
    return _render(bound, options)


def render_policy(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render an AutoscalingPolicy; natively, one without targets is nothing by itself.

    Raises:
        Unrenderable: nothing can be rendered; the error is in ``findings``.
    """
    policy = source.resource
    assert isinstance(policy, AutoscalingPolicy)  # noqa: S101  the caller chose this function by kind
    namespace = policy.metadata.namespace or options.namespace
    if policy.spec.disaggregated_target is not None:
        return _render_roles(source, policy, library, options, findings)
    scaling = scaling_of(policy)
    if not scaling.targets:
        return render_declared(source, options, OPERATOR)
    targets = _existing_targets(scaling, namespace, library, options, findings)
    if findings.has_errors or len(targets) < len(scaling.targets):
        raise Unrenderable
    return _render(
        PolicyBinding(
            source=source,
            scaling=scaling,
            namespace=namespace,
            policy=policy,
            targets=targets,
            findings=findings,
            policy_findings=findings,
        ),
        options,
    )


def _render(bound: PolicyBinding, options: Options) -> Rendered:
    findings, source = bound.findings, bound.source
    if not options.realization.is_native:
        return render_for_operator(bound, options)
    optimizer, path = bound.scaling.optimizer, bound.scaling.path
    if optimizer is not None:
        reason = (
            "natively the targets share no load: each one is scaled on its own, within its own bounds; costs and "
            "costExpansionRatePercent have no effect"
        )
        findings.warn(path, reason, RuleId.NATIVE_DIFFERS)
        if optimizer.cost_expansion_rate_percent != COST_EXPANSION_RATE:
            reason = "has no effect natively: replicas are not distributed by cost; remove it"
            findings.warn(f"{path}.costExpansionRatePercent", reason, RuleId.FIELD_NO_EFFECT)
    autoscalers = tuple(_autoscaler(bound, scaled, options) for scaled in bound.targets)
    if bound.policy_findings is not findings:
        findings.problems += bound.policy_findings.problems
    if findings.has_errors:
        raise Unrenderable
    return Rendered(source, source.kind.kind, source.name, bound.namespace, autoscalers=autoscalers)


def _render_roles(
    source: LoadedResource, policy: AutoscalingPolicy, library: Library, options: Options, findings: Findings
) -> Rendered:
    """Render a policy that scales roles, which natively are a fixed number of LeaderWorkerSets.

    Raises:
        Unrenderable: natively, or if the ModelServing or a role does not exist; the error is in ``findings``.
    """
    target, path = policy.spec.disaggregated_target, "spec.disaggregatedTarget"
    assert target is not None  # noqa: S101  the caller tested it
    namespace = policy.metadata.namespace or options.namespace
    if options.realization.is_native:
        reason = (
            "cannot be scaled natively: each instance of a role is a LeaderWorkerSet of its own, whose number no "
            "autoscaler changes; use realization 'operator', or set the replicas of the roles and homogeneousTarget"
        )
        raise findings.fail(path, reason, RuleId.NATIVE_UNSUPPORTED)
    serving = find_serving(target.target_ref, f"{path}.targetRef", library, namespace, findings)
    if serving is None:
        raise Unrenderable
    resource = serving.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  it was found by its kind
    roles = {role.name: role for role in resource.spec.template.roles}
    for name in target.roles:
        if name not in roles:
            remedy = "use one of them, or remove it"
            reason = unknown_reference(f"role in ModelServing {serving.name!r}", name, roles, remedy)
            findings.error(field_path((*path.split("."), "roles", name)), reason, RuleId.REFERENCE_MISSING)
    if findings.has_errors:
        raise Unrenderable
    return render_roles_for_operator(source, policy, resource, options, findings)


def _policy_of(
    binding: AutoscalingPolicyBinding, namespace: str, library: Library, findings: Findings
) -> LoadedResource | None:
    """Return the policy of a binding; None, with an error, if there is none."""
    name, path = binding.spec.policy_ref.name, "spec.policyRef.name"
    policy = find(AutoscalingPolicy, library, namespace, name)
    if policy is None and not name:
        findings.error(path, "is required: name the AutoscalingPolicy to scale by", RuleId.REFERENCE_MISSING)
    elif policy is None and not library.is_unread("AutoscalingPolicy", name):
        known = library.names(AutoscalingPolicy, namespace)
        reason = unknown_reference("AutoscalingPolicy", name, known, f"correct the name, or add it in {namespace!r}")
        findings.error(path, reason, RuleId.REFERENCE_MISSING)
    elif policy is not None and isinstance(policy.resource, AutoscalingPolicy) and policy.resource.spec.has_target:
        reason = f"is a policy with targets of its own, {name!r}; remove the binding, or the targets"
        findings.error(path, reason, RuleId.AUTOSCALING_CONTESTED)
    return policy


def _existing_targets(
    scaling: TargetScaling, namespace: str, library: Library, options: Options, findings: Findings
) -> tuple[ScaledServing, ...]:
    """Return the targets that exist, and report the others and those that are the same."""
    first_by_name: dict[str, BindingTarget] = {}
    for target in scaling.targets:
        first = first_by_name.setdefault(target.name, target)
        if first is not target:
            reason = f"is also the target of {first.path}; keep one of the two"
            findings.error(target.name_path, reason, RuleId.AUTOSCALING_CONTESTED)
    scaled = [find_target(target, library, namespace, options, findings) for target in scaling.targets]
    return tuple(item for item in scaled if item)


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
    if target.spec.sub_targets is not None:
        reason = (
            "cannot be scaled natively: each instance of a role is a LeaderWorkerSet of its own; remove it to scale "
            "the whole ModelServing, or use realization 'operator'"
        )
        bound.findings.error(f"{target.path}.target.subTargets", reason, RuleId.NATIVE_UNSUPPORTED)
    check_measured_pods(scaled, bound.findings)
    exporter, findings = scaled.exporter, bound.policy_findings
    metrics = _named_metrics(bound, target)
    max_replicas = target.bounds.max_replicas
    spec: Object = {
        "scaleTargetRef": LEADER_WORKER_SET.target(target.name),
        "minReplicas": target.bounds.min_replicas,
        "maxReplicas": max_replicas,
        "metrics": pods_metrics(metrics, exporter, findings) if exporter else [],
        "behavior": hpa_behavior(effective_policy(bound.policy.spec), max_replicas, options, findings),
    }
    name = f"{bound.source.name}-{target.name}" if bound.scaling.optimizer else bound.source.name
    hpa = new_object("autoscaling/v2", HPA, name, bound.namespace, spec)
    return Autoscaler(hpa, hpa_origins(bound, scaled), target_known=True)


def _named_metrics(bound: PolicyBinding, target: BindingTarget) -> list[NamedMetric]:
    """Return the metrics of a policy as the pods of a target name them, and report other sources."""
    metrics: list[NamedMetric] = []
    for position, metric in enumerate(bound.policy.spec.metrics or ()):
        path, source = target.source_of(metric.key)
        name, name_path = metric.key, f"spec.metrics[{position}].{name_field(bound.policy.spec, position)}"
        if source is not None and source.prometheus is not None:
            reason = (
                "natively metrics are read from the pods of the target; use a pod source, or realization 'operator'"
            )
            bound.findings.error(f"{path}.prometheus", reason, RuleId.NATIVE_UNSUPPORTED)
            continue
        if source is None and metric.name is not None:
            reason = (
                f"has no source for {metric.key!r}, which Kthena's controller then ignores; natively it is read from "
                "the pods; add one"
            )
            bound.findings.warn(f"{target.path}.target.metricSources", reason, RuleId.NATIVE_DIFFERS)
        if source is not None and source.pod is not None and source.pod.name:
            name, name_path = source.pod.name, f"{path}.pod.name"
        metrics.append((metric, name, name_path))
    keys = {metric.key for metric in bound.policy.spec.metrics or ()}
    for key in target.spec.metric_sources or ():
        if key not in keys:
            reason = f"has no effect: the policy has no metric {key!r}; remove it"
            bound.findings.warn(target.source_of(key)[0], reason, RuleId.FIELD_NO_EFFECT)
    return metrics
