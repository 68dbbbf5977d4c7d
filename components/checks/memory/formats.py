"""Number formats with which an engine does not start: on the GPUs of its nodes, or with the weights of its model."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...contract.quantity import GIB
from ...engines.command_line import CommandLine
from ...engines.formats.faults import FormatFault, FormatUse, attention_fault, format_fault, is_computed
from ...engines.formats.images import ImageFault, architecture_fault, image_fault, type_fault
from ...engines.formats.rows import is_known
from ...engines.memory_settings.table import memory_settings_table
from ...engines.registry import engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Setting
from ...engines.versions import VersionSpan
from ...fleet.instances import Instance, accelerated_instances
from ...fleet.nodes.groups import takes
from ...fleet.origins import Reporter
from ...fleet.rendered import Fleet
from ...fleet.workloads import Server, Workload, by_set
from .accelerators.choices import on_instance
from .accelerators.devices import capability
from .architectures import release_step, served_architecture, tag_step
from .arithmetic import judge
from .cases import Fit, MemoryCase
from .verdicts import WorkloadVerdict, node_field
from .workloads.cases import ServerSpec, case_of, device_of, loaded_weights, placement_of
from .workloads.known import KnownShapes

_CUDA = "NVIDIA"


def check_formats(judged: Iterable[WorkloadVerdict], shapes: KnownShapes) -> Iterator[Problem]:
    """Report number formats that an engine refuses on a type of node that its pods may run on."""
    for item in judged:
        workload, placement = item.workload, placement_of(item.workload)
        use = _formats_of(workload, shapes)
        if use is None or isinstance(placement, str):
            continue
        for name in placement.types:
            node = device_of(name)
            if isinstance(node, str) or node.manufacturer != _CUDA:
                continue
            fault = format_fault(use, capability_of(node))
            if fault:
                yield _problem(fault, workload, node, _remedy(fault, item, _without(fault, workload, node, shapes)))
                break


def check_attention(fleet: Fleet) -> Iterator[Problem]:
    """Report attention backends and types of the KV cache with which an engine does not start on its GPUs."""
    for item in fleet.rendered:
        for parts in by_set(item.workloads).values() if item.workloads else ():
            workload, placement = parts[0], placement_of(parts[0])
            line = engine_line(workload.server.line)
            if line is None or isinstance(placement, str):
                continue
            backend, variable = _backend(workload, line)
            cache = line.value_of(Setting.CACHE_TYPE) or ""
            for name in placement.types if backend or cache else ():
                node = device_of(name)
                if isinstance(node, str) or node.manufacturer != _CUDA:
                    continue
                fault = attention_fault(line.engine, line.tag, backend, cache, capability_of(node))
                if fault and fault.setting:
                    is_variable = bool(variable) and fault.setting is Setting.ATTENTION_BACKEND
                    step = f"remove the variable {variable}" if is_variable else ""
                    field = workload.server.field_of(fault.setting)
                    reason = f"on {node.name} ({node.accelerator}), {fault.reason}"
                    step = step or setting_step(workload.server, fault.setting, "")
                    yield field.problem(f"{reason}; {step}", rule=RuleId.FORMAT_UNSUPPORTED)
                    break


def check_images(fleet: Fleet, shapes: KnownShapes) -> Iterator[Problem]:
    """Report images without code for the GPUs of their nodes, and models that they do not compute there."""
    for item in fleet.rendered:
        for parts in by_set(item.workloads).values() if item.workloads else ():
            workload, placement = parts[0], placement_of(parts[0])
            settings, line = workload.memory_settings, engine_line(workload.server.line)
            if line is None or not engines()[line.engine].hardware or isinstance(settings, str):
                continue
            fault = type_fault(line.engine, line.tag, settings.dtype)
            if fault:
                yield _image_problem(fault, workload, line)
                continue
            _, architecture = served_architecture(workload, line, shapes)
            variables = {str(entry["name"]) for entry in workload.container.get("env") or ()}
            for name in () if isinstance(placement, str) else placement.types:
                node = device_of(name)
                able = capability_of(node) if not isinstance(node, str) and node.manufacturer == _CUDA else None
                if isinstance(node, str) or able is None:
                    continue
                fault = image_fault(line.engine, line.tag, able) or architecture_fault(
                    line.engine, line.tag, architecture, settings.dtype, able, variables
                )
                if fault:
                    yield _image_problem(fault, workload, line, node)
                    break


def _image_problem(fault: ImageFault, workload: Workload, line: CommandLine, node: Instance | None = None) -> Problem:
    server = workload.server
    field: Reporter = server.image.origin
    if fault.setting:
        field, step = server.field_of(fault.setting), setting_step(server, fault.setting, fault.value)
        if not line.holds(fault.setting):
            step = f"{'change' if fault.value else 'remove'} its variable"
    elif fault.tag:
        step = tag_step(workload, fault.tag)
    else:
        field = node_field(workload, node.name) if node else field
        step = "use GPUs that it has code for"
    where = f"on {node.name} ({node.accelerator}), " if node and not fault.setting else ""
    return field.problem(f"{where}{fault.reason}; {step}", rule=RuleId.FORMAT_UNSUPPORTED)


def _backend(workload: Workload, line: CommandLine) -> tuple[str, str]:
    """Return the attention backend of a server, and the variable that sets it; empty if it is not set by one."""
    value = line.value_of(Setting.ATTENTION_BACKEND)
    if value is not None:
        return value, ""
    engine = engines()[line.engine]
    flag, version = engine.flag(Setting.ATTENTION_BACKEND), engine.version(line.tag)
    for entry in workload.container.get("env") or ():
        row = engine.variables.get(str(entry["name"]))
        if row and flag and row.get("instead") == flag and is_known(VersionSpan.from_row(row), version):
            return str(entry.get("value") or ""), str(entry["name"])
    return "", ""


def _formats_of(workload: Workload, shapes: KnownShapes) -> FormatUse | None:
    settings, line = workload.memory_settings, workload.server.line
    if isinstance(settings, str):
        return None
    table = memory_settings_table(line.engine)
    shape = shapes.find(
        settings.model, loaded_weights(workload, settings), single_file=table is not None and table.single_files
    )
    if isinstance(shape, str):
        return None
    return FormatUse(
        engine=line.engine,
        tag=(engine_line(line) or line).tag,
        model=shape.name,
        weights=shape.known_dtype,
        dtype=settings.dtype,
        quantization=settings.quantization,
        experts=bool(shape.experts),
    )


def _problem(fault: FormatFault, workload: Workload, node: Instance, remedy: str) -> Problem:
    server = workload.server
    field = server.field_of(fault.setting) if fault.setting else node_field(workload, node.name)
    reason = f"on {node.name} ({node.accelerator}), {fault.reason}"
    return field.problem(f"{reason}; {remedy}", rule=RuleId.FORMAT_UNSUPPORTED)


def _remedy(fault: FormatFault, item: WorkloadVerdict, without: MemoryCase | None) -> str:
    server = item.workload.server
    if fault.release is not None:
        return f"use a newer release; {release_step(item.workload, fault.release)}"
    step = setting_step(server, fault.setting, fault.value) if fault.setting else ""
    if fault.value or (step and (without is None or judge(without, types=False).fit is not Fit.EXCEEDED)):
        return step
    case = without if step else item.verdict.asked
    names = _types_that_compute(case, item.workload) if case else ()
    other = f"use {names[0]}, the cheapest instance type that does" if names else "use newer GPUs"
    return f"{step}, and {other.replace('that does', 'on which it fits')}" if step else other


def _without(fault: FormatFault, workload: Workload, node: Instance, shapes: KnownShapes) -> MemoryCase | None:
    """Return the memory case after the flag for quantization was removed; None for other steps."""
    settings, placement = workload.memory_settings, placement_of(workload)
    if fault.setting is not Setting.QUANTIZATION or isinstance(settings, str) or isinstance(placement, str):
        return None
    plain = replace(settings, quantization="", quantized=False, converted="", bits=None)
    line, weights = workload.server.line, loaded_weights(workload, settings)
    case = case_of(ServerSpec(line.engine, line.tag, plain, weights), placement, node, shapes)
    return None if isinstance(case, str) else case.case


def setting_step(server: Server, setting: Setting, value: str) -> str:
    """Return the step that gives a setting of an engine a value; an empty one removes the flag."""
    line: CommandLine = engine_line(server.line) or server.line
    flag = engines()[line.engine].flag(setting) or setting
    field = server.fields.get(setting)
    if not value:
        return f"remove {field.written if field and field.path != server.args.path else flag}"
    if field and field.path != server.args.path:
        return f"set {field.written} to {value}"
    if line.holds(setting):
        return f"set {flag} to {value}"
    return f"add {flag} {value}" + ("" if server.is_written else f" to {server.args.written}")


def _types_that_compute(case: MemoryCase, workload: Workload) -> tuple[str, ...]:
    """Return the instance types on which nothing else has to change, cheapest first."""
    prices: dict[str, Decimal] = {}
    for node in accelerated_instances():
        able = capability_of(node)
        if node.usd_per_hour is None or able is None or not is_computed(case.formats, able):
            continue
        if not all(takes(node, demand.requests) for demand in workload.pods):
            continue
        if judge(on_instance(case, node, case.parallel), types=False).fit is Fit.FITS:
            prices[node.name] = node.usd_per_hour
    return tuple(sorted(prices, key=lambda name: (prices[name], name)))


def capability_of(node: Instance) -> Decimal | None:
    return capability(node.accelerator, int((node.accelerator_memory_gib or Decimal(0)) * GIB))
