"""Host memory: a second cache that an engine keeps there, and /dev/shm for the processes of several accelerators."""

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...contract.quantity import GIB, parse_quantity
from ...engines.command_line import CommandLine
from ...engines.formats.rows import is_known
from ...engines.memory_settings.table import Spread, memory_settings_table
from ...engines.numbers import parse_decimal
from ...engines.registry import engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Setting
from ...fleet.instances import instance
from ...fleet.placement import SHARED_MEMORY
from ...fleet.workloads import Workload
from .degrees import own_accelerators, workload_degrees
from .verdicts import WorkloadVerdict
from .wording import gib

_GB = 10**9
_BESIDE = 16
"""GiB of host memory for all else: SGLang leaves 10 (HICACHE_HOST_MEMORY_RESERVE_BYTES)."""
_SHARED = "/dev/shm"  # noqa: S108  the name that libraries look for


def check_host_memory(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Report host memory that an engine needs and its container has not."""
    for item in judged:
        workload, line = item.workload, engine_line(item.workload.server.line)
        count = own_accelerators(workload)
        if line is None or not count:
            continue
        degrees = workload_degrees(workload)
        ranks = min(degrees.needed, count) if degrees else count
        yield from _check_cache(item, line, ranks)
        table = memory_settings_table(line.engine)
        if table is None or not table.shared_memory:
            continue
        # Without a degree, TGI has a process for each accelerator.
        together = count if degrees is None and table.spread is Spread.ALL else 1
        if min(degrees.tensor * degrees.pipeline if degrees else together, count) > 1:
            yield from _check_shared(workload, count)


def _check_cache(item: WorkloadVerdict, line: CommandLine, ranks: int) -> Iterator[Problem]:
    size = _cache_size(item, line)
    if size is None:
        return
    workload, total = item.workload, size * ranks
    limits = (workload.container.get("resources") or {}).get("limits") or {}
    limit = parse_quantity(str(limits["memory"])) if "memory" in limits else None
    node = instance(item.instance_type)
    room = node.allocatable_memory if node else None
    if limit is not None and total > limit:
        place = f"but the memory limit of container {workload.container['name']!r} is {limits['memory']}"
    elif room is not None and total > room:
        place = f"but {item.instance_type} has {gib(int(room))} for pods"
    else:
        return
    flag = engines()[line.engine].flag(Setting.HOST_CACHE)
    least = math.ceil(total / GIB) + _BESIDE
    is_room = limit is not None and (room is None or least * GIB <= room)
    steps = [f"raise the memory limit to {least}Gi"] if is_room else []
    steps.append(f"remove {flag}")
    yield workload.server.field_of(Setting.HOST_CACHE).problem(
        f"{flag} keeps {gib(size)} in host memory for each accelerator, {gib(total)} in all, {place}, so that the "
        f"server is killed or does not start; {', or '.join(steps)}",
        rule=RuleId.MEMORY_HOST_EXCEEDED,
    )


def _cache_size(item: WorkloadVerdict, line: CommandLine) -> int | None:
    """Return the least size of the cache in host memory of an accelerator; None without one, or if it is unknown."""
    if not line.holds(Setting.HOST_CACHE):
        return None
    written = line.value_of(Setting.HOST_CACHE_GB)
    size = parse_decimal(written) if written is not None else Decimal(0)
    if size is None:
        return None
    if size > 0:
        return int(size * _GB)
    given, table = line.value_of(Setting.HOST_CACHE_RATIO), memory_settings_table(line.engine)
    ratio = parse_decimal(given) if given is not None else None
    if given is None and table:
        version = table.engine.version(line.tag)
        ratio = next((ratio for span, ratio in table.host_cache if is_known(span, version)), None)
    # The cache on the accelerator takes what is left, and holds at least one request.
    return int(ratio * item.verdict.margin) if ratio and item.verdict.margin > 0 else None


def _check_shared(workload: Workload, count: int) -> Iterator[Problem]:
    """Warn if the pod has no volume at /dev/shm and does not use that of its node."""
    spec, container = workload.front["spec"], workload.container
    mounts: list[dict[str, Any]] = container.get("volumeMounts") or []
    if spec.get("hostIPC") or any(str(mount.get("mountPath")).rstrip("/") == _SHARED for mount in mounts):
        return
    step = workload.server.shared_memory or (
        f"add {{name: {SHARED_MEMORY}, emptyDir: {{medium: Memory}}}} to the volumes of the pod, and {{name: "
        f"{SHARED_MEMORY}, mountPath: {_SHARED}}} to the volumeMounts of container {container['name']!r}"
    )
    yield workload.server.args.problem(
        f"{_SHARED} has 64 MiB, which the processes of {count} accelerators share and can exhaust; {step}",
        Severity.WARNING,
        RuleId.MEMORY_SHARED_SMALL,
    )
