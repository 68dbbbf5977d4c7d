"""Contexts with which an engine does not start."""

from collections.abc import Iterable, Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.command_line import CommandLine
from ...engines.memory_settings.table import memory_settings_table
from ...engines.settings import Setting
from .shapes import Shape
from .verdicts import WorkloadVerdict


def longest_context(shape: Shape, line: CommandLine) -> int | None:
    """Return the longest context with which a server starts, in tokens; None without a limit, or if it is unknown."""
    table = memory_settings_table(line.engine)
    longer = table.longer_context if table else None
    # What is estimated from a name may have been trained for longer contexts than the model of that name.
    if longer is None or shape.estimate or line.holds(*longer.flags):
        return None
    return shape.max_context


def check_context(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Warn about contexts above the one in the model's configuration, with which the engine does not start.

    A warning, because the limits of some models come from catalogs, which may have lower ones than the configuration.
    """
    for item in judged:
        case, server, container = item.verdict.asked, item.workload.server, item.workload.container
        limit = longest_context(case.shape, server.line) if case else None
        if case is None or limit is None or case.context is None or case.context <= limit:
            continue
        table = memory_settings_table(server.line.engine)
        allowing = table.longer_context.variable if table and table.longer_context else ""
        # A Secret or ConfigMap may have the variable.
        if container.get("envFrom") or any(entry["name"] == allowing for entry in container.get("env") or ()):
            continue
        yield server.field_of(Setting.CONTEXT).problem(
            f"{case.shape.name} has a context of {limit:,} tokens, and {server.line.engine} does not start with a "
            f"longer one, found {case.context:,}; lower it to {limit}, or extend the positions as the documentation "
            "of the model describes (RoPE scaling)",
            Severity.WARNING,
            RuleId.CONTEXT_TOO_LONG,
        )
