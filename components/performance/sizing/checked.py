"""What a simulation of the engines' steps says about a sizing result."""

from dataclasses import dataclass, replace

from ...fleet.levels import LatencyTargets
from .assessments import Assessment
from .cases import Sized
from .closed import ClosedLoop, offered_per_minute
from .queues import behaviours


@dataclass(frozen=True, slots=True)
class Played:
    """What users saw in a simulation.

    Attributes:
        replicas: Replicas that served them.
        users: Number of users.
        requests: Requests that the figures are of.
        itl_ms: Mean inter-token latency.
        ttft_p95_ms: 95th percentile of the time to first token.
        per_minute: Answers per minute, of all replicas.
    """

    replicas: int
    users: int
    requests: int
    itl_ms: float
    ttft_p95_ms: float
    per_minute: float

    def breaks(self, targets: LatencyTargets) -> str:
        """Return which targets are missed and by what; empty if none is."""
        missed = (
            (f"ITL {self.itl_ms:.1f} ms", self.itl_ms, targets.itl_ms),
            (f"TTFT {self.ttft_p95_ms:,.0f} ms", self.ttft_p95_ms, targets.ttft_ms),
        )
        return " and ".join(f"{text}, above {most} ms" for text, found, most in missed if most and found > most)


@dataclass(frozen=True, slots=True)
class Checked:
    """The simulation of a candidate.

    Attributes:
        replicas: Least replicas that meet the targets; None if not even a replica for each user does.
        queueing: Replicas by the queueing model; None if it finds the targets out of reach.
        played: The run with these replicas, or with one for each user.
        fewer: The run with one replica fewer, which misses a target; None for a single replica.
        most: The run with the most users that these replicas serve within the targets; None if it was not searched,
            or without an end.
        broken: The run with one user more, or with one in a hundred more.
    """

    replicas: int | None
    queueing: int | None
    played: Played
    fewer: Played | None = None
    most: Played | None = None
    broken: Played | None = None


def adjusted(assessment: Assessment, loop: ClosedLoop, checked: Checked) -> Assessment:
    """Return an assessment with the replicas of the simulation, at the rate of the queueing model for them."""
    sized, replicas = assessment.sized, checked.replicas
    if replicas is None:
        broken = checked.played.breaks(assessment.question.targets)
        reason = sized.reason or f"with a replica for each user, {broken}, in the simulation"
        none = replace(sized, replicas=0, behaviour=None, reason=reason, cents_per_hour=0.0)
        return replace(assessment, sized=none, checked=checked)
    rate = offered_per_minute(sized, loop, replicas)
    found: Sized = replace(
        sized,
        case=replace(sized.case, per_minute=rate),
        reason="",
        replicas=replicas,
        behaviour=behaviours(sized.case, [rate / replicas])[0],
        cents_per_hour=sized.case.cents_per_hour * sized.case.profile.count * replicas,
    )
    return replace(assessment, sized=found, question=assessment.question.at(rate), checked=checked)
