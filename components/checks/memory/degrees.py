"""Compares the accelerators that an engine is configured to use with those that its pods request."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from ...contract.clock import HOURS_PER_MONTH
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...contract.quantity import parse_quantity
from ...engines.accelerators import Degrees, degrees_of, layer_devices
from ...engines.command_line import CommandLine
from ...engines.formats.images import computes_on_cpu, image_for
from ...engines.formats.rows import format_table
from ...engines.memory_settings.settings import Variables
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Feature, Setting
from ...engines.versions import ANY, engine_title
from ...fleet.demand import PodDemand, requested_accelerators
from ...fleet.instances import instance, is_accelerator
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload, by_set
from .architectures import tag_step
from .arithmetic import judge
from .cases import Fit
from .formats import capability_of, setting_step
from .verdicts import WorkloadVerdict
from .workloads.cases import ServerSpec, case_of, device_of, loaded_weights, placement_of, spread_field
from .workloads.known import KnownShapes

HourlyPrice = Callable[[PodDemand], Decimal | None]
"""Returns the price of the node that a pod prefers, in US dollars; None if it is unknown."""


def check_degrees(
    items: Iterable[Rendered], known: Iterable[Problem], shapes: KnownShapes, price: HourlyPrice
) -> Iterator[Problem]:
    """Report engines that need more accelerators than a replica has, and those that leave some idle.

    Args:
        items: What is created, also unchanged.
        known: Problems of them: what a family compares itself is not repeated.
        shapes: Shapes of models, for remedies with which a model fits.
        price: Prices of nodes.
    """
    rules = (RuleId.GPUS_MISMATCH, RuleId.GPUS_UNUSED)
    compared = {problem.owner for problem in known if problem.rule in rules}
    for item in items:
        for parts in by_set(item.workloads).values() if item.workloads else ():
            workload = parts[0]
            engine = engines().get(workload.server.line.engine)
            per_pod, total = requested_accelerators(workload.pods)
            if engine is None or not total or item.source.owner in compared:
                continue
            degrees, line = workload_degrees(workload), workload.server.line
            if computes_on_cpu(line.engine, line.tag):
                yield from _without_accelerators(workload, price)
            elif degrees is None:
                yield from _check_devices(workload, engine, price)
            elif degrees.needed > total:
                yield from _too_many(workload, engine, degrees, total, shapes)
            elif workload.size > 1:
                yield from _check_nodes(workload, engine, degrees, per_pod)
            elif degrees.is_whole and 0 < degrees.needed < own_accelerators(workload) and _has_nodes(workload):
                yield from _idle(workload, degrees, shapes, price)


def check_experts(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Report expert parallelism of models without experts, with which some engines do not start."""
    for item in judged:
        server, asked = item.workload.server, item.verdict.asked
        line, engine = engine_line(server.line), engines().get(server.line.engine)
        if line is None or engine is None or asked is None or asked.shape.experts or asked.shape.estimate:
            continue
        if engine.version(line.tag) == ANY or not engine.has(Feature.EXPERTS_NEEDED, line.tag):
            continue
        if line.reading and line.holds(Setting.EXPERT_PARALLEL):
            flag = engine.flag(Setting.EXPERT_PARALLEL)
            yield server.field_of(Setting.EXPERT_PARALLEL).problem(
                f"{asked.shape.name} has no experts, and {engine_title(line.engine, line.tag)} does not start with "
                f"{flag} then; remove {flag}",
                rule=RuleId.START_REFUSED,
            )


def workload_degrees(workload: Workload) -> Degrees | None:
    """Return the degrees of parallelism of a serving container; None if they are unknown."""
    line, (variables, more) = workload.server.line, _variables(workload)
    degrees = degrees_of(line, variables, more=more)
    if degrees is not None or line.reading is not None or line.is_script:
        return degrees
    # Engines without a table of flags, whose degrees are read from their words.
    tensor, pipeline = line.number_of(Setting.TENSOR_PARALLEL), line.number_of(Setting.PIPELINE_PARALLEL)
    return Degrees(tensor=tensor or 1, pipeline=pipeline or 1, is_whole=False) if tensor or pipeline else None


def _variables(workload: Workload) -> tuple[Variables, bool]:
    container = workload.container
    env = container.get("env") or ()
    given = tuple((str(entry["name"]), str(entry["value"]) if "value" in entry else None) for entry in env)
    return given, bool(container.get("envFrom"))


def _too_many(
    workload: Workload, engine: Engine, degrees: Degrees, total: int, shapes: KnownShapes
) -> Iterator[Problem]:
    own = engine_line(workload.server.line) or workload.server.line
    if workload.size > 1 and degrees.copies > 1 and not own.holds(Setting.NODES):
        return  # copies may be started one by one in the pods of a group
    steps = _steps(workload, degrees, total, shapes) if workload.size == 1 else []
    yield workload.server.field_of(_changed(degrees, total)).problem(
        f"needs {degrees.needed} accelerators ({_named(engine, degrees)}), but a replica has {total} (container "
        f"{workload.container['name']!r}), so that the engine does not start; "
        f"{', or '.join(steps) or 'lower it, or request more accelerators'}",
        Severity.ERROR,
        RuleId.GPUS_MISMATCH,
    )


def _changed(degrees: Degrees, total: int) -> Setting:
    """Return the degree to lower: the number of copies, if one copy has enough accelerators."""
    has_copies = degrees.copies > 1 and degrees.tensor * degrees.pipeline <= total
    return Setting.DATA_PARALLEL if has_copies else Setting.TENSOR_PARALLEL


def _named(engine: Engine, degrees: Degrees) -> str:
    named = (
        (Setting.TENSOR_PARALLEL, degrees.tensor),
        (Setting.PIPELINE_PARALLEL, degrees.pipeline),
        (Setting.DATA_PARALLEL, degrees.copies),
    )
    return ", ".join(f"{engine.flag(setting)} {degree}" for setting, degree in named if degree > 1)


def _steps(workload: Workload, degrees: Degrees, total: int, shapes: KnownShapes) -> list[str]:
    """Return the edits after which a model fits the accelerators of its only pod, those without cost first."""
    server, steps = workload.server, []
    if _changed(degrees, total) is Setting.DATA_PARALLEL:
        copies = total // (degrees.tensor * degrees.pipeline)
        if _fits(workload, replace(degrees, copies=copies), total, shapes):
            steps.append(setting_step(server, Setting.DATA_PARALLEL, str(copies)))
    else:
        most = total // (degrees.pipeline * degrees.copies)
        lower = (replace(degrees, tensor=tensor) for tensor in range(most, 0, -1) if tensor % degrees.groups == 0)
        fitting = next((each for each in lower if _fits(workload, each, total, shapes)), None)
        step = _spread_step(workload, fitting.tensor, total) if fitting else ""
        steps += [step] if step else []
    types = _types(workload)
    nodes = [node for node in map(instance, types) if node]
    is_enough = bool(nodes) and all(node.accelerators >= degrees.needed for node in nodes)
    if is_enough and _fits(workload, degrees, degrees.needed, shapes):
        steps.append(_request(degrees.needed))
    return steps


def _spread_step(workload: Workload, tensor: int, total: int) -> str:
    """Return how the manifest sets a degree of tensor parallelism; empty if it has no field for this one."""
    spread = spread_field(workload.server)
    if spread is None or (spread.is_whole and tensor != total):
        return ""
    return spread.tensor.replace("{tensor}", str(tensor))


def _has_nodes(workload: Workload) -> bool:
    """Return whether its nodes have as many accelerators as a pod requests; others are reported for themselves."""
    count, types = own_accelerators(workload), _types(workload)
    return all(node.accelerators >= count for node in map(instance, types) if node)


def _types(workload: Workload) -> tuple[str, ...]:
    placement = placement_of(workload)
    return () if isinstance(placement, str) else placement.types


def _fits(
    workload: Workload, degrees: Degrees, accelerators: int, shapes: KnownShapes, *, sure: bool = False
) -> bool:
    """Return whether a model fits with other degrees or another number of accelerators.

    Args:
        workload: The workload, of one pod.
        degrees: The degrees.
        accelerators: Accelerators of its pod.
        shapes: Shapes of models.
        sure: Whether it must be known to fit.
    """
    settings, placement = workload.memory_settings, placement_of(workload)
    if isinstance(settings, str) or isinstance(placement, str):
        return not sure
    layout = settings.layout._replace(tensor=degrees.tensor, data=degrees.copies if degrees.groups == 1 else 1)
    line = workload.server.line
    server = ServerSpec(line.engine, line.tag, replace(settings, layout=layout), loaded_weights(workload, settings))
    moved = placement._replace(per_pod=accelerators, total=accelerators)
    for name in placement.types:
        node = device_of(name)
        case = node if isinstance(node, str) else case_of(server, moved, node, shapes)
        if isinstance(case, str):
            if sure:
                return False
        elif judge(case.case, types=False).fit is Fit.EXCEEDED:
            return False
    return True


def _check_nodes(workload: Workload, engine: Engine, degrees: Degrees, per_pod: int) -> Iterator[Problem]:
    own = engine_line(workload.server.line) or workload.server.line
    text = own.value_of(Setting.NODES) or ""
    nodes = int(text) if text.isascii() and text.isdecimal() else None
    world = degrees.tensor * degrees.pipeline
    # Another number of nodes than pods is reported for itself.
    if nodes == workload.size and (world % nodes or world // nodes > per_pod):
        named = _named(engine, replace(degrees, copies=1)) or "one accelerator"
        yield workload.server.field_of(Setting.TENSOR_PARALLEL).problem(
            f"{named} on {nodes} nodes needs {world}/{nodes} accelerators of each pod, which has {per_pod}; set the "
            "degrees so that their product is the accelerators of all nodes",
            Severity.ERROR,
            RuleId.GPUS_MISMATCH,
        )


def _idle(workload: Workload, degrees: Degrees, shapes: KnownShapes, price: HourlyPrice) -> Iterator[Problem]:
    count, steps = own_accelerators(workload), []
    tensor, rest = divmod(count, degrees.pipeline * degrees.copies)
    is_whole = not rest and tensor % degrees.groups == 0
    if is_whole and _fits(workload, replace(degrees, tensor=tensor), count, shapes, sure=True):
        step = _spread_step(workload, tensor, count)
        steps += [step] if step else []
    if _fits(workload, degrees, degrees.needed, shapes):
        steps.append(_request(degrees.needed))
    yield _unused(
        workload,
        workload.server.field_of(Setting.TENSOR_PARALLEL),
        used=degrees.needed,
        count=count,
        steps=steps,
        price=price,
    )


def _without_accelerators(workload: Workload, price: HourlyPrice) -> Iterator[Problem]:
    """Report accelerators that a pod requests for an image that computes on the CPU only."""
    line, placement = workload.server.line, placement_of(workload)
    table, count, steps = format_table(line.engine), own_accelerators(workload), ["request no accelerators"]
    for name in () if isinstance(placement, str) or table is None else placement.types:
        node = device_of(name)
        able = None if isinstance(node, str) else capability_of(node)
        tag = image_for(table, line.tag, able) if able and table else ""
        if tag:
            steps.insert(0, tag_step(workload, tag))
            break
    if count and _has_nodes(workload):
        yield _unused(workload, workload.server.image.origin, 0, count, steps, price)


def _check_devices(workload: Workload, engine: Engine, price: HourlyPrice) -> Iterator[Problem]:
    """Check an engine that divides layers over the accelerators by itself."""
    count, (variables, more) = own_accelerators(workload), _variables(workload)
    if workload.size > 1 or not count:
        return
    devices = layer_devices(workload.server.line, count, variables, more=more)
    if devices is None:
        return
    for fault in devices.faults:
        flag = engine.flag(fault.setting)
        stops = ", so that the server does not start" if fault.stops else ""
        yield workload.server.field_of(fault.setting).problem(
            f"{flag} {fault.cause}, but a pod has {count} accelerator{'s' * (count > 1)}{stops}; "
            f"{setting_step(workload.server, fault.setting, fault.value)}",
            Severity.ERROR if fault.stops else Severity.WARNING,
            RuleId.GPUS_MISMATCH,
        )
    if not devices.faults and devices.setting and devices.used < count and _has_nodes(workload):
        own: CommandLine = engine_line(workload.server.line) or workload.server.line
        steps = [f"remove {engine.flag(devices.setting)}"] if own.holds(devices.setting) else []
        steps.append(_request(devices.used))
        field = workload.server.field_of(devices.setting)
        yield _unused(workload, field, used=devices.used, count=count, steps=steps, price=price)


def _request(count: int) -> str:
    return f"request {count} accelerator{'s' * (count > 1)}"


def _unused(
    workload: Workload, field: Origin, used: int, count: int, steps: Iterable[str], price: HourlyPrice
) -> Problem:
    """Return the finding for accelerators that are paid for and idle, with what they cost."""
    demand = next(demand for demand in workload.pods if any(map(is_accelerator, demand.requests)))
    node = instance(demand.choices[0].instance_type or "") if demand.choices else None
    hourly = price(demand) if node and node.accelerators and node.accelerator_resource in demand.requests else None
    cost = ""
    if node and hourly and demand.pods:
        month = hourly * HOURS_PER_MONTH * (count - used) / node.accelerators * demand.pods
        cost = f", so that ${month:,.0f} a month are wasted"
    return field.problem(
        f"the engine uses only {used} of the {count} accelerators that each pod pays for{cost}; "
        f"{', or '.join(steps) or 'request fewer of larger ones'}",
        Severity.WARNING,
        RuleId.GPUS_UNUSED,
    )


def own_accelerators(workload: Workload) -> int:
    """Return the accelerators of the serving container."""
    resources = workload.container.get("resources") or {}
    requested = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return sum(int(parse_quantity(str(amount))) for key, amount in requested.items() if is_accelerator(key))
