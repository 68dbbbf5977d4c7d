"""Bindings and policies for Kthena's controller, and its defects (Kthena spec 4, 10).

Which releases have a defect was read in volcano-sh/kthena at each tag: pkg/autoscaler, and the webhooks of its chart.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ....contract.findings.collector import Findings, Unrenderable
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import field_path, path_parts
from ....engines.metrics import find_anywhere
from ....fleet.autoscalers import Autoscaler
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.origins import Origin
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.shapes import POD
from ..controllers import Controllers
from ..generated import Generated
from ..names import CONTROLLER_NAMESPACE, OPERATOR, role_service
from ..serving.operator_checks import Defect
from ..serving.roles import replica_cost
from ..types import AutoscalingPolicy, ModelServing
from .effective import DEFAULT_ENDPOINT, effective_endpoint, effective_policy
from .targets import MEASURED_ROLE, ROLE_LABEL, PolicyBinding, ScaledServing, hpa_origins, name_field

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
    controllers = Controllers.of(bound.source)
    for collector, errors, warnings in (
        (findings, _binding_errors(bound, controllers), _binding_warnings(bound, controllers)),
        (policy_findings, _policy_errors(bound), _policy_warnings(bound, controllers)),
    ):
        for path, reason in errors:
            collector.error(path, f"Kthena's controller {controllers.title} {reason}", RuleId.OPERATOR_UNSUPPORTED)
        for path, reason in warnings:
            collector.warn(path, f"Kthena's controller {controllers.title} {reason}", RuleId.OPERATOR_DIFFERS)
    # A generated policy reports at the same ModelBooster as its binding.
    if policy_findings is not findings:
        findings.problems += [problem for problem in policy_findings.problems if problem not in findings.problems]

    body = as_manifest(bound.source, options)
    for scaled in bound.targets:
        param: Any = body
        for part in path_parts(scaled.target.path):
            param = param[part]
        if scaled.target.spec.metric_sources is None and controllers.until("v0.4.0"):
            # The controller does not fill it in.
            param["target"]["metricEndpoint"] = effective_endpoint(scaled.target.spec).wire()
        if bound.scaling.optimizer and not scaled.target.has_cost:
            cost = replica_cost(scaled.serving)
            if cost is None:
                reason = (
                    f"no price is recorded for the nodes of ModelServing {scaled.target.name!r}, so a replica costs "
                    "0; select an instance type in its pod templates, or set the cost"
                )
                findings.warn(f"{scaled.target.path}.cost", reason, RuleId.COST_UNKNOWN)
            param["cost"] = cost or 0
        if scaled.target.spec.sub_targets is not None:
            reason = _roles_are_reset(scaled.target.name, [str(scaled.target.spec.sub_targets.name)])
            findings.warn(f"{scaled.target.path}.target.subTargets", reason, RuleId.OPERATOR_DIFFERS)
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


def _roles_are_reset(serving: str, roles: Iterable[str]) -> str:
    """Say what an update makes of the replicas of roles.

    The roles are one value under server-side apply, as the definition of ModelServings has no list type for them
    (volcano-sh/kthena v1.0.0): an apply that sets one field of a role sets all. The provider cannot keep the
    replicas: ``ignoreChanges`` has no effect within a list (handleSSAIgnoreFields in provider/pkg/await/await.go of
    pulumi-kubernetes v4), and on the whole list, it would drop all other changes of the roles.
    """
    return (
        f"each update of ModelServing {serving!r} sets the replicas of its roles to those of the manifest, until the "
        f"autoscaler changes those of {', '.join(roles)} again; keep them at what usual load needs, or scale serving "
        "groups instead of roles"
    )


def _pod_bounds(bound: PolicyBinding) -> Iterator[Autoscaler]:
    """Yield the bounds of the pods of each role, which determine the nodes that they need."""
    for scaled in bound.targets:
        bounds = scaled.target.bounds
        sub_target = scaled.target.spec.sub_targets
        # updateTargetReplicas in pkg/autoscaler/controller/autoscale_controller.go.
        serving = scaled.serving
        owned = (serving.source.kind.kind, serving.namespace, serving.name) if sub_target is None else None
        for role in scaled.serving.group.roles:
            factor = role.replicas
            if sub_target is not None:
                if role.name != sub_target.name:
                    continue
                factor = scaled.serving.replicas
            least, most = bounds.min_replicas * factor, bounds.max_replicas * factor
            hpa = _pod_scaler(scaled.target.name, role.name, bound.namespace, least, most)
            yield Autoscaler(
                hpa, hpa_origins(bound, scaled), operated=True, reads_pods=True, target_known=True, resource=owned
            )


def _pod_scaler(serving: str, role: str, namespace: str, least: int, most: int) -> Object:
    name = role_service(serving, role)
    target = {"kind": POD, "name": name}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most}
    return new_object("autoscaling/v2", HPA, name, namespace, spec)


def render_roles_for_operator(
    source: LoadedResource, policy: AutoscalingPolicy, serving: ModelServing, options: Options, findings: Findings
) -> Rendered:
    """Return a policy that scales the roles of a ModelServing."""
    target, namespace = policy.spec.disaggregated_target, policy.metadata.namespace or options.namespace
    assert target is not None  # noqa: S101  the caller tested it
    reason = _roles_are_reset(serving.metadata.name, target.roles)
    findings.warn("spec.disaggregatedTarget.roles", reason, RuleId.OPERATOR_DIFFERS)
    scalers = []
    for name, role in target.roles.items():
        path = field_path(("spec", "disaggregatedTarget", "roles", name))
        groups = serving.spec.replicas
        hpa = _pod_scaler(
            serving.metadata.name, name, namespace, groups * role.min_replicas, groups * role.max_replicas
        )
        origin = partial(_role_origin, source, path)
        scalers.append(Autoscaler(hpa, origin, operated=True, reads_pods=True, target_known=True))
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        namespace,
        autoscalers=tuple(scalers),
        others=(as_manifest(source, options),),
        requires=frozenset({OPERATOR}),
    )


def _role_origin(source: LoadedResource, path: str, field: str) -> Origin:
    return Origin(source, f"{path}.{field}" if field in ("minReplicas", "maxReplicas") else path)


def _binding_errors(bound: PolicyBinding, controllers: Controllers) -> Iterator[Defect]:
    if bound.namespace != CONTROLLER_NAMESPACE and controllers.until("v0.3.0"):
        yield (
            "metadata.namespace",
            f"only watches bindings in its own namespace {CONTROLLER_NAMESPACE!r}, found {bound.namespace!r}; move "
            f"binding, policy and ModelServing there, or {_NATIVE}",
        )
    if controllers.until("v0.1.0"):
        yield from _measuring_errors(bound)
    behavior = bound.policy.spec.behavior
    has_panic_policy = behavior and behavior.scale_up and behavior.scale_up.panic_policy
    # Since v0.2.0, its webhook fills in the section.
    if bound.scaling.optimizer and not has_panic_policy and not _is_generated(bound) and controllers.until("v0.1.0"):
        yield (
            "spec.policyRef.name",
            "crashes on a policy without behavior.scaleUp.panicPolicy if several targets share a load; add "
            "{period: 0s, panicModeHold: 0s}, which disables panic mode, or bind each target separately",
        )


def _measuring_errors(bound: PolicyBinding) -> Iterator[Defect]:
    """Yield targets whose pods are not the ones that are measured, or not they alone."""
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


def _binding_warnings(bound: PolicyBinding, controllers: Controllers) -> Iterator[Defect]:
    scraped = [source for item in bound.targets for source in (item.target.spec.metric_sources or {}).values()]
    if bound.scaling.optimizer is not None and controllers.until("v0.1.0"):
        yield (
            bound.scaling.path,
            "passes on no metrics if several targets share a load: it only keeps their replicas within the bounds; "
            f"bind each target separately, or {_NATIVE}",
        )
    elif not sum(scaled.target.bounds.min_replicas for scaled in bound.targets) and not any(
        source.prometheus for source in scraped
    ):
        yield (
            f"{bound.targets[0].target.path}.minReplicas",
            "scales to zero and never up again, because without pods it has nothing to measure; set 1",
        )
    if controllers.since("v1.0.0"):
        yield from _missing_sources(bound)
    for scaled in bound.targets:
        yield from _port_warnings(scaled)


def _missing_sources(bound: PolicyBinding) -> Iterator[Defect]:
    for target in (scaled.target for scaled in bound.targets):
        missing = [m.key for m in bound.policy.spec.metrics or () if m.key not in (target.spec.metric_sources or {})]
        if missing:
            reason = f"ignores metrics without a source: {', '.join(missing)}; add {{{missing[0]}: {{pod: {{}}}}}}"
            yield f"{target.path}.target.metricSources", reason


def _port_warnings(scaled: ScaledServing) -> Iterator[Defect]:
    for measurement in scaled.target.measurements:
        port = (measurement.endpoint or DEFAULT_ENDPOINT).port
        served = scaled.metric_ports
        if served and port not in served:
            yield (
                measurement.path,
                f"reads metrics at port {port} of each pod, but {scaled.target.name!r} serves them at "
                f"{' or '.join(map(str, sorted(served)))}; set that as port",
            )


def _policy_errors(bound: PolicyBinding) -> Iterator[Defect]:
    for position, metric in enumerate(bound.policy.spec.metrics or ()):
        if metric.key in _MISSING_METRICS:
            yield (
                f"spec.metrics[{position}].{name_field(bound.policy.spec, position)}",
                f"takes {metric.key!r} for 0, which Kthena's runtime does not export; use another metric",
            )


def _policy_warnings(bound: PolicyBinding, controllers: Controllers) -> Iterator[Defect]:
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
    # Since v0.2.0, its webhook fills in the sections.
    for path in (missing[:1] if behavior is None else missing) if controllers.until("v0.1.0") else ():
        yield path, reason
    down = behavior.scale_down if behavior else None
    up = behavior.scale_up.stable_policy if behavior and behavior.scale_up else None
    # Since v0.2.0, only several targets that share a load are concerned.
    latches = controllers.until("v0.1.0") or bound.scaling.optimizer is not None
    if latches and down and effective.down.window > _TICK:
        yield (
            "spec.behavior.scaleDown.stabilizationWindow",
            "never scales down with a window above 15s as long as it has metrics (D-17); remove it, or " + _NATIVE,
        )
    if latches and up and effective.up.window > _TICK:
        yield (
            "spec.behavior.scaleUp.stablePolicy.stabilizationWindow",
            "scales up once and then never again with a window above 15s (D-17); remove it, or " + _NATIVE,
        )
    is_limited = effective.down.percent < 100 or not effective.down.fastest
    if down and effective.down.period > _TICK and is_limited and controllers.until("v0.4.0"):
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
    for position, metric in enumerate(spec.metrics or ()):
        facts = find_anywhere(metric.key)
        if facts is not None and facts.type == "counter":
            yield (
                f"spec.metrics[{position}].{name_field(spec, position)}",
                f"compares the value of the counter {metric.key!r}, which only increases, and so do the "
                "replicas; use a gauge, such as the queue length of the engine",
            )


def _is_generated(bound: PolicyBinding) -> bool:
    """Return whether the controller itself creates binding and policy, from a ModelBooster: with every section."""
    return isinstance(bound.source, Generated)
