"""What a variant is sized by, where nothing is wrong with it: the one place that both realizations ask."""

from dataclasses import dataclass
from decimal import Decimal

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....fleet.demand import accelerated_nodes
from ....fleet.levels import Load, Promise, ServiceLevels
from ....performance.sizing.cases import Case, Profile, Sized, one_at_a_time
from ....performance.sizing.engine_limits import limit_on
from ..costs import UnitCost, unit_cost
from ..described import profile_of
from ..types import VariantAutoscaling
from ..variant import Variant
from .accelerator import LABEL_PATH, Entry, chosen_entry
from .levels import LEVELS, check_class_ref, promising_class
from .promised import Promised, check_promise
from .workload import check_workload


@dataclass(frozen=True, slots=True)
class Stated:
    """What a resource and the settings say, before anybody looks at the workload; None after errors about it."""

    entry: Entry | None
    promised: Promised | None


@dataclass(frozen=True, slots=True)
class Agreed:
    """A variant on its accelerator, and what is promised of it.

    Attributes:
        profile: How fast a replica is, with no larger batch than its engine works on.
        bounding: What of the promise bounds how much a replica takes.
        path: The field with the profile, for messages.
        class_name: The service class that has the promise.
        cost: What one accelerator costs.
    """

    profile: Profile
    path: str
    promise: Promise
    class_name: str
    cost: UnitCost
    bounding: Promise

    def case(self, load: Load, per_minute: Decimal) -> Case:
        """Return the question how many replicas a load needs at a rate of requests."""
        tokens, price = float(load.output_tokens), float(self.cost.cents_per_hour)
        return Case(self.profile, self.bounding, float(per_minute), tokens, price)


def stated_by(resource: VariantAutoscaling, levels: ServiceLevels, findings: Findings) -> Stated:
    """Return what a resource and the settings say of a variant; what is wrong with it is in the findings."""
    model = resource.spec.model_id
    entry = chosen_entry(resource, findings)
    in_class = promising_class(model, levels, findings)
    if in_class is None:
        return Stated(entry, None)
    check_class_ref(resource.spec, in_class, findings)
    promised = Promised(model, in_class.name, in_class.promises[model])
    if entry:
        check_promise(entry, promised, findings)
    return Stated(entry, promised)


def agreed_for(variant: Variant, stated: Stated) -> Agreed | None:
    """Return what a variant is sized by; None after errors, all of which are in its findings."""
    entry, promised = stated.entry, stated.promised
    if entry is None:
        return None
    check_workload(variant, entry)
    cost = _cost(variant, entry.given.acc)
    if cost is None or promised is None or variant.findings.has_errors:
        return None
    profile, bounding = carried(variant, profile_of(entry.given), promised.promise)
    return Agreed(profile, entry.path, promised.promise, promised.class_name, cost, bounding)


def carried(variant: Variant, profile: Profile, promise: Promise) -> tuple[Profile, Promise]:
    """Return a profile with no larger batch than the engine of a variant works on, and what then bounds its load.

    Args:
        variant: What runs the engine.
        profile: How fast a replica is on the accelerator that it runs on, or on another one.
        promise: What is promised of it.
    """
    limit = limit_on([variant.workload], profile.accelerator, accelerated_nodes(variant.workload.pods))
    within = profile.within(limit.limit if limit else None)
    return within, promise if within is profile else one_at_a_time(within, promise)


def check_kept(agreed: Agreed, sized: Sized, place: str, findings: Findings) -> None:
    """Report a promise that no number of replicas keeps under a load, of which ``place`` says where it is from."""
    if not sized.is_feasible:
        case = f"{place} and class {agreed.class_name!r} on {agreed.profile.accelerator!r}"
        remedy = "promise or expect less, or run it on faster accelerators"
        findings.error(agreed.path, f"cannot be sized for {case}: {sized.reason}; {remedy}", RuleId.SIZING_IMPOSSIBLE)


def _cost(variant: Variant, accelerator: str) -> UnitCost | None:
    """Return what one accelerator costs; None after an error."""
    cost = unit_cost(accelerator, variant.options.levels, variant.workload)
    if cost is None:
        variant.findings.error(
            LABEL_PATH,
            f"what an accelerator {accelerator!r} costs is not known: neither {LEVELS}.accelerators nor the table of "
            f"instance types has it; set {LEVELS}.accelerators[{accelerator}].centsPerHour, or correct the name",
            RuleId.SIZING_UNDETERMINED,
        )
    return cost
