"""Checks whether the requests of pods finish when the pods end.

Rendered pods have a hook that waits for them. Pods that are written by hand, a hook that a resource sets and the pods
of an operator may not.
"""

from collections.abc import Iterable, Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...contract.texts.durations import duration_text
from ...engines.draining import QUIET_SECONDS, aborting_seconds, grace_for, misread_gauge
from ...engines.flags.tables import flags_of
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.ending import finishing_seconds, grace_seconds
from ...fleet.load_balancers import LoadBalancers
from ...fleet.nodes.policy import Capacity
from ...fleet.options import Options
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload
from .settings import Door
from .words import Exposure


def check_pod_ends(workloads: Iterable[tuple[Rendered, Workload]], longest: int | None) -> Iterator[Problem]:
    """Warn about pods whose engine aborts requests, or gives them less time than the longest one takes.

    Args:
        workloads: The workloads, each with its resource.
        longest: Seconds of the longest request; None if nothing limits it.
    """
    reported = set[tuple[str, str]]()
    for item, workload in workloads:
        args = workload.server.args
        container = args.path.removesuffix(".args")
        if (item.source.where, container) in reported:
            continue
        for rule, reason in _faults(workload, longest):
            reported.add((item.source.where, container))
            yield args.source.problem(container, f"{args.lead}{reason}", Severity.WARNING, rule)


def _faults(workload: Workload, longest: int | None) -> Iterator[tuple[RuleId, str]]:
    line, grace = workload.server.line, grace_seconds(workload)
    aborted = aborting_seconds(workload.container, line)
    if aborted is not None and (longest is None or aborted < longest):
        when = f"{aborted:g} seconds after the deletion of the pod" if aborted else "when the pod is deleted"
        yield (
            RuleId.DRAIN_MISSING,
            f"{line.engine} aborts the requests in progress {when}, at every rollout, scale-down and drain: it does "
            f"so on SIGTERM, and no preStop hook waits for them; {_remedy(workload, grace, longest)}",
        )
    elif (misread := misread_gauge(workload.container, line)) is not None:
        yield (
            RuleId.DRAIN_HOOK,
            f"the preStop hook searches {misread[0]}, and finds {misread[1]} as well, so that it never reads one "
            f"number: every rollout, scale-down and drain may take the whole grace period ({grace} seconds), and end "
            "in a kill; match the exact name, as the hook in docs/draining.md does, or use that hook",
        )
    elif longest is not None and (seconds := finishing_seconds(workload)) < longest:
        yield (
            RuleId.DRAIN_SHORT,
            f"a request may take {longest} seconds (frontDoor.requestTimeout) and is cut off {seconds:g} seconds "
            f"after the deletion of its pod, whose terminationGracePeriodSeconds is {grace}; set that to at least "
            f"{grace_for(longest)}, and what limits the wait in a hook or an argument to at least {longest}",
        )


def _remedy(workload: Workload, grace: int, longest: int | None) -> str:
    """Return what to change, so that the requests of a pod finish."""
    line = workload.server.line
    if not workload.server.is_written:
        if workload.operated:
            return "its operator renders none that does: use realization 'native', which adds one"
        return "remove the preStop hook of its runtime: without it, one is rendered that waits"
    needed = max(grace, Options().grace_seconds) if longest is None else max(grace, grace_for(longest))
    period = f"terminationGracePeriodSeconds: {needed} to the pod"
    flag = engines()[line.engine].flag(Setting.SHUTDOWN_TIMEOUT)
    table = flags_of(line.engine)
    known = table.find(flag) if flag and table else None
    version = engines()[line.engine].version(line.tag)
    # A version between the last one without the flag and the first one that is known to have it may reject it.
    if known is None or (version is not None and version < (known.span.since or ())):
        return f"add the preStop hook of {line.engine} in docs/draining.md to the container, and {period}"
    hook = f"{{preStop: {{exec: {{command: [sleep, '{QUIET_SECONDS}']}}}}}}"
    return f"add {flag}={needed - grace_for(0)} to its arguments, lifecycle: {hook} to the container, and {period}"


def node_limits(
    fleet: Fleet, door: Door, balancers: LoadBalancers | None, notice: int | None
) -> Iterator[tuple[Severity, str]]:
    """Yield the shortest limit of nodes and load balancers below the longest request, and that of spot instances.

    Args:
        fleet: The fleet.
        door: The front door.
        balancers: The load balancers of the cloud; None without a cloud.
        notice: Seconds between the notice and the end of a spot instance; None if unknown.
    """
    longest = door.longest_request
    if longest is None:
        return
    limits: list[tuple[int, str]] = []
    if balancers:
        sent = duration_text(balancers.longest_deregistration)
        limits.append(
            (balancers.longest_deregistration, f"a {balancers.title} waits at most {sent} for a pod that ends")
        )
        drained = duration_text(balancers.node_drain_seconds)
        limits.append((balancers.node_drain_seconds, balancers.node_drain.format(seconds=drained)))
    limit, why = min(limits, default=(longest, ""))
    # Behind a gateway, its proxies take longer than the models' pods, and have a finding of their own.
    by_proxies = (
        door.expose == Exposure.GATEWAY
        and not door.rollout.drain_timeout
        and balancers is not None
        and limit == balancers.node_drain_seconds
    )
    if limit < longest and not by_proxies:
        reason = f"is {door.request_timeout}, but {why}; set it to {duration_text(limit)} or less"
        yield Severity.WARNING, reason
    if notice is None or notice >= longest:
        return
    titles = dict.fromkeys(
        item.title
        for item, workload in fleet.workloads
        if any(choice.capacity == Capacity.SPOT for pod in workload.pods for choice in pod.choices)
    )
    if titles:
        yield (
            Severity.NOTE,
            f"is {door.request_timeout}, but a spot instance ends {duration_text(notice)} after its notice: longer "
            f"answers of {', '.join(titles)} are cut off then; let clients repeat them, or use on-demand nodes",
        )
