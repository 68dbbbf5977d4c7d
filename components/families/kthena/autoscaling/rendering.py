"""What AutoscalingPolicyBinding becomes: natively an autoscaler for each target (Kthena spec 4.6)."""

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....fleet.autoscalers import Autoscaler
from ....fleet.library import Library
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.shapes import LEADER_WORKER_SET
from ..lookup import loaded
from ..serving.groups import is_one_set
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding
from .aims import OPTIMIZER, Aim, aims_of
from .behavior import behavior_of
from .bound import PolicyBinding, blame_of
from .effective import COST_EXPANSION_RATE, effective_policy
from .metrics import pods_metrics
from .operated import render_for_operator
from .targets import MEASURED, AimedServing, check_native, find

_POLICY = "spec.policyRef.name"


def render_binding(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render an AutoscalingPolicyBinding.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    bound = _bound(source, library, options, findings)
    if not options.realization.is_native:
        return render_for_operator(bound, options)
    rendered = _native(bound, options)
    findings.problems += bound.policy_findings.problems
    if findings.has_errors:
        raise Unrenderable
    return rendered


def _bound(source: LoadedResource, library: Library, options: Options, findings: Findings) -> PolicyBinding:
    binding = source.resource
    assert isinstance(binding, AutoscalingPolicyBinding)  # noqa: S101  the caller chose this function by kind
    namespace = binding.metadata.namespace or options.namespace
    policy = _policy(binding.spec.policy_ref.name, library, namespace, findings)
    aims = aims_of(binding)
    _check_twice(aims, findings)
    found = [find(aim, library, namespace, options, findings) for aim in aims]
    targets = tuple(target for target in found if target)
    if policy is None or findings.has_errors or len(targets) < len(aims):
        raise Unrenderable
    resource = policy.resource
    assert isinstance(resource, AutoscalingPolicy)  # noqa: S101  it was found by its kind
    return PolicyBinding(source, binding, namespace, resource, targets, findings, Findings(policy))


def _policy(name: str, library: Library, namespace: str, findings: Findings) -> LoadedResource | None:
    found = loaded(AutoscalingPolicy, library, namespace, name)
    if found is None and not name:
        findings.error(_POLICY, "is required: name the AutoscalingPolicy to scale by", RuleId.REFERENCE_MISSING)
    elif found is None and not library.is_unread(AutoscalingPolicy.__name__, name):
        known = library.all(AutoscalingPolicy, namespace)
        reason = unknown_reference(
            AutoscalingPolicy.__name__, name, known, f"correct the name, or add it in {namespace!r}"
        )
        findings.error(_POLICY, reason, RuleId.REFERENCE_MISSING)
    return found


def _check_twice(aims: tuple[Aim, ...], findings: Findings) -> None:
    seen: dict[str, Aim] = {}
    for aim in aims:
        first = seen.setdefault(aim.name, aim)
        if first is not aim:
            findings.error(
                aim.name_path,
                f"is also the target of {first.path}; keep one of the two",
                RuleId.AUTOSCALING_CONTESTED,
            )


def _native(bound: PolicyBinding, options: Options) -> Rendered:
    optimizer = bound.binding.spec.optimizer_configuration
    if optimizer is not None:
        bound.findings.warn(
            OPTIMIZER,
            "has no common load natively: each target is scaled by itself, within its own bounds; costs and "
            "costExpansionRatePercent have no effect",
            RuleId.NATIVE_DIFFERS,
        )
        if optimizer.cost_expansion_rate_percent != COST_EXPANSION_RATE:
            reason = "has no effect natively: no load is shared in the order of costs; remove it"
            bound.findings.warn(f"{OPTIMIZER}.costExpansionRatePercent", reason, RuleId.FIELD_NO_EFFECT)
    return Rendered(
        bound.source,
        bound.source.kind.kind,
        bound.source.name,
        bound.namespace,
        autoscalers=tuple(_autoscaler(bound, target, options) for target in bound.targets),
    )


def _autoscaler(bound: PolicyBinding, target: AimedServing, options: Options) -> Autoscaler:
    """Return what moves the replicas of a target."""
    _check_scalable(target, bound.findings)
    check_native(target, bound.findings)
    asked, exporter, findings = target.aim.asked, target.exporter, bound.policy_findings
    policy = effective_policy(bound.policy.spec)
    spec: Object = {
        "scaleTargetRef": LEADER_WORKER_SET.target(target.aim.name),
        "minReplicas": asked.min_replicas,
        "maxReplicas": asked.max_replicas,
        "metrics": pods_metrics(bound.policy.spec.metrics, exporter, findings) if exporter else [],
        "behavior": behavior_of(policy, asked.max_replicas, options, findings),
    }
    hpa = new_object("autoscaling/v2", HPA, _name(bound, target), bound.namespace, spec)
    return Autoscaler(hpa, blame_of(bound, target), target_known=True)


def _name(bound: PolicyBinding, target: AimedServing) -> str:
    """Return the binding's name; with its target's where it has several."""
    several = bound.binding.spec.optimizer_configuration is not None
    return f"{bound.source.name}-{target.aim.name}" if several else bound.source.name


def _check_scalable(target: AimedServing, findings: Findings) -> None:
    group = target.asked.group
    if is_one_set(group):
        return
    # The controller can, if it finds pods to measure.
    other = ", or use realization 'operator'" if any(role.name == MEASURED for role in group.roles) else ""
    findings.error(
        target.aim.name_path,
        "cannot be scaled natively: its serving groups have several role instances, or pods that start together, and "
        "become one LeaderWorkerSet each; scale a ModelServing with one role, one instance of it, and no gangPolicy "
        f"or networkTopology{other}",
        RuleId.NATIVE_UNSUPPORTED,
    )
