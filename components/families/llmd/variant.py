"""A VariantAutoscaling with what it is about: the workload of its name, its accelerator and its service class."""

from dataclasses import dataclass

from ...contract.findings.collector import Findings, Unrenderable, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Severity
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload
from .types import VariantAutoscaling

_NAME = "metadata.name"


@dataclass(frozen=True, slots=True)
class Variant:
    """A VariantAutoscaling among the resources of a fleet.

    Attributes:
        item: The resource that makes the workload.
        workload: What is scaled.
    """

    source: LoadedResource
    resource: VariantAutoscaling
    namespace: str
    item: Rendered
    workload: Workload
    options: Options
    findings: Findings


def found_variant(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Variant:
    """Find the workload of a VariantAutoscaling: it has its name and namespace (WVA spec 5).

    Raises:
        Unrenderable: there is none, or none that can be scaled; that is in ``findings``, or is said where the
            workload comes from.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    namespace = resource.metadata.namespace or options.namespace
    found = library.workload(namespace, source.name)
    if found is None:
        if library.is_lost(namespace, source.name, source.kind.kind):
            raise Unrenderable
        raise findings.fail(_NAME, _missing(source.name, namespace, library), RuleId.REFERENCE_MISSING)
    item, workload = found
    reason = _unscalable(item, workload)
    if reason:
        raise findings.fail(_NAME, reason, RuleId.REFERENCE_MISSING)
    _check_replicas(item, workload, source, findings)
    return Variant(source, resource, namespace, item, workload, options, findings)


def _missing(name: str, namespace: str, library: Library) -> str:
    """Word that there is no such workload: what its resource becomes instead, where it is, or what there is."""
    item = library.item(namespace, name)
    if item is not None:
        reasons = [_unscalable(item, workload) for workload in item.workloads]
        names = ", ".join(f"{each.kind} {each.name!r}" for each in item.workloads)
        return reasons[0] or f"{item.title} becomes {names}; name the VariantAutoscaling like the one that it scales"
    known = library.workload_names(namespace)
    elsewhere = library.namespaces_with_workload(name)
    remedy = "it has the name and namespace of the Deployment or LeaderWorkerSet that it scales; correct the name"
    if elsewhere:
        remedy = f"it exists in namespace {', '.join(elsewhere)}, but must be in {namespace}, where this one is"
    return unknown_reference("workload", name, known, remedy)


def _unscalable(item: Rendered, workload: Workload) -> str:
    """Return why nothing can move the replicas of a workload; empty if something can.

    Operators set them again: LLMKube's without autoscaling of its own (LLMKube spec 4.5), llmaz's with each
    reconciliation (llmaz spec 2.6); Kthena's makes pods without an object that has replicas (Kthena spec 3.2).
    """
    if workload.operated:
        what = (
            "makes its pods one by one, without a Deployment or LeaderWorkerSet that could be scaled"
            if workload.bare
            else f"sets the replicas of {workload.kind} {workload.name!r} to those of {item.title} again"
        )
        native = "render that natively (setting realization, or realizations for its family alone)"
        return f"{item.title} is left to an operator, which {what}; {native}, or use the autoscaling of its own kind"
    if workload.part_of is not None:
        several = f"becomes {len(item.workloads)} {workload.kind}s with one replica each, such as {workload.name!r}"
        return f"{item.title} {several}, which cannot be scaled; scale one that becomes a single workload"
    return ""


def _check_replicas(item: Rendered, workload: Workload, source: LoadedResource, findings: Findings) -> None:
    """Warn of replicas that somebody wrote and that have no effect any more, where they are written.

    What a resource stands for has replicas always, and tells the field that they are from.
    """
    written, spec = workload.origin.source, getattr(item.source.resource, "spec", None)
    is_own = written is item.source
    if not is_own or (spec is not None and "replicas" in spec.model_fields_set):
        remedy = "; remove it" if is_own else ""
        reason = f"has no effect: {source.title} owns the replicas{remedy}"
        findings.problems.append(
            written.problem("spec.replicas", reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)
        )
