"""Whether a workload is what a profile is about, and what the controller sees of it (WVA spec 2, 7)."""

from collections.abc import Iterator

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.metrics import engine_metrics
from ....engines.served.names import served_names
from ....fleet.demand import accelerated_nodes
from ....fleet.instances import accelerator_resources
from ....fleet.workloads import Workload
from ....performance.sizing.accelerators import known_accelerator
from ....performance.sizing.engine_limits import limit_on
from ..names import ACCELERATOR_LABEL
from ..variant import Variant
from .accelerator import LABEL_PATH, Entry
from .levels import LEVELS

_SERIES = (
    "vllm:request_success_total",
    "vllm:request_generation_tokens_sum",
    "vllm:request_generation_tokens_count",
)
"""What the controller asks Prometheus for; without one it skips the variant (internal/collector at c0f645c)."""
_MODEL = "spec.modelID"
_NATIVE = "use realization 'native' for this family (realizations: {llmd: native})"


def check_workload(variant: Variant, entry: Entry) -> None:
    """Report a workload that the resource describes wrongly."""
    _check_name(variant)
    _check_batch(variant, entry)
    _check_count(variant, entry)
    _check_nodes(variant)


def _check_name(variant: Variant) -> None:
    """Report a model that the workload does not serve under this name."""
    findings, model, line = variant.findings, variant.resource.spec.model_id, variant.workload.server.line
    names, subject = served_names(line), _title(variant.workload)
    if names and model not in names:
        findings.error(
            _MODEL,
            f"{model!r} is not what {subject} serves ({_all_of(names)}): the model has that name in metrics, and "
            f"clients ask for it; write {names[0]!r}, in {LEVELS}.classes too",
            RuleId.SIZING_UNDETERMINED,
        )
    known = {endpoint.model for endpoint in variant.item.endpoints}
    if not names and known and model not in known:
        reason = f"{model!r} is not what clients ask {variant.item.title} for ({_all_of(sorted(known))}); correct it"
        findings.warn(_MODEL, reason, RuleId.SIZING_MISMATCH)
    if not variant.options.realization.is_native:
        _check_watched(variant, names)


def _check_watched(variant: Variant, names: tuple[str, ...]) -> None:
    """Report what the controller cannot see: it knows one engine's series, by their label ``model_name``."""
    findings, model, line = variant.findings, variant.resource.spec.model_id, variant.workload.server.line
    lacking = next(_lacking(line), "")
    if not line.engine:
        reason = f"the controller reads {_SERIES[0]} alone, and the engine of {_title(variant.workload)} is not known"
        findings.warn(
            _MODEL, f"{reason}; make sure that it has that series with model_name {model!r}", RuleId.METRICS_UNCHECKED
        )
    elif lacking:
        reason = f"the controller reads {lacking}, which {line.engine} in {_title(variant.workload)} does not have"
        findings.error(_MODEL, f"{reason}: it would never size the variant; {_NATIVE}", RuleId.METRICS_NOT_EXPORTED)
    elif model in names[1:]:
        findings.error(
            _MODEL,
            f"{model!r} is name {names.index(model) + 1} of {_title(variant.workload)}, and its metrics have the "
            f"first one, {names[0]!r}, as model_name: the controller would see no request; write that",
            RuleId.METRICS_NOT_EXPORTED,
        )


def _lacking(line: CommandLine) -> Iterator[str]:
    """Yield the series that an engine is known not to have."""
    facts = engine_metrics().get(line.engine)
    if facts is not None:
        there = {series for metric in facts.of_version(line.tag) for series in metric.series}
        yield from (series for series in _SERIES if series not in there)


def _check_batch(variant: Variant, entry: Entry) -> None:
    """Report another number of requests at once than the engine takes, and where that number is not known.

    A default that is larger is no mistake: a profile may end before it does.
    """
    given, workload = entry.given.max_batch_size, variant.workload
    limit = limit_on([workload], entry.given.acc, accelerated_nodes(workload.pods))
    path = f"{entry.path}.maxBatchSize"
    if limit is None or not workload.server.line.engine:
        return
    if limit.limit is None:
        reason = f"is {given}, and how many requests {_title(workload)} works on at once is not checked"
        found = f"{limit.reason}; the plan computes with {given}"
        variant.findings.note(path, f"{reason}: {found}", RuleId.SIZING_MISMATCH)
    elif limit.limit < given or (limit.is_set and limit.limit != given):
        lower = limit.limit < given
        effect = f"computes with {limit.limit}" if lower else "computes with fewer requests at once than there may be"
        variant.findings.warn(
            path,
            f"is {given}, and {_title(workload)} works on {limit.limit} requests at once ({limit.reason}): the plan "
            f"{effect}; write the same number in both places",
            RuleId.SIZING_MISMATCH,
        )


def _check_count(variant: Variant, entry: Entry) -> None:
    """Report another number of accelerators than a replica has: it multiplies the price (8.6)."""
    known = known_accelerator(entry.given.acc)
    each = known.count if known else 1
    given, wanted = entry.given.acc_count * each, accelerators_of(variant.workload)
    meant = f"{entry.given.acc_count}" if each == 1 else f"{entry.given.acc_count} times {each} ({entry.given.acc})"
    path = f"{entry.path}.accCount"
    if not wanted:
        reason = f"is {meant}, and the pods of {_title(variant.workload)} request no accelerators; request them"
        variant.findings.warn(path, f"{reason}, or expect the costs to be wrong", RuleId.SIZING_MISMATCH)
    elif given != wanted:
        variant.findings.error(
            path,
            f"is {meant}, and a replica of {_title(variant.workload)} requests {wanted}: costs would be wrong, and "
            f"the profile is not that of this workload; {_remedy(wanted, each)}",
            RuleId.SIZING_WRONG_COUNT,
        )


def _remedy(wanted: int, each: int) -> str:
    if wanted % each:
        return f"request a multiple of {each}, or name the accelerator without a number in front"
    return f"write {wanted // each} with alpha and beta measured there, or change what the pods request"


def accelerators_of(workload: Workload) -> int:
    """Count the accelerators that the pods of one replica request."""
    return sum(
        int(amount) * demand.per_replica
        for demand in workload.pods
        for resource, amount in demand.requests.items()
        if resource in accelerator_resources()
    )


def _check_nodes(variant: Variant) -> None:
    """Warn of nodes that are known to have another accelerator than the label says."""
    label = variant.resource.metadata.labels[ACCELERATOR_LABEL]
    known = known_accelerator(label)
    if known is None or not known.types:
        return
    others = [node for node in accelerated_nodes(variant.workload.pods) if not known.is_on(node)]
    if others:
        names = ", ".join(f"{node.name} ({node.accelerator})" for node in others)
        variant.findings.warn(
            LABEL_PATH,
            f"is {label!r}, and pods of {_title(variant.workload)} may run on {names}, for which the profile says "
            "nothing; name the accelerator that they have, or let them run on nodes with this one alone",
            RuleId.SIZING_MISMATCH,
        )


def _title(workload: Workload) -> str:
    return f"{workload.kind} {workload.name!r}"


def _all_of(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))
