"""What is wrong with several VariantAutoscalings together: the controller looks at all of a cluster at once."""

from collections.abc import Iterator, Sequence

from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import Problem, Severity
from ....fleet.rendered import Rendered
from ..types import VariantAutoscaling
from ..types.variant_autoscaling import AcceleratorProfile
from .accelerator import ENTRIES
from .promised import shortened

_MODEL = "spec.modelID"


def check_together(items: Sequence[Rendered], *, native: bool) -> Iterator[Problem]:
    """Yield what is wrong between VariantAutoscalings.

    Natively each has a load, a profile and an autoscaler of its own, and there is little that two could share.

    Args:
        items: What they have become, in the order of their names.
        native: Whether the plan sizes them, and no controller does.
    """
    resources = [(item, item.source.resource) for item in items]
    variants = [(item, resource) for item, resource in resources if isinstance(resource, VariantAutoscaling)]
    if not native:
        yield from _same_names(variants)
        yield from _same_models(variants)
    yield from _other_numbers(variants, native=native)


_Variants = Sequence[tuple[Rendered, VariantAutoscaling]]


def _same_names(variants: _Variants) -> Iterator[Problem]:
    """Yield names in several namespaces: the controller keeps its results by name alone (WVA spec 5)."""
    first: dict[str, Rendered] = {}
    for item, _ in variants:
        other = first.setdefault(item.name, item)
        if other.namespace != item.namespace:
            yield item.source.problem(
                "metadata.name",
                f"{other.source.where} in namespace {other.namespace!r} has this name too, and the controller keeps "
                "its results by name: one of the two would be sized like the other; rename one, with its workload",
                rule=RuleId.SIZING_CONFLICT,
            )


def _same_models(variants: _Variants) -> Iterator[Problem]:
    """Yield models with several variants in a namespace: load is read by model and namespace (WVA spec 5, 7)."""
    first: dict[tuple[str, str], Rendered] = {}
    for item, resource in variants:
        model = resource.spec.model_id
        other = first.setdefault((item.namespace, model), item)
        if other is not item:
            yield item.source.problem(
                _MODEL,
                f"{model!r} is what {other.source.where} is about too, and the controller reads the requests for a "
                f"model in namespace {item.namespace!r} as a whole: each of the two would be sized for all of them; "
                "serve one of them under another name or in another namespace, or use realization 'native'",
                rule=RuleId.SIZING_CONFLICT,
            )


def _other_numbers(variants: _Variants, *, native: bool) -> Iterator[Problem]:
    """Yield entries that say of a model on an accelerator what another resource contradicts.

    The controller has one speed for each, that of the resource which it reads last; the batch size is each one's own
    (optimizer-light v0.5.0, AddPerfDataFromSpec; internal/utils at c0f645c, AddServerInfoToSystemData).
    """
    severity, consequence = Severity.ERROR, "the controller has one answer for both, that of whichever it reads last"
    if native:
        severity, consequence = Severity.WARNING, "one of the two measurements may be an old one"
    first: dict[tuple[str, str], tuple[LoadedResource, AcceleratorProfile]] = {}
    for item, resource in variants:
        for index, entry in enumerate(resource.spec.model_profile.accelerators):
            other, there = first.setdefault((resource.spec.model_id, entry.acc), (item.source, entry))
            if other is not item.source and _speed(there) != _speed(entry):
                yield item.source.problem(
                    f"{ENTRIES}[{index}]",
                    f"says of {resource.spec.model_id!r} on {entry.acc!r} {_numbers_of(entry)}, and {other.where} "
                    f"says {_numbers_of(there)}: {consequence}; write the same numbers, or call the accelerator "
                    "something else in one of the two",
                    severity,
                    rule=RuleId.SIZING_INCONSISTENT,
                )


def _speed(entry: AcceleratorProfile) -> tuple[object, ...]:
    return (entry.acc_count, float(entry.alpha), float(entry.beta))


def _numbers_of(entry: AcceleratorProfile) -> str:
    return f"alpha {shortened(entry.alpha)}, beta {shortened(entry.beta)}, accCount {entry.acc_count}"
