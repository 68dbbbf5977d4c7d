"""Environment variables that the version of an engine no longer reads."""

from collections.abc import Iterator

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity, field_path
from ..engines.flags.tables import flags_of
from ..engines.registry import engines
from ..engines.versions import VersionSpan, engine_title, format_version
from ..fleet.rendered import Fleet, Rendered
from ..fleet.workloads import Workload


def check_engine_variables(fleet: Fleet) -> Iterator[Problem]:
    """Warn about variables of serving containers that have no effect in the version of the image.

    Users cannot remove those that the rendering adds, such as ``VLLM_USE_V1`` of every ModelBooster.
    """
    for item in fleet.rendered:
        for workload in item.workloads:
            yield from _problems(item, workload)


def _problems(item: Rendered, workload: Workload) -> Iterator[Problem]:
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
        place = next(_places(item.source.resource.wire(), name, ()), None)
        if place is None:
            continue
        flag = table.find(row.get("instead", ""), version)
        given = (str(variable["value"]) for variable in env if variable.get("name") == name and "value" in variable)
        value = next(given, "")
        instead = f", and add {flag.name} {value}".rstrip() if flag and flag.span.includes(version) else ""
        title, until = engine_title(line.engine, line.tag), format_version(span.until)
        reason = f"the variable {name} has no effect: {title} does not read it (missing since {until})"
        reason = f"{reason}; remove it{instead}"
        yield item.source.problem(field_path(place), reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)


def _places(value: object, name: str, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of the variables of a name in a manifest."""
    if isinstance(value, dict):
        if value.get("name") == name and ("value" in value or "valueFrom" in value):
            yield path
        for key, inner in value.items():
            yield from _places(inner, name, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, name, (*path, number))
