"""The cold start of every model of a plan, what shortens it most cheaply, and what it is too long for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...checks.memory.shapes import Shape
from ...checks.memory.verdicts import WorkloadVerdict
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.served.names import served_names
from ...fleet.autoscalers import Autoscaler
from ...fleet.instances import is_accelerator
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import Workload
from ..environment import Environment
from ..spans import about
from .budget import IN_CONTAINER, Saving, StartBudget, StartFacts, StartStep, WeightsFrom, steps_of, total_of
from .reading import downloads_before, patience_of, shape_facts, start_facts, weights_from

if TYPE_CHECKING:
    from ...fleet.cloud import NodePlan

_DEFAULT_WINDOW = 300
"""Seconds of the stabilization window for scaling down (kubernetes/kubernetes v1.36.3,
pkg/apis/autoscaling/v2/defaults.go)."""
_LEAST_SHARE = 20
"""A saving is named if it is at least the 20th part of the start."""


def title_of(workload: Workload) -> str:
    """Return ``Kind namespace/name``."""
    return f"{workload.kind} {workload.namespace}/{workload.name}"


def start_budgets(
    fleet: Fleet,
    verdicts: tuple[WorkloadVerdict, ...],
    environment: Environment,
    groups: "tuple[NodePlan, ...]" = (),
) -> dict[str, StartBudget]:
    """Return the budget of each workload with accelerators, by its title.

    Args:
        fleet: The rendered fleet.
        verdicts: Its memory verdicts, which know the models.
        environment: The environment.
        groups: Node groups of the cloud.
    """
    shapes = shapes_of(verdicts)
    found = {title_of(workload): workload for _, workload in fleet.workloads if _devices(workload)}
    return {title: _budget(workload, shapes.get(title), environment, groups) for title, workload in found.items()}


def shapes_of(verdicts: tuple[WorkloadVerdict, ...]) -> dict[str, Shape]:
    """Return the shapes of the models by the titles of the workloads that serve them."""
    return {name: v.verdict.asked.shape for v in verdicts for name in v.names if v.verdict.asked}


def replica_facts(workload: Workload, shape: Shape | None, environment: Environment) -> StartFacts:
    """Return what the first start of a replica depends on."""
    weights, layers = shape_facts(shape)
    # Nodes that another tool manages exist already, as far as the plan knows.
    adds_nodes = environment.simulated or (
        environment.cloud is not None and environment.cloud.node_policy is not None
    )
    return start_facts(
        workload.body,
        new_node=adds_nodes,
        new_image=True,
        weights=weights,
        devices=_devices(workload),
        layers=layers,
    )


def _budget(
    workload: Workload, shape: Shape | None, environment: Environment, groups: "tuple[NodePlan, ...]"
) -> StartBudget:
    facts = replica_facts(workload, shape, environment)
    cold, warm = steps_of(facts), steps_of(facts._replace(new_node=False, new_image=False))
    total = total_of(cold)
    worthwhile = (
        saving
        for saving in _savings(workload, cold, environment, groups)
        if saving.seconds * _LEAST_SHARE >= (total.seconds or total.low)
    )
    return StartBudget(cold, total, total_of(warm), next(worthwhile, None))


def _devices(workload: Workload) -> int:
    """Return the accelerators of one replica."""
    amounts = (
        amount * demand.per_replica
        for demand in workload.pods
        for key, amount in demand.requests.items()
        if is_accelerator(key)
    )
    return int(sum(amounts))


def _savings(
    workload: Workload, steps: tuple[StartStep, ...], environment: Environment, groups: "tuple[NodePlan, ...]"
) -> Iterator[Saving]:
    """Yield the savings that apply, the cheapest first."""
    seconds = {step.name: step.seconds or 0 for step in steps}
    own = environment.cloud is not None and environment.cloud.node_policy is not None
    if weights_from(workload.body) is not WeightsFrom.VOLUME and seconds.get("download"):
        yield Saving(
            "keep the weights in a shared cache (modelCache)",
            "download",
            seconds["download"],
            "storage of the weights",
        )
    if own and seconds.get("image"):
        yield Saving(
            "use a node image that contains the container image (amiId)", "image", seconds["image"], "building it"
        )
    preferred = workload.pods[0].choices[0].instance_type if workload.pods and workload.pods[0].choices else None
    empty = [group for group in groups if group.instance_types[0] == preferred and not group.minimum]
    if own and empty and seconds.get("node"):
        yield Saving(
            f"keep a spare node (minNodes of {preferred})", "node", seconds["node"], "one node around the clock"
        )


def check_starts(fleet: Fleet, budgets: dict[str, StartBudget], environment: Environment) -> Iterator[Problem]:
    """Report starts that outlast the probes, the window of an autoscaler, or a promise."""
    scalers = {scaler.target: scaler for _, scaler in fleet.autoscalers}
    for item, workload in fleet.workloads:
        budget = budgets.get(title_of(workload))
        if budget is None:
            continue
        yield from _killed(item, workload, budget)
        scaler = scalers.get((workload.kind, workload.namespace, workload.name))
        if scaler is not None and budget.total.seconds is not None:
            yield from _outlasted_window(item, scaler, budget, budget.total.seconds)
            yield from _broken_promise(item, workload, scaler, budget.total.seconds, environment)


def _killed(item: Rendered, workload: Workload, budget: StartBudget) -> Iterator[Problem]:
    """Report containers that the kubelet kills before they serve, again and again."""
    left_out = ("download",) if downloads_before(workload.body) else ()
    running = [step for step in budget.steps if step.name in IN_CONTAINER and step.name not in left_out]
    low, likely = sum(step.low for step in running), [step.seconds for step in running]
    if None in likely:
        return
    seconds = sum(step or 0 for step in likely)
    for patience in patience_of(workload.body):
        if patience.seconds >= seconds:
            continue
        certain = " even in the shortest case" if patience.seconds < low else ""
        parts = ", ".join(f"{step.name} {step.seconds} s" for step in running)
        reason = (
            f"container {patience.container} of {workload.kind} {workload.name} would be killed before it is ready"
            f"{certain}: its {patience.probe} waits {patience.seconds} s, and the start takes about {seconds} s "
            f"({parts}); raise failureThreshold of the {patience.probe}, so that failureThreshold x periodSeconds is "
            f"above {sum(step.high or 0 for step in running)} s"
        )
        yield item.source.problem("", reason, Severity.WARNING, rule=RuleId.START_PROBES)


def _outlasted_window(item: Rendered, scaler: Autoscaler, budget: StartBudget, seconds: int) -> Iterator[Problem]:
    """Report replicas that an autoscaler may remove before they serve."""
    down = (scaler.hpa["spec"].get("behavior") or {}).get("scaleDown") or {}
    window = down.get("stabilizationWindowSeconds")
    window = _DEFAULT_WINDOW if window is None else int(window)
    if scaler.maximum <= scaler.minimum or seconds <= window:
        return
    saving, shorten = budget.saving, ""
    if saving and seconds - saving.seconds <= window:
        shorten = f"{saving.what} to save {about(saving.seconds)}, or "
    reason = (
        f"a replica that its autoscaler adds serves after {_compared(seconds)}, later than the {window} s after "
        "which the autoscaler may remove it again (behavior.scaleDown.stabilizationWindowSeconds): a shorter burst "
        f"is over before it helps; {shorten}widen the window to the length of a burst and a start"
    )
    yield item.source.problem("", reason, Severity.NOTE, rule=RuleId.START_WINDOW)


def _broken_promise(
    item: Rendered, workload: Workload, scaler: Autoscaler, seconds: int, environment: Environment
) -> Iterator[Problem]:
    """Report models that may have no replica although they promise a time to the first token."""
    levels = environment.options.levels
    # Service levels are by the name that clients request: that of the model, of the engine, or of an endpoint.
    names = {workload.model, *served_names(workload.server.line), *(endpoint.model for endpoint in item.endpoints)}
    targets = [level.targets[name].ttft_ms for name in sorted(names) for level in levels.classes_of(name)]
    promised = min((target for target in targets if target), default=0)
    if scaler.minimum or not promised:
        return
    reason = (
        f"its first request without a replica waits {_compared(seconds)}, and its service level promises the first "
        f"token after {promised} ms; keep one replica"
    )
    yield item.source.problem("", reason, Severity.WARNING, rule=RuleId.START_PROMISE)


def _compared(seconds: int) -> str:
    """Format the duration of a start as reports do, and in seconds, as the setting that it is compared with."""
    return about(seconds) if about(seconds).endswith(" s") else f"{about(seconds)} ({seconds} s)"
