"""The inputs from which a variant is sized, checked in one place for both realizations, and the sizes themselves."""

import functools
from dataclasses import dataclass, replace
from decimal import Decimal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...fleet.demand import accelerated_nodes
from ...fleet.levels import LatencyTargets, Load, ServiceLevels
from ...performance.sizing import queues
from ...performance.sizing.cases import Behaviour, Case, Profile, Sized, one_at_a_time
from ...performance.sizing.engine_limits import limit_on
from .checks.accelerator import LABEL_PATH, Entry, check_parameters, chosen_entry
from .checks.service_class import LEVELS, check_class_ref, service_class
from .checks.targets import ModelTargets, check_targets
from .checks.workload import check_profile
from .costs import UnitCost, unit_cost
from .load import VariantLoad, configured_load
from .profiles import entries_of, profile_of
from .types import VariantAutoscaling
from .variant import Variant

_MEMORY = 4096
"""Remembered results: ``explain`` renders a fleet once for every field, and most cases stay the same."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the resource and the settings declare, without the workload; None after errors about it."""

    entry: Entry | None
    target: ModelTargets | None


@dataclass(frozen=True, slots=True)
class SizingBasis:
    """A variant's profile, targets and price.

    Attributes:
        profile: Speed of a replica; its batch is no larger than the engine's limit.
        targets: The targets of the service class.
        bounding: Those of them that limit the rate of a replica.
        path: Field of the profile, for messages.
        cost: Price of one accelerator.
    """

    profile: Profile
    path: str
    targets: LatencyTargets
    class_name: str
    cost: UnitCost
    bounding: LatencyTargets

    def case(self, load: Load, per_minute: Decimal) -> Case:
        """Return the sizing case of a rate of requests."""
        tokens, price = float(load.output_tokens), float(self.cost.cents_per_hour)
        prompt = float(load.input_tokens)
        return Case(self.profile, self.bounding, float(per_minute), tokens, price, input_tokens=prompt)


@dataclass(frozen=True, slots=True)
class SizedVariant:
    """A variant with everything that its size depends on."""

    variant: Variant
    basis: SizingBasis
    observed: VariantLoad

    @property
    def load(self) -> Load:
        return self.observed.load

    def case(self, per_minute: Decimal) -> Case:
        """Return the sizing case of a rate of requests on the accelerator that the variant runs on."""
        return self.basis.case(self.load, per_minute)

    def peak_on(self, profile: Profile, cents_per_hour: Decimal) -> Case:
        """Return the sizing case of the peak load on another accelerator."""
        profile, targets = limited(self.variant, profile, self.basis.targets)
        case = replace(self.case(self.load.per_minute), profile=profile, targets=targets)
        return replace(case, cents_per_hour=float(cents_per_hour))


def declared_by(resource: VariantAutoscaling, levels: ServiceLevels, findings: Findings) -> Declared:
    """Return what a resource and the settings declare; problems are in the findings.

    Without a speed nothing is computed from the latency targets, so that none need be set.
    """
    model = resource.spec.model_id
    check_parameters(resource, findings)
    entry = chosen_entry(resource, findings) if entries_of(resource) else None
    if entry is None and not findings.has_errors and not levels.classes_of(model):
        return Declared(None, None)
    in_class = service_class(model, levels, findings)
    if in_class is None:
        return Declared(entry, None)
    check_class_ref(resource.spec, in_class, findings)
    target = ModelTargets(model, in_class.name, in_class.targets[model])
    if entry:
        check_targets(entry, target, findings)
    return Declared(entry, target)


def sizing_basis(variant: Variant, declared: Declared) -> SizingBasis | None:
    """Return the basis of a variant's size; None after errors, all of which are in its findings."""
    entry, target = declared.entry, declared.target
    if entry is None:
        return None
    check_profile(variant, entry)
    accelerator, profile = entry.profile.acc, profile_of(entry.profile)
    cost = unit_cost(accelerator, variant.options.levels, variant.workload)
    if cost is None:
        variant.findings.error(
            LABEL_PATH,
            f"the price of an accelerator {accelerator!r} is unknown: neither {LEVELS}.accelerators nor the table of "
            f"instance types has it; set {LEVELS}.accelerators[{accelerator}].centsPerHour, or correct the name",
            RuleId.SIZING_UNDETERMINED,
        )
    if cost is None or target is None or profile is None or variant.findings.has_errors:
        return None
    profile, bounding = limited(variant, profile, target.targets)
    return SizingBasis(
        profile=profile,
        path=entry.path,
        targets=target.targets,
        class_name=target.class_name,
        cost=cost,
        bounding=bounding,
    )


def limited(variant: Variant, profile: Profile, targets: LatencyTargets) -> tuple[Profile, LatencyTargets]:
    """Return a profile whose batch is no larger than the engine's limit, and the targets that then limit the rate.

    Args:
        variant: The variant, whose workload runs the engine.
        profile: Speed of a replica on its accelerator, or on another one.
        targets: The targets of the service class.
    """
    limit = limit_on([variant.workload], profile.accelerator, accelerated_nodes(variant.workload.pods))
    within = profile.within(limit.limit if limit else None)
    return within, targets if within is profile else one_at_a_time(within, targets)


def sized_at_peak(variant: Variant, basis: SizingBasis) -> Sized | None:
    """Size a variant for the configured peak; None without a configured load, or after an error."""
    peak = configured_load(variant.namespace, variant.source.name, variant.options.levels)
    if peak is None or not peak.load.per_minute:
        return None
    (most,) = sized((basis.case(peak.load, peak.load.per_minute),))
    check_feasible(basis, most, peak.source, variant.findings)
    return most if most.is_feasible else None


def check_feasible(basis: SizingBasis, size: Sized, source: str, findings: Findings) -> None:
    """Report targets that no number of replicas meets under the load from ``source``."""
    if not size.is_feasible:
        case = f"{source} and class {basis.class_name!r} on {basis.profile.accelerator!r}"
        remedy = "relax the target, lower the expected load, or use a faster accelerator"
        findings.error(basis.path, f"cannot be sized for {case}: {size.reason}; {remedy}", RuleId.SIZING_IMPOSSIBLE)


@functools.lru_cache(maxsize=_MEMORY)
def sized(cases: tuple[Case, ...]) -> tuple[Sized, ...]:
    """Return how many replicas each case needs."""
    return queues.size(cases)


@functools.lru_cache(maxsize=_MEMORY)
def behaviour_at(case: Case, per_minute: float) -> Behaviour:
    """Return how one replica behaves at a rate of requests."""
    return queues.behaviour(case, per_minute)
