"""The ModelServings that a binding names, and what its other words about them come to (Kthena spec 4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....contract.findings.collector import Findings, Unrenderable, unknown_reference
from ....contract.findings.ids import RuleId
from ....engines.exporters import Exporter, exporter_of
from ....fleet.library import Library
from ....fleet.options import Options
from ..lookup import loaded
from ..names import SERVING_LABEL, WORKLOAD_API
from ..serving.asked import AskedServing
from ..serving.roles import RolePods, roles_of
from ..types import ModelServing
from ..types.autoscaling import MetricEndpoint
from .aims import Aim
from .effective import effective_endpoint

ROLE_LABEL = f"{SERVING_LABEL}/role"
MEASURED = "leader"
"""The role whose pods Kthena's controller measures, whatever it is told."""
_KIND = "ModelServing"
_UNREAD = ("fieldPath", "resourceVersion", "uid")
"""Fields of a reference that nothing reads."""
_USUAL = MetricEndpoint.model_validate({})


@dataclass(frozen=True, slots=True)
class AimedServing:
    """A ModelServing to scale.

    Attributes:
        role: The role whose entry pods are measured; None where its pods cannot be made, which is reported there.
    """

    aim: Aim
    asked: AskedServing
    role: RolePods | None

    @property
    def exporter(self) -> Exporter | None:
        """What its engine exports."""
        return exporter_of(self.role.container, self.role.server.line) if self.role else None


def find(aim: Aim, library: Library, namespace: str, options: Options, findings: Findings) -> AimedServing | None:
    """Return the target of a binding; None, with an error, where it is not there or has not what is asked for."""
    _check_reference(aim, namespace, findings)
    source = loaded(ModelServing, library, namespace, aim.name)
    if source is None:
        if not library.is_unread(_KIND, aim.name):
            known = library.all(ModelServing, namespace)
            findings.error(
                aim.name_path,
                unknown_reference(_KIND, aim.name, known, "correct the name, or add it"),
                RuleId.REFERENCE_MISSING,
            )
        return None
    serving = source.resource
    assert isinstance(serving, ModelServing)  # noqa: S101  it was found by its kind
    position = _role(aim, serving, findings)
    if position is None:
        return None
    # What is wrong with the pods is reported with the ModelServing.
    asked = AskedServing(source, serving, namespace, options, Findings(source))
    try:
        role = roles_of(asked)[position]
    except Unrenderable:
        role = None
    return AimedServing(aim, asked, role)


def _check_reference(aim: Aim, namespace: str, findings: Findings) -> None:
    reference, path = aim.target.target_ref, f"{aim.path}.target.targetRef"
    if reference.namespace not in (None, "", namespace):
        reason = (
            f"targets are looked up beside the binding, in {namespace!r}, found {reference.namespace!r}; remove it"
        )
        findings.error(f"{path}.namespace", reason, RuleId.REFERENCE_MISSING)
    if reference.api_version not in (None, "", WORKLOAD_API):
        findings.error(
            f"{path}.apiVersion", f"must be {WORKLOAD_API}, found {reference.api_version!r}", RuleId.REFERENCE_MISSING
        )
    written = reference.wire()
    for field in _UNREAD:
        if written.get(field):
            findings.warn(
                f"{path}.{field}",
                "has no effect: a target is found by its name alone; remove it",
                RuleId.FIELD_NO_EFFECT,
            )


def _role(aim: Aim, serving: ModelServing, findings: Findings) -> int | None:
    """Return the role whose entry pods are measured: the one that is named, else the first."""
    roles = [role.name for role in serving.spec.template.roles]
    named = (aim.target.additional_match_labels or {}).get(ROLE_LABEL)
    if named is None:
        return 0
    if named in roles:
        return roles.index(named)
    path = f"{aim.path}.target.additionalMatchLabels[{ROLE_LABEL}]"
    findings.error(
        path,
        unknown_reference(f"role in ModelServing {aim.name!r}", named, roles, "use one of them, or remove it"),
        RuleId.REFERENCE_MISSING,
    )
    return None


def check_native(target: AimedServing, findings: Findings) -> None:
    """Report what is said of the pods to measure, and does not reach an autoscaler."""
    _check_exported(target, findings)
    labels = (target.role.entry.body["metadata"].get("labels") or {}) if target.role else {}
    for key, value in (target.aim.target.additional_match_labels or {}).items():
        if target.role and labels.get(key) != value:
            findings.error(
                f"{target.aim.path}.target.additionalMatchLabels[{key}]",
                f"natively an autoscaler measures all entry pods of role {target.role.name!r}, which do not have the "
                f"label {key}: {value}; remove it, or use realization 'operator'",
                RuleId.NATIVE_UNSUPPORTED,
            )
    for field, found, usual in _endpoint(target):
        findings.warn(
            f"{target.aim.path}.target.metricEndpoint.{field}",
            f"has no effect natively: metrics are read where the engine serves them ({usual}), found {found}; remove "
            "it",
            RuleId.FIELD_NO_EFFECT,
        )


def _check_exported(target: AimedServing, findings: Findings) -> None:
    """Report an engine that keeps its metrics to itself: what it is started with is the writer's."""
    exporter, role = target.exporter, target.role
    reason = exporter.missing_reason(f"the metrics that {findings.source.title} scales on") if exporter else ""
    if role and reason:
        findings.problems.append(role.server.args.problem(reason, rule=RuleId.METRICS_OFF))


def _endpoint(target: AimedServing) -> Iterator[tuple[str, str, str]]:
    """Yield what is said of the place of the metrics, other than what Kthena's runtime or the engine has."""
    endpoint, exporter = effective_endpoint(target.aim.target), target.exporter
    facts = exporter.facts if exporter else None
    path = facts.path if facts else _USUAL.uri
    if endpoint.uri not in (_USUAL.uri, path):
        yield "uri", endpoint.uri, path
    port = facts.owner.port if facts else None
    if endpoint.port not in (_USUAL.port, port):
        yield "port", str(endpoint.port), f"port {port}" if port else "its serving port"
