"""What the plan says of a variant that it has sized: the numbers behind the bounds of its autoscaler."""

from decimal import Decimal

from ....contract.clock import HOURS_PER_MONTH
from ....fleet.levels import Load, Promise
from ....performance.sizing.cases import Limit, Profile, Sized
from .level import VariantLevel

_CENTS = 100
_LIMITS = {
    Limit.ITL: "by the promised time from token to token",
    Limit.TTFT: "by the promised time to the first token",
    Limit.CAPACITY: "by all that it can and no promise",
}


def bounds_note(level: VariantLevel, least: Sized, most: Sized) -> str:
    """Say how many replicas there are, why, and what they do and cost at the peak."""
    load, agreed, profile = level.load, level.agreed, level.agreed.profile
    span = f"{least.replicas} to " if least.replicas < most.replicas else ""
    quiet = f", and {_plain(load.least_per_minute)} need {least.replicas}" if load.least_per_minute else ""
    each = (
        f"with {most.most_per_minute:.1f} each at most, {profile.batch} at once, {_LIMITS[most.limit]} of class "
        f"{agreed.class_name!r}"
    )
    asked = f"{_plain(load.per_minute)} requests/min of {_plain(load.output_tokens)} tokens ({level.asked.place})"
    price = f"{agreed.cost.text} cents/h for one {profile.accelerator}: {agreed.cost.source}"
    return (
        f"{span}{_replicas(most.replicas, profile)}, scaled on the engine's queue: {asked} need {most.replicas}, "
        f"{each}{quiet}; at the peak {_behaviour(most, agreed.promise)}{_prompts(load)}, {_monthly(most)} ({price})"
    )


def _prompts(load: Load) -> str:
    """Say what the wait does not include: the model of queues is about answers alone (WVA spec 8.1)."""
    tokens = load.input_tokens
    return f", and then for the work on a prompt of {_plain(tokens)} tokens (inputTokens)" if tokens else ""


def cheaper_note(most: Sized, best: Sized) -> str:
    """Say what another accelerator would cost that keeps the promise as well."""
    here, there = most.case.profile, best.case.profile
    return (
        f"{_replicas(best.replicas, there)} would keep the promise for {_monthly(best)} at the peak, where "
        f"{_replicas(most.replicas, here)} cost {_monthly(most)}; to move, change its nodes and its label"
    )


def _behaviour(sized: Sized, promise: Promise) -> str:
    there = sized.behaviour
    if there is None:
        return ""
    return (
        f"{there.itl_ms:.1f} ms/token of {_promised(promise.itl_ms)} and 95 % wait at most "
        f"{there.wait_p95_ms:.0f} ms of {_promised(promise.ttft_ms)}"
    )


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _replicas(number: int, profile: Profile) -> str:
    unit = f"{profile.count} {profile.accelerator}" if profile.count > 1 else profile.accelerator
    return f"{number} replica{'s' * (number != 1)} of {unit}"


def _promised(milliseconds: int) -> str:
    return str(milliseconds) if milliseconds else "any"


def _monthly(sized: Sized) -> str:
    return f"${sized.cents_per_hour / _CENTS * HOURS_PER_MONTH:,.0f}/month"
