"""Environment variables that the version of an engine no longer reads."""

from collections.abc import Iterator

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity
from ..engines.flags.tables import flags_of
from ..engines.registry import engines
from ..engines.versions import VersionSpan, engine_title, format_version
from ..fleet.rendered import Fleet
from ..fleet.workloads import Workload


def check_engine_variables(fleet: Fleet) -> Iterator[Problem]:
    """Warn about variables of serving containers that have no effect in the version of the image."""
    for item in fleet.rendered:
        for workload in item.workloads:
            yield from _problems(workload)


def _problems(workload: Workload) -> Iterator[Problem]:
    line = workload.server.line
    engine, table = engines().get(line.engine), flags_of(line.engine)
    if engine is None or table is None or not engine.variables:
        return
    version = engine.version(line.tag)
    env = workload.container.get("env") or ()
    names = dict.fromkeys(str(variable.get("name")) for variable in env)
    for name in names:
        row = engine.variables.get(name)
        span = VersionSpan.from_row(row) if row else None
        if row is None or span is None or span.until is None or not span.is_after(version):
            continue
        flag = table.find(row.get("instead", ""), version)
        remedy = f"use {flag.name}" if flag and flag.span.includes(version) else "remove it"
        title, until = engine_title(line.engine, line.tag), format_version(span.until)
        reason = f"the variable {name} has no effect: {title} does not read it (missing since {until}); {remedy}"
        yield workload.server.args.problem(reason, Severity.WARNING, RuleId.FIELD_NO_EFFECT)
