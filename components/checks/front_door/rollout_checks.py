"""What is wrong with the way in which proxies are replaced, and what cuts requests off."""

from collections.abc import Iterator

from ...clouds.aws.names import IDLE_SECONDS
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from .report import Report
from .rollout import MIN_DRAIN, duration_text, is_duration, seconds
from .settings import Door
from .words import Exposure, TlsKind

_NEW_CONNECTIONS = 120
"""Seconds for which a Network Load Balancer still sends new connections to a target that was deregistered, see
:mod:`.rollout`."""
_NODE_DRAIN = 900
"""Seconds that EKS gives the pods of a node when it updates a managed node group (EKS User Guide, "Understand each
phase of node updates")."""


def check_rollout(door: Door, file: str) -> list[Problem]:
    """Report durations that are none or out of bounds, also of a closed door, and drains shorter than a request."""
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
    shortest, _, longest = IDLE_SECONDS
    if rollout.idle_timeout and not shortest <= seconds(rollout.idle_timeout) <= longest:
        reason = f"must be from {shortest}s to {longest}s, as Network Load Balancers allow"
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


def rollout_on_aws(door: Door) -> Iterator[tuple[str, str]]:
    """Yield fields of a gateway on AWS, and why requests fail when its proxies are replaced.

    Durations that are none are reported elsewhere, and have no risks here.
    """
    rollout = door.rollout
    given = (rollout.drain_timeout or door.request_timeout, rollout.min_drain_duration)
    if door.expose != Exposure.GATEWAY or not all(map(is_duration, given)):
        return
    if seconds(rollout.min_drain_duration) < _NEW_CONNECTIONS:
        reason = (
            f"is {rollout.min_drain_duration}, but a Network Load Balancer sends a proxy new connections for about "
            f"{duration_text(_NEW_CONNECTIONS)} after it began to end, and they are refused; set it to {MIN_DRAIN}"
        )
        yield "rollout.minDrainDuration", reason
    if door.drain_seconds > _NODE_DRAIN:
        what = f"is {rollout.drain_timeout}" if rollout.drain_timeout else f"is {door.request_timeout}"
        reason = (
            f"{what}, with which a proxy may take {duration_text(door.drain_seconds)} to end, but EKS gives the pods "
            f"of a node {duration_text(_NODE_DRAIN)} when it updates a managed node group; a longer answer fails the "
            "update, or is cut off by forceUpdate; shorten it"
        )
        yield ("rollout.drainTimeout" if rollout.drain_timeout else "requestTimeout"), reason
    if door.replicas == 1:
        reason = (
            "is 1: when its node is replaced, requests are refused until the load balancer has registered another "
            "proxy, which takes 3 to 5 minutes; set it to 2 or more"
        )
        yield "replicas", reason


def idle_timeout_is_used(door: Door, *, models_balanced: bool) -> bool:
    """Tell whether any load balancer has a listener whose idle timeout may be set: that of TLS may not."""
    by_gateway = door.expose == Exposure.GATEWAY and door.tls.kind != TlsKind.ACM
    return by_gateway or door.expose == Exposure.LOAD_BALANCER or models_balanced
