"""A VariantAutoscaling and the workload that it scales."""

from dataclasses import dataclass

from ...contract.findings.collector import Findings, Unrenderable, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Severity
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload
from .names import ACCELERATOR_LABEL
from .types import VariantAutoscaling


@dataclass(frozen=True, slots=True)
class Variant:
    """A VariantAutoscaling and its workload.

    Attributes:
        target: Field that names the workload.
        item: The rendered resource that creates the workload.
        workload: The workload to scale.
    """

    source: LoadedResource
    resource: VariantAutoscaling
    namespace: str
    target: str
    item: Rendered
    workload: Workload
    options: Options
    findings: Findings

    @property
    def accelerator(self) -> str:
        """The accelerator in the label; empty without one."""
        return self.resource.metadata.labels.get(ACCELERATOR_LABEL, "")


def target_of(resource: VariantAutoscaling) -> tuple[str, str]:
    """Return the name of the workload that a VariantAutoscaling scales, and the field that names it.

    Up to v0.4.2 it is the resource's own name (WVA spec 5), from v0.5.0 on that in ``scaleTargetRef``.
    """
    reference = resource.spec.scale_target_ref
    if reference is None:
        return resource.metadata.name, "metadata.name"
    return reference.name, "spec.scaleTargetRef.name"


def find_variant(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Variant:
    """Find the workload of a VariantAutoscaling, in its namespace.

    Raises:
        Unrenderable: the workload does not exist or cannot be scaled; the reason is in ``findings``, or was reported
            for the resource that should create the workload.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    namespace = resource.metadata.namespace or options.namespace
    name, path = target_of(resource)
    match = library.workload(namespace, name)
    if match is None:
        if library.is_lost(namespace, name, source.kind.kind):
            raise Unrenderable
        raise findings.fail(path, _missing(name, path, namespace, library), RuleId.REFERENCE_MISSING)
    item, workload = match
    reason = _unscalable(item, workload)
    if reason:
        raise findings.fail(path, reason, RuleId.REFERENCE_MISSING)
    _check_kind(resource, workload, options, findings)
    variant = Variant(
        source=source,
        resource=resource,
        namespace=namespace,
        target=path,
        item=item,
        workload=workload,
        options=options,
        findings=findings,
    )
    if library.is_passed_through(namespace, name):
        _check_passed_through(source, workload, path, options, findings)
        return variant
    # Warn only about explicit replicas: an expanded resource always has them, and its origin is another source.
    written, spec = workload.origin.source, getattr(item.source.resource, "spec", None)
    is_own = written is item.source
    if not is_own or (spec is not None and "replicas" in spec.model_fields_set):
        remedy = "; remove it" if is_own else ""
        reason = f"has no effect: {source.title} owns the replicas{remedy}"
        findings.problems.append(
            written.problem("spec.replicas", reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)
        )
    return variant


def _check_kind(resource: VariantAutoscaling, workload: Workload, options: Options, findings: Findings) -> None:
    """Report a reference with another kind or API than the workload of that name has.

    Natively the workload of that name is scaled, whatever its kind. The controller finds it by its kind.
    """
    reference = resource.spec.scale_target_ref
    if reference is None:
        return
    target = workload.shape.target(workload.name)
    for field, value in {"kind": reference.kind, "apiVersion": reference.api_version}.items():
        # The controller takes a missing API version for that of the kind.
        if not value or value == target[field]:
            continue
        path = f"spec.scaleTargetRef.{field}"
        reason = f"is {value!r}, but {workload.name!r} becomes a {workload.kind} ({target['apiVersion']})"
        if options.realization.is_native:
            reason = f"{reason}, which is scaled all the same; write {target[field]!r}"
            findings.warn(path, reason, RuleId.FIELD_NO_EFFECT)
        else:
            reason = f"{reason}, so the controller would not find it; write {target[field]!r}"
            findings.error(path, reason, RuleId.REFERENCE_MISSING)


def _check_passed_through(
    source: LoadedResource, workload: Workload, path: str, options: Options, findings: Findings
) -> None:
    """Check a workload that is created unchanged.

    Raises:
        Unrenderable: natively, since the stack does not collect the metrics of a workload that it does not render.
    """
    title = f"{workload.kind} {workload.name!r}"
    if options.realization.is_native:
        raise findings.fail(
            path,
            f"{title} is created unchanged (otherKinds: apply), and natively its metrics would not be collected; "
            "leave the variant to llm-d's controller (realizations: {llmd: operator}), or declare the workload as a "
            "resource of a family",
            RuleId.REFERENCE_MISSING,
        )
    if "replicas" in workload.body["spec"]:
        findings.warn(
            path,
            f"{title} sets spec.replicas, which each deployment would write again, although {source.title} owns the "
            "replicas; remove it there",
            RuleId.FIELD_OVERRIDDEN,
        )


def _missing(name: str, path: str, namespace: str, library: Library) -> str:
    item, is_own = library.item(namespace, name), path == "metadata.name"
    if item is not None:
        reasons = [_unscalable(item, workload) for workload in item.workloads]
        names = ", ".join(f"{workload.kind} {workload.name!r}" for workload in item.workloads)
        remedy = "name the VariantAutoscaling like the one that it scales" if is_own else "write the one to scale"
        return reasons[0] or f"{item.title} becomes {names}; {remedy}"
    known = library.workload_names(namespace)
    elsewhere = library.namespaces_with_workload(name)
    remedy = "write the name of a Deployment or LeaderWorkerSet in the namespace of the VariantAutoscaling"
    if is_own:
        remedy = "it has the name and namespace of the Deployment or LeaderWorkerSet that it scales; correct the name"
    if elsewhere:
        remedy = f"it exists in namespace {', '.join(elsewhere)}, but must be in {namespace}, where this one is"
    return unknown_reference("workload", name, known, remedy)


def _unscalable(item: Rendered, workload: Workload) -> str:
    """Return why the replicas of a workload cannot be scaled; empty if they can.

    Operators reset them: LLMKube's without autoscaling of its own (LLMKube spec 4.5), llmaz's with each
    reconciliation (llmaz spec 2.6); Kthena's creates pods without an object that has replicas (Kthena spec 3.2).
    """
    if workload.operated:
        effect = (
            "creates its pods one by one, without a Deployment or LeaderWorkerSet that could be scaled"
            if workload.bare
            else f"resets the replicas of {workload.kind} {workload.name!r} to those of {item.title}"
        )
        native = "render that natively (setting realization, or realizations for its family alone)"
        return (
            f"{item.title} is left to an operator, which {effect}; {native}, or use the autoscaling of its own kind"
        )
    if workload.part_of is not None:
        several = f"becomes {len(item.workloads)} {workload.kind}s with one replica each, such as {workload.name!r}"
        return f"{item.title} {several}, which cannot be scaled; scale a resource that becomes a single workload"
    return ""
