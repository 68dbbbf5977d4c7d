"""Whether the workload matches the profile, and what the controller can observe of it (WVA spec 2, 7)."""

from collections.abc import Sequence

from ....contract.findings.ids import RuleId
from ....engines.metrics import engine_metrics
from ....engines.served.names import served_names
from ....fleet.demand import accelerated_nodes
from ....fleet.workloads import Workload
from ....performance.sizing.accelerators import known_accelerator
from ....performance.sizing.engine_limits import limit_on
from ..costs import accelerators_of
from ..releases import ControllerRelease
from ..variant import Variant
from .accelerator import LABEL_PATH, Entry
from .service_class import LEVELS

_MODEL = "spec.modelID"
_NATIVE = "use realization 'native' for this family (realizations: {llmd: native})"


def check_profile(variant: Variant, entry: Entry) -> None:
    """Report differences between the profile of a VariantAutoscaling and the workload that it scales."""
    _check_batch_size(variant, entry)
    _check_accelerator_count(variant, entry)


def check_workload(variant: Variant, controller: ControllerRelease) -> None:
    """Report differences between a VariantAutoscaling and the workload that it scales, whether it has a profile."""
    _check_model(variant, controller.series)
    _check_nodes(variant)


def _check_model(variant: Variant, series: Sequence[str]) -> None:
    findings, model, line = variant.findings, variant.resource.spec.model_id, variant.workload.server.line
    names, title = served_names(line), _title(variant.workload)
    if names and model not in names:
        findings.error(
            _MODEL,
            f"{model!r} is not what {title} serves ({', '.join(map(repr, names))}): metrics and clients use the "
            f"served name; write {names[0]!r}, in {LEVELS}.classes too",
            RuleId.SIZING_UNDETERMINED,
        )
    known = {endpoint.model for endpoint in variant.item.endpoints}
    if not names and known and model not in known:
        models = ", ".join(map(repr, sorted(known)))
        reason = f"{model!r} is not what clients ask {variant.item.title} for ({models}); correct it"
        findings.warn(_MODEL, reason, RuleId.SIZING_MISMATCH)
    if variant.options.realization.is_native:
        return
    # The controller queries only vLLM's series, by their label model_name.
    facts = engine_metrics().get(line.engine)
    exported = {name for metric in facts.of_version(line.tag) for name in metric.series} if facts else set(series)
    missing = next((name for name in series if name not in exported), "")
    if not line.engine:
        findings.warn(
            _MODEL,
            f"the controller reads {series[0]} only, and the engine of {title} is unknown; make sure that it "
            f"exports that series with model_name {model!r}",
            RuleId.METRICS_UNCHECKED,
        )
    elif missing:
        findings.error(
            _MODEL,
            f"the controller reads {missing}, which {line.engine} in {title} does not export, so it would never size "
            f"the variant; {_NATIVE}",
            RuleId.METRICS_NOT_EXPORTED,
        )
    elif model in names[1:]:
        findings.error(
            _MODEL,
            f"{model!r} is name {names.index(model) + 1} of {title}, but its metrics have the first one, "
            f"{names[0]!r}, as model_name, so the controller would see no requests; write {names[0]!r}",
            RuleId.METRICS_NOT_EXPORTED,
        )


def _check_batch_size(variant: Variant, entry: Entry) -> None:
    """Compare maxBatchSize with the engine's limit on concurrent requests.

    A larger default of the engine is fine: a profile may have been measured up to a smaller batch.
    """
    batch, workload = entry.profile.max_batch_size, variant.workload
    limit = limit_on([workload], entry.profile.acc, accelerated_nodes(workload.pods))
    path = f"{entry.path}.maxBatchSize"
    if limit is None or not workload.server.line.engine:
        return
    if limit.limit is None:
        variant.findings.note(
            path,
            f"is {batch}, and the limit of {_title(workload)} on concurrent requests is not checked: {limit.reason}; "
            f"the plan computes with {batch}",
            RuleId.SIZING_MISMATCH,
        )
    elif limit.limit < batch or (limit.is_set and limit.limit != batch):
        effect = f"with {limit.limit}" if limit.limit < batch else "with fewer concurrent requests than there may be"
        variant.findings.warn(
            path,
            f"is {batch}, but {_title(workload)} processes {limit.limit} requests concurrently ({limit.reason}), so "
            f"the plan computes {effect}; write the same number in both places",
            RuleId.SIZING_MISMATCH,
        )


def _check_accelerator_count(variant: Variant, entry: Entry) -> None:
    """Compare accCount with the accelerators of a replica: the price is multiplied by it (8.6)."""
    name, count = entry.profile.acc, entry.profile.acc_count
    known = known_accelerator(name)
    # A name such as 4xL4 means several devices.
    devices = known.count if known else 1
    requested = accelerators_of(variant.workload)
    text = f"{count}" if devices == 1 else f"{count} times {devices} ({name})"
    path = f"{entry.path}.accCount"
    if not requested:
        variant.findings.warn(
            path,
            f"is {text}, but the pods of {_title(variant.workload)} request no accelerators, so costs will be wrong; "
            "request them",
            RuleId.SIZING_MISMATCH,
        )
    elif count * devices != requested:
        remedy = f"write {requested // devices} with alpha and beta measured there, or change what the pods request"
        if requested % devices:
            remedy = f"request a multiple of {devices}, or name the accelerator without a number in front"
        variant.findings.error(
            path,
            f"is {text}, and a replica of {_title(variant.workload)} requests {requested}, so costs would be wrong "
            f"and the profile is not one of this workload; {remedy}",
            RuleId.SIZING_WRONG_COUNT,
        )


def _check_nodes(variant: Variant) -> None:
    """Warn of nodes with an accelerator other than the one in the label."""
    label = variant.accelerator
    known = known_accelerator(label)
    if known is None or not known.types:
        return
    others = [node for node in accelerated_nodes(variant.workload.pods) if not known.is_on(node)]
    if others:
        names = ", ".join(f"{node.name} ({node.accelerator})" for node in others)
        variant.findings.warn(
            LABEL_PATH,
            f"is {label!r}, but pods of {_title(variant.workload)} may run on {names}, for which there is no "
            "profile; name the accelerator of these nodes, or restrict the pods to nodes with this one",
            RuleId.SIZING_MISMATCH,
        )


def _title(workload: Workload) -> str:
    return f"{workload.kind} {workload.name!r}"
