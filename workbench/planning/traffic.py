"""Both revisions of a comparison under the requests of a trace, in virtual time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from components.plan.review.traffic import ModelTraffic, TrafficComparison, TrafficFigures

if TYPE_CHECKING:
    from components.plan.costs.bill import Bill
    from components.plan.plan import Plan
    from livefleet import VirtualFleet, VirtualResult, VirtualTime

VARIABLE = "INFERENCE_PLATFORM_VIRTUAL_FLEET"
"""Environment variable of the process that plans a base: the file to which it writes what is simulated. Revisions
without this feature ignore it, and are then planned with the code of the work tree."""


@dataclass(slots=True)
class VirtualPlan:
    """Receives the plan of a revision, and keeps what is simulated of it.

    Attributes:
        fleet: None until there is a plan, and if it has errors.
    """

    fleet: "VirtualFleet | None" = field(default=None)

    def take(self, stack: str, planned: "Plan", bill: "Bill") -> None:
        from components.contract.problems import errors
        from livefleet import virtual_fleet

        if not errors(planned.problems):
            self.fleet = virtual_fleet(stack, planned, bill)


@dataclass(slots=True)
class TrafficSimulation:
    """The simulation of both revisions.

    Attributes:
        virtual: The requests.
    """

    virtual: "VirtualTime"
    head: VirtualPlan = field(default_factory=VirtualPlan)
    base: VirtualPlan = field(default_factory=VirtualPlan)

    @classmethod
    def of(
        cls, traces: Sequence[str] | None, shares: Sequence[str] | None, scale: float
    ) -> "TrafficSimulation | None":
        """Read the traces; None without any.

        Raises:
            UserError: an option or a trace is invalid.
        """
        if not traces:
            return None
        from livefleet import VirtualTime

        return cls(VirtualTime(tuple(traces), tuple(shares or ()), scale))

    def run(self, *, compared: bool) -> TrafficComparison:
        """Simulate the revisions.

        Args:
            compared: Whether there is a base.
        """
        return traffic_of(self.virtual, self.head.fleet, self.base.fleet, compared=compared)


def traffic_of(
    virtual: "VirtualTime", head: "VirtualFleet | None", base: "VirtualFleet | None", *, compared: bool
) -> TrafficComparison:
    """Simulate the revisions under the same requests.

    Args:
        virtual: The requests.
        head: The proposed revision; None if it has no plan without errors.
        base: The base, likewise.
        compared: Whether there is a base.

    Raises:
        UserError: a trace names a model that neither revision has.
    """
    before = virtual.run(base, [head] if head else []) if base else None
    after = virtual.run(head, [base] if base else []) if head else None
    unavailable = ""
    if after is None:
        unavailable = "this revision cannot be simulated: its plan has errors"
    elif compared and before is None:
        unavailable = "the base cannot be simulated: its plan has errors, or it does not have the stack"
    known = after or before
    former, proposed = _by_model(before), _by_model(after)
    return TrafficComparison(
        seconds=known.seconds if known else 0.0,
        before=_total(before),
        after=_total(after),
        models=tuple(ModelTraffic(name, former.get(name), proposed.get(name)) for name in sorted(former | proposed)),
        unavailable=unavailable,
        refused=dict(known.refused) if known else {},
        notes=known.notes if known else (),
    )


def _total(result: "VirtualResult | None") -> TrafficFigures | None:
    if result is None:
        return None
    return TrafficFigures(
        requests=result.requests,
        lost=result.lost,
        ttft_p50=result.ttft.p50,
        ttft_p99=result.ttft.p99,
        itl_p50=result.itl.p50,
        itl_p99=result.itl.p99,
        gpu_hours=result.gpu_hours,
        usd_per_day=None if result.unpriced else result.usd_per_day,
    )


def _by_model(result: "VirtualResult | None") -> dict[str, TrafficFigures]:
    if result is None:
        return {}
    hours = {workload.name: workload.gpu_hours for workload in result.workloads}
    return {
        model.name: TrafficFigures(
            requests=model.requests,
            lost=model.requests - model.answered,
            ttft_p50=model.ttft.p50,
            ttft_p99=model.ttft.p99,
            itl_p50=model.itl.p50,
            itl_p99=model.itl.p99,
            gpu_hours=round(sum(hours.get(name, 0.0) for name in model.workloads), 6),
        )
        for model in result.models
    }
