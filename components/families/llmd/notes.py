"""Notes about a sized variant: the numbers behind the bounds of its autoscaler."""

from decimal import Decimal

from ...contract.clock import HOURS_PER_MONTH
from ...performance.sizing.cases import Limit, Profile, Sized
from .sizing import SizedVariant

_LIMITS = {
    Limit.ITL: "limited by the inter-token latency target",
    Limit.TTFT: "limited by the time-to-first-token target",
    Limit.CAPACITY: "limited by its capacity and by no target",
}


def bounds_note(sized: SizedVariant, least: Sized, most: Sized) -> str:
    """Explain the bounds of an autoscaler, with the behaviour and cost of the replicas at the peak.

    Without a measured prefill, the wait does not include the work on prompts (WVA spec 8.1).
    """
    load, basis, profile = sized.load, sized.basis, sized.basis.profile
    span = f"{least.replicas} to " if least.replicas < most.replicas else ""
    peak = (
        f"{_number(load.per_minute)} requests/min of {_number(load.output_tokens)} tokens ({sized.observed.source})"
    )
    rate = f"at most {most.most_per_minute:.1f} per replica ({profile.batch} concurrent), {_LIMITS[most.limit]}"
    quiet = f", and {_number(load.least_per_minute)} need {least.replicas}" if load.least_per_minute else ""
    at_peak, targets, behaviour = most.behaviour, basis.targets, ""
    if at_peak is not None:
        behaviour = (
            f"a token takes {at_peak.itl_ms:.1f} ms ({_target(targets.itl_ms)}) and 95 % of requests wait at most "
            f"{at_peak.wait_p95_ms:.0f} ms ({_target(targets.ttft_ms)})"
        )
        if at_peak.prefill_ms:
            behaviour = (
                f"a token takes {at_peak.itl_ms:.1f} ms ({_target(targets.itl_ms)}) and 95 % of requests have their "
                f"first token after at most {at_peak.first_token_p95_ms:.0f} ms ({_target(targets.ttft_ms)}), of "
                f"which the prefill takes {at_peak.prefill_ms:.0f} ms"
            )
    prompts = ""
    if at_peak is None or at_peak.prefill_ms:
        pass
    elif profile.gamma or profile.delta:
        prompts = ", without the prefill, because the load has no inputTokens"
    elif load.input_tokens:
        prompts = f", before the prefill of {_number(load.input_tokens)} tokens (inputTokens)"
    return (
        f"{span}{_replicas(most.replicas, profile)}, scaled on the engine's queue: {peak} need {most.replicas}, with "
        f"{rate} of class {basis.class_name!r}{quiet}; at the peak {behaviour}{prompts}, {_monthly(most)} "
        f"({basis.cost.text} cents/h per {profile.accelerator}: {basis.cost.source})"
    )


def cheaper_note(most: Sized, best: Sized) -> str:
    """Report a cheaper accelerator that also meets the latency targets."""
    current, other = most.case.profile, best.case.profile
    return (
        f"{_replicas(best.replicas, other)} would meet the targets for {_monthly(best)} at the peak, where "
        f"{_replicas(most.replicas, current)} cost {_monthly(most)}; to move, change its nodes and its label"
    )


def _target(ms: int) -> str:
    return f"target {ms}" if ms else "no target"


def _number(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _replicas(number: int, profile: Profile) -> str:
    unit = f"{profile.count} {profile.accelerator}" if profile.count > 1 else profile.accelerator
    return f"{number} replica{'s' * (number != 1)} of {unit}"


def _monthly(sized: Sized) -> str:
    return f"${sized.cents_per_hour / 100 * HOURS_PER_MONTH:,.0f}/month"
