"""Checks of rollout settings: invalid durations, and interruptions of requests."""

from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...contract.texts.durations import duration_text, is_duration, seconds
from ...fleet.load_balancers import LoadBalancers
from .report import Report
from .rollout import MIN_DRAIN
from .settings import Door
from .words import Exposure, TlsKind


def check_rollout(door: Door, file: str, balancers: LoadBalancers) -> list[Problem]:
    """Reject invalid durations, even if nothing is exposed, and warn about drains shorter than a request."""
    report, rollout = Report(file), door.rollout
    fields = (
        ("drainTimeout", rollout.drain_timeout),
        ("minDrainDuration", rollout.min_drain_duration),
        ("idleTimeout", rollout.idle_timeout),
    )
    for field, text in fields:
        if text is not None and not is_duration(text):
            report.error(f"rollout.{field}", f"must be a duration such as 13m or 1h30m, found {text!r}")
    if report.problems:
        return report.problems
    shortest, _, longest = balancers.idle_seconds
    if rollout.idle_timeout and not shortest <= seconds(rollout.idle_timeout) <= longest:
        reason = f"must be from {shortest}s to {longest}s, as {balancers.title}s allow"
        report.error("rollout.idleTimeout", f"{reason}, found {rollout.idle_timeout!r}")
    if rollout.drain_timeout is None:
        return report.problems
    drain, least = seconds(rollout.drain_timeout), seconds(rollout.min_drain_duration)
    if drain < least:
        reason = f"must be at least minDrainDuration ({rollout.min_drain_duration}), found {rollout.drain_timeout!r}"
        report.error("rollout.drainTimeout", reason)
    elif door.expose == Exposure.GATEWAY and drain < (longest_answer := seconds(door.request_timeout)):
        report.warn(
            "rollout.drainTimeout",
            f"is {rollout.drain_timeout}, shorter than requestTimeout ({door.request_timeout}): longer answers are "
            f"cut off whenever a proxy is replaced; set it to {duration_text(longest_answer + least)}, or remove it",
            RuleId.ACCESS_ROLLOUT,
        )
    return report.problems


def rollout_risks(door: Door, balancers: LoadBalancers) -> Iterator[tuple[str, str]]:
    """Yield fields of a gateway with settings that make requests fail when its proxies are replaced, and why.

    Invalid durations are skipped: :func:`check_rollout` reports them.
    """
    rollout = door.rollout
    given = (rollout.drain_timeout or door.request_timeout, rollout.min_drain_duration)
    if door.expose != Exposure.GATEWAY or not all(map(is_duration, given)):
        return
    if seconds(rollout.min_drain_duration) < balancers.late_seconds:
        late = duration_text(balancers.late_seconds)
        reason = (
            f"is {rollout.min_drain_duration}, but a {balancers.title} keeps sending new connections for about "
            f"{late} after a proxy begins to terminate, which are refused; set it to {MIN_DRAIN}"
        )
        yield "rollout.minDrainDuration", reason
    if door.drain_seconds > balancers.node_drain_seconds:
        setting = f"is {rollout.drain_timeout}" if rollout.drain_timeout else f"is {door.request_timeout}"
        bound = balancers.node_drain.format(seconds=duration_text(balancers.node_drain_seconds))
        drain = duration_text(door.drain_seconds)
        reason = f"{setting}, so a proxy may take {drain} to terminate, but {bound}; shorten it"
        yield ("rollout.drainTimeout" if rollout.drain_timeout else "requestTimeout"), reason
    if door.replicas == 1:
        reason = (
            "is 1: when its node is replaced, requests are refused until the load balancer has registered another "
            f"proxy, which takes {balancers.registration}; set it to 2 or more"
        )
        yield "replicas", reason


def idle_timeout_is_used(door: Door, *, models_balanced: bool) -> bool:
    """Tell whether any load balancer has a listener with a configurable idle timeout; TLS listeners have none."""
    by_gateway = door.expose == Exposure.GATEWAY and door.tls.kind != TlsKind.ACM
    return by_gateway or door.expose == Exposure.LOAD_BALANCER or models_balanced
