"""The targets of an AutoscalingPolicyBinding: ModelServings and the pods that are measured (Kthena spec 4.2)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....engines.exporters import Exporter, exporter_of
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.origins import Origin
from ..generated import origin_of
from ..names import SERVING_LABEL, WORKLOAD_API
from ..references import find
from ..serving.context import ServingContext
from ..serving.roles import RolePods, roles_of
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelServing
from ..types.autoscaling import MetricEndpoint, OptimizerParam, ScalingConfiguration, ScalingTarget
from .effective import effective_endpoint

SCALING = "spec.scalingConfiguration"
OPTIMIZER = "spec.optimizerConfiguration"
ROLE_LABEL = f"{SERVING_LABEL}/role"
MEASURED_ROLE = "leader"
"""Kthena's controller measures the pods of this role, even if the binding names another."""
_DEFAULT_ENDPOINT = MetricEndpoint.model_validate({})


@dataclass(frozen=True, slots=True)
class BindingTarget:
    """A target of a binding, as written.

    Attributes:
        path: The field with the target and its bounds.
        bounds: Its value.
    """

    path: str
    bounds: ScalingConfiguration | OptimizerParam

    @property
    def spec(self) -> ScalingTarget:
        return self.bounds.target

    @property
    def name(self) -> str:
        """Name of the ModelServing."""
        return self.spec.target_ref.name or ""

    @property
    def name_path(self) -> str:
        """The field with the name of the ModelServing."""
        return f"{self.path}.target.targetRef.name"

    @property
    def has_cost(self) -> bool:
        """Whether the binding sets the cost of a replica."""
        return "cost" in self.bounds.model_fields_set


def targets_of(binding: AutoscalingPolicyBinding) -> tuple[BindingTarget, ...]:
    """Return the target of a binding, or those of its optimizer."""
    spec = binding.spec
    if spec.scaling_configuration is not None:
        return (BindingTarget(SCALING, spec.scaling_configuration),)
    params = spec.optimizer_configuration.params if spec.optimizer_configuration else []
    return tuple(BindingTarget(f"{OPTIMIZER}.params[{position}]", param) for position, param in enumerate(params))


@dataclass(frozen=True, slots=True)
class ScaledServing:
    """A ModelServing that a binding scales.

    Attributes:
        role: The role whose entry pods are measured; None if it has errors, which are reported at the ModelServing.
    """

    target: BindingTarget
    serving: ServingContext
    role: RolePods | None

    @property
    def exporter(self) -> Exporter | None:
        """The metrics that its engine exports."""
        return exporter_of(self.role.container, self.role.server.line) if self.role else None


@dataclass(frozen=True, slots=True)
class PolicyBinding:
    """A binding with its policy and its targets.

    Attributes:
        findings: The problems of the binding.
        policy_findings: The problems of the policy, at its own fields.
    """

    source: LoadedResource
    binding: AutoscalingPolicyBinding
    namespace: str
    policy: AutoscalingPolicy
    targets: tuple[ScaledServing, ...]
    findings: Findings
    policy_findings: Findings


def hpa_origins(bound: PolicyBinding, scaled: ScaledServing) -> Callable[[str], Origin]:
    """Return a function that maps a field of a target's HPA to the field of the binding or policy it came from."""
    source, policy, target = origin_of(bound.source), origin_of(bound.policy_findings.source), scaled.target

    def origin(path: str) -> Origin:
        metric = re.match(r"metrics(\[\d+\])", path)
        if metric:
            field = "targetValue" if ".target" in path else "metricName"
            return Origin(policy, f"spec.metrics{metric[1]}.{field}")
        if path.startswith("behavior"):
            return Origin(policy, "spec.behavior")
        is_bound = path in ("minReplicas", "maxReplicas")
        return Origin(source, f"{target.path}.{path}" if is_bound else target.name_path)

    return origin


def find_target(
    target: BindingTarget, library: Library, namespace: str, options: Options, findings: Findings
) -> ScaledServing | None:
    """Return the ModelServing of a target; None, with an error, if it or its measured role does not exist."""
    reference, reference_path = target.spec.target_ref, f"{target.path}.target.targetRef"
    if reference.namespace not in (None, "", namespace):
        reason = f"must be the namespace of the binding, {namespace!r}, found {reference.namespace!r}; remove it"
        findings.error(f"{reference_path}.namespace", reason, RuleId.REFERENCE_MISSING)
    if reference.api_version not in (None, "", WORKLOAD_API):
        reason = f"must be {WORKLOAD_API}, found {reference.api_version!r}"
        findings.error(f"{reference_path}.apiVersion", reason, RuleId.REFERENCE_MISSING)
    fields = reference.wire()
    for field in ("fieldPath", "resourceVersion", "uid"):
        if fields.get(field):
            reason = "has no effect: targets are found by name; remove it"
            findings.warn(f"{reference_path}.{field}", reason, RuleId.FIELD_NO_EFFECT)
    source = find(ModelServing, library, namespace, target.name)
    if source is None:
        if not library.is_unread("ModelServing", target.name):
            known = library.all(ModelServing, namespace)
            reason = unknown_reference("ModelServing", target.name, known, "correct the name, or add it")
            findings.error(target.name_path, reason, RuleId.REFERENCE_MISSING)
        return None
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  it was found by its kind
    names = [role.name for role in resource.spec.template.roles]
    measured = (target.spec.additional_match_labels or {}).get(ROLE_LABEL, names[0])
    if measured not in names:
        path = f"{target.path}.target.additionalMatchLabels[{ROLE_LABEL}]"
        remedy = "use one of them, or remove it"
        reason = unknown_reference(f"role in ModelServing {target.name!r}", measured, names, remedy)
        findings.error(path, reason, RuleId.REFERENCE_MISSING)
        return None
    # Problems of the pods are reported at the ModelServing.
    serving = ServingContext(source, resource, namespace, options, Findings(source))
    try:
        role = roles_of(serving)[names.index(measured)]
    except Unrenderable:
        role = None
    return ScaledServing(target, serving, role)


def check_measured_pods(scaled: ScaledServing, findings: Findings) -> None:
    """Report metrics that the engine does not export, and settings about measured pods that an HPA ignores."""
    exporter, role = scaled.exporter, scaled.role
    reason = exporter.missing_reason(f"the metrics that {findings.source.title} scales on") if exporter else ""
    if role and reason:
        findings.problems.append(role.server.args.problem(reason, rule=RuleId.METRICS_OFF))
    labels = (role.entry.body["metadata"].get("labels") or {}) if role else {}
    for key, value in (scaled.target.spec.additional_match_labels or {}).items():
        if role and labels.get(key) != value:
            reason = (
                f"natively an autoscaler measures all entry pods of role {role.name!r}, which do not have the label "
                f"{key}: {value}; remove it, or use realization 'operator'"
            )
            path = f"{scaled.target.path}.target.additionalMatchLabels[{key}]"
            findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)

    endpoint = effective_endpoint(scaled.target.spec)
    facts = exporter.facts if exporter else None
    engine_path = facts.path if facts else _DEFAULT_ENDPOINT.uri
    engine_port = facts.owner.port if facts else None
    ignored = []
    if endpoint.uri not in (_DEFAULT_ENDPOINT.uri, engine_path):
        ignored.append(("uri", endpoint.uri, engine_path))
    if endpoint.port not in (_DEFAULT_ENDPOINT.port, engine_port):
        expected = f"port {engine_port}" if engine_port else "its serving port"
        ignored.append(("port", str(endpoint.port), expected))
    for field, value, expected in ignored:
        reason = (
            f"has no effect natively: metrics are read where the engine serves them ({expected}), found {value}; "
            "remove it"
        )
        findings.warn(f"{scaled.target.path}.target.metricEndpoint.{field}", reason, RuleId.FIELD_NO_EFFECT)
