"""The targets of a binding or policy: ModelServings and the pods that are measured (Kthena spec 4.2)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import field_path
from ....engines.exporters import Exporter, exporter_of
from ....engines.settings import Setting
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.origins import Origin
from ..generated import origin_of
from ..names import SERVING_LABEL, WORKLOAD_API
from ..references import find
from ..serving.context import ServingContext
from ..serving.roles import RolePods, roles_of
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding, ModelServing
from ..types.autoscaling import (
    AutoscalingPolicyBindingSpec,
    AutoscalingPolicySpec,
    MetricEndpoint,
    MetricSource,
    OptimizerConfiguration,
    OptimizerParam,
    ScalingConfiguration,
    ScalingTarget,
)
from ..types.values import ObjectReference
from .effective import DEFAULT_ENDPOINT

ROLE_LABEL = f"{SERVING_LABEL}/role"
MEASURED_ROLE = "leader"
"""Until v0.1.0, Kthena's controller measures the pods of this role, even if the binding names another."""


@dataclass(frozen=True, slots=True)
class TargetMeasurement:
    """How pods of a target are measured, for all metrics or for one of them.

    Attributes:
        path: The field with the endpoint.
        endpoint: Where the pods serve their metrics; None if the field is not set.
        labels_path: The field with the labels.
        labels: Labels that the pods must have.
        selector: The selector with further conditions; empty without one.
    """

    path: str
    endpoint: MetricEndpoint | None
    labels_path: str
    labels: Mapping[str, str]
    selector: Mapping[str, Any]

    @classmethod
    def at(cls, path: str, endpoint: MetricEndpoint | None) -> "TargetMeasurement":
        """Return the measurement of an endpoint."""
        selector = (endpoint and endpoint.label_selector) or {}
        labels_path = f"{path}.labelSelector.matchLabels"
        return cls(path, endpoint, labels_path, selector.get("matchLabels") or {}, selector)


@dataclass(frozen=True, slots=True)
class BindingTarget:
    """A target of a binding or policy, as written.

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

    @property
    def measurements(self) -> tuple[TargetMeasurement, ...]:
        """How its pods are measured: one way for all metrics, or one for each that has a source of its own."""
        path = f"{self.path}.target"
        if self.spec.metric_sources is not None:
            return tuple(
                TargetMeasurement.at(f"{path}.{field_path(('metricSources', key, 'pod'))}", source.pod)
                for key, source in self.spec.metric_sources.items()
                if source.pod
            )
        if self.spec.additional_match_labels is not None:
            labels = self.spec.additional_match_labels
            endpoint_path, endpoint = f"{path}.metricEndpoint", self.spec.metric_endpoint
            return (TargetMeasurement(endpoint_path, endpoint, f"{path}.additionalMatchLabels", labels, {}),)
        return (TargetMeasurement.at(f"{path}.metricEndpoint", self.spec.metric_endpoint),)

    def source_of(self, key: str) -> tuple[str, MetricSource | None]:
        """Return the field of a metric's source, and the source; None without one."""
        source = (self.spec.metric_sources or {}).get(key)
        return f"{self.path}.target.{field_path(('metricSources', key))}", source


@dataclass(frozen=True, slots=True)
class TargetScaling:
    """What a binding or policy scales, in any form.

    Attributes:
        optimizer: The configuration of targets that share a load; None if there is one target.
        path: Its field, or that of the only target.
        targets: The targets; none if they are roles.
    """

    optimizer: OptimizerConfiguration | None
    path: str
    targets: tuple[BindingTarget, ...]


def scaling_of(resource: AutoscalingPolicyBinding | AutoscalingPolicy) -> TargetScaling:
    """Return what a binding or policy scales."""
    spec = resource.spec
    if isinstance(spec, AutoscalingPolicyBindingSpec):
        if spec.scaling_configuration:
            path = "spec.scalingConfiguration"
            return TargetScaling(None, path, (BindingTarget(path, spec.scaling_configuration),))
        if spec.optimizer_configuration:
            return _optimizer("spec.optimizerConfiguration", spec.optimizer_configuration)
    if spec.homogeneous_target:
        path = "spec.homogeneousTarget"
        return TargetScaling(None, path, (BindingTarget(path, spec.homogeneous_target),))
    if spec.heterogeneous_target:
        return _optimizer("spec.heterogeneousTarget", spec.heterogeneous_target)
    return TargetScaling(None, "spec", ())


def _optimizer(path: str, configuration: OptimizerConfiguration) -> TargetScaling:
    params = enumerate(configuration.params)
    targets = tuple(BindingTarget(f"{path}.params[{position}]", param) for position, param in params)
    return TargetScaling(configuration, path, targets)


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

    @property
    def metric_ports(self) -> frozenset[int]:
        """The ports at which its entry pods may serve metrics; empty if none is known.

        An engine serves them at the port that it listens on, whatever its container declares. Another container, such
        as Kthena's runtime, serves them at a port that it declares.
        """
        role, exporter = self.role, self.exporter
        if role is None:
            return frozenset()
        listening = role.server.line.value_of(Setting.PORT) or ""
        facts = exporter.facts if exporter else None
        engine_port = int(listening) if listening.isdecimal() else facts.owner.port if facts else None
        others = [
            container
            for position, container in enumerate(role.entry.spec["containers"])
            if position != role.server.position or engine_port is None
        ]
        declared = {int(port["containerPort"]) for each in others for port in each.get("ports") or ()}
        return frozenset(declared | ({engine_port} if engine_port else set()))


@dataclass(frozen=True, slots=True)
class PolicyBinding:
    """A binding with its policy and its targets, or a policy that names its targets itself.

    Attributes:
        source: The binding, or the policy.
        findings: The problems of the source.
        policy_findings: The problems of the policy, at its own fields.
    """

    source: LoadedResource
    scaling: TargetScaling
    namespace: str
    policy: AutoscalingPolicy
    targets: tuple[ScaledServing, ...]
    findings: Findings
    policy_findings: Findings


def name_field(spec: AutoscalingPolicySpec, position: int) -> str:
    """Return the field with the name of a metric."""
    return "metricName" if (spec.metrics or [])[position].name is None else "name"


def hpa_origins(bound: PolicyBinding, scaled: ScaledServing) -> Callable[[str], Origin]:
    """Return a function that maps a field of a target's HPA to the field of the binding or policy it came from."""
    source, policy, target = origin_of(bound.source), origin_of(bound.policy_findings.source), scaled.target

    def origin(path: str) -> Origin:
        metric = re.match(r"metrics\[(\d+)\]", path)
        if metric:
            position = int(metric[1])
            field = "targetValue" if ".target" in path else name_field(bound.policy.spec, position)
            return Origin(policy, f"spec.metrics[{position}].{field}")
        if path.startswith("behavior"):
            return Origin(policy, "spec.behavior")
        is_bound = path in ("minReplicas", "maxReplicas")
        return Origin(source, f"{target.path}.{path}" if is_bound else target.name_path)

    return origin


def find_serving(
    reference: ObjectReference, path: str, library: Library, namespace: str, findings: Findings
) -> LoadedResource | None:
    """Return the ModelServing that a reference names; None, with an error, if there is none.

    Args:
        reference: The reference.
        path: Its field.
        library: The resources of the fleet.
        namespace: Namespace of the resource with the reference.
        findings: The problems of that resource.
    """
    if reference.namespace not in (None, "", namespace):
        reason = f"must be the namespace of the binding, {namespace!r}, found {reference.namespace!r}; remove it"
        findings.error(f"{path}.namespace", reason, RuleId.REFERENCE_MISSING)
    if reference.api_version not in (None, "", WORKLOAD_API):
        reason = f"must be {WORKLOAD_API}, found {reference.api_version!r}"
        findings.error(f"{path}.apiVersion", reason, RuleId.REFERENCE_MISSING)
    fields = reference.wire()
    for field in ("fieldPath", "resourceVersion", "uid"):
        if fields.get(field):
            reason = "has no effect: targets are found by name; remove it"
            findings.warn(f"{path}.{field}", reason, RuleId.FIELD_NO_EFFECT)
    name = reference.name or ""
    source = find(ModelServing, library, namespace, name)
    if source is None and not library.is_unread("ModelServing", name):
        known = library.names(ModelServing, namespace)
        reason = unknown_reference("ModelServing", name, known, "correct the name, or add it")
        findings.error(f"{path}.name", reason, RuleId.REFERENCE_MISSING)
    return source


def find_target(
    target: BindingTarget, library: Library, namespace: str, options: Options, findings: Findings
) -> ScaledServing | None:
    """Return the ModelServing of a target; None, with an error, if it or its measured role does not exist."""
    source = find_serving(target.spec.target_ref, f"{target.path}.target.targetRef", library, namespace, findings)
    if source is None:
        return None
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  it was found by its kind
    names = [role.name for role in resource.spec.template.roles]
    selected = [item for item in target.measurements if ROLE_LABEL in item.labels]
    measured = selected[0].labels[ROLE_LABEL] if selected else names[0]
    sub_target = target.spec.sub_targets
    if sub_target is not None and sub_target.kind == "Role" and sub_target.name in names:
        measured = sub_target.name
    for item in selected:
        role_name = item.labels[ROLE_LABEL]
        if role_name not in names:
            remedy = "use one of them, or remove it"
            reason = unknown_reference(f"role in ModelServing {target.name!r}", role_name, names, remedy)
            findings.error(f"{item.labels_path}[{ROLE_LABEL}]", reason, RuleId.REFERENCE_MISSING)
    if measured not in names:
        return None
    if sub_target is not None and (sub_target.kind != "Role" or sub_target.name not in names):
        reason = f"must be kind Role and the name of a role in ModelServing {target.name!r}: {', '.join(names)}"
        findings.error(f"{target.path}.target.subTargets", reason, RuleId.REFERENCE_MISSING)
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
    for measurement in scaled.target.measurements:
        _check_measurement(scaled, measurement, findings)


def _check_measurement(scaled: ScaledServing, measurement: TargetMeasurement, findings: Findings) -> None:
    exporter, role = scaled.exporter, scaled.role
    labels = (role.entry.body["metadata"].get("labels") or {}) if role else {}
    for key, value in measurement.labels.items():
        if role and labels.get(key) != value:
            reason = (
                f"natively an autoscaler measures all entry pods of role {role.name!r}, which do not have the label "
                f"{key}: {value}; remove it, or use realization 'operator'"
            )
            findings.error(f"{measurement.labels_path}[{key}]", reason, RuleId.NATIVE_UNSUPPORTED)
    if role and measurement.selector.get("matchExpressions"):
        reason = (
            f"natively an autoscaler measures all entry pods of role {role.name!r}; remove it, or use realization "
            "'operator'"
        )
        path = f"{measurement.path}.labelSelector.matchExpressions"
        findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)

    endpoint = measurement.endpoint or DEFAULT_ENDPOINT
    facts = exporter.facts if exporter else None
    engine_path = facts.path if facts else DEFAULT_ENDPOINT.uri
    ignored = []
    if endpoint.uri not in (DEFAULT_ENDPOINT.uri, engine_path):
        ignored.append(("uri", endpoint.uri, engine_path))
    served = scaled.metric_ports
    # A port that is not written is the default of Kthena's runtime, which natively is not there.
    if "port" in endpoint.model_fields_set and endpoint.port not in served:
        expected = " or ".join(f"port {port}" for port in sorted(served)) or "its serving port"
        ignored.append(("port", str(endpoint.port), expected))
    for field, value, expected in ignored:
        reason = (
            f"has no effect natively: metrics are read where the engine serves them ({expected}), found {value}; "
            "remove it"
        )
        findings.warn(f"{measurement.path}.{field}", reason, RuleId.FIELD_NO_EFFECT)
