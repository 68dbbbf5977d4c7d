"""Attention backends with which an engine does not start: for the attention of its model, on its GPUs."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...contract.quantity import GIB
from ...engines.backends import chosen_backend, refused_attention
from ...engines.registry import engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Setting
from ...engines.versions import engine_title
from .accelerators.devices import capability
from .architecture_names import architecture_of
from .verdicts import WorkloadVerdict
from .workloads.cases import device_of, placement_of


def check_backends(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Report attention backends that do not compute a model on a type of node that its pods may run on."""
    for item in judged:
        server, settings = item.workload.server, item.workload.memory_settings
        line, placement = engine_line(server.line), placement_of(item.workload)
        if line is None or isinstance(placement, str) or isinstance(settings, str):
            continue
        entries = item.workload.container.get("env") or ()
        backend = chosen_backend(line, {entry["name"]: str(entry.get("value", "")) for entry in entries})
        architecture = architecture_of(settings.model) if backend else ""
        if backend is None or not architecture:
            continue
        for name in placement.types:
            able = _capability(name)
            kind = refused_attention(line, backend.name, architecture, able) if able is not None else ""
            if not kind:
                continue
            title = engine_title(line.engine, line.tag)
            step = backend.variable or engines()[line.engine].flag(Setting.ATTENTION_BACKEND)
            yield server.field_of(Setting.ATTENTION_BACKEND).problem(
                f"on {name}, {title} does not start: its attention backend {backend.name} does not "
                f"compute {kind}, which {settings.model} has; remove {step}",
                rule=RuleId.START_REFUSED,
            )
            break


def _capability(instance_type: str) -> Decimal | None:
    node = device_of(instance_type)
    if isinstance(node, str):
        return None
    return capability(node.accelerator, int((node.accelerator_memory_gib or 0) * GIB))
