"""Checks scripts that start an engine: the engine's own words, and programs that its image does not have."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Severity
from ..command_line import CommandLine
from ..lint import lint
from ..registry import engines
from ..versions import ANY, Span, engine_title
from .commands import commands_of, engine_line

_RUNNERS = ("bash", "sh", "exec", "source", ".")
"""What may stand before a program."""
_OPEN = frozenset("$`")
"""What the shell fills in."""


class ScriptFault(NamedTuple):
    """Something wrong with what a script runs."""

    severity: Severity
    reason: str
    rule: RuleId


def script_faults(line: CommandLine) -> Iterator[ScriptFault]:
    """Yield what is wrong in the script that a line runs; nothing where the engine reads the line itself.

    Args:
        line: What a container is started with.
    """
    if line.reading is not None or not line.is_script:
        return
    yield from _missing(line)
    inner = engine_line(line)
    reading = inner.reading if inner else None
    if inner is None or reading is None:
        return
    strays = {use.position for use in reading.uses if use.stray}  # such as redirections
    for finding in lint(inner):
        if finding.position not in strays and not _OPEN & {*inner.args[finding.position]}:
            yield ScriptFault(finding.severity, finding.reason, finding.rule)


def _missing(line: CommandLine) -> Iterator[ScriptFault]:
    """Find programs that the image does not have."""
    engine = engines().get(line.engine)
    version = engine.version(line.tag) if engine else ANY
    called = {PurePosixPath(word).name for command in commands_of(line) for word in _programs(command)}
    for row in engine.lacks if engine and version != ANY else ():
        if row["name"] in called and Span.from_row(row).includes(version):
            reason = (
                f"calls {row['name']}, and the image of {engine_title(line.engine, line.tag)} {row['why']}; "
                "use one that has it, or let the engine join the pods"
            )
            yield ScriptFault(Severity.WARNING, reason, RuleId.IMAGE_LACKS_PROGRAM)


def _programs(command: list[str]) -> list[str]:
    """Return what may be the program of a command: its first word, or the one that a shell is given."""
    return command[:2] if command[:1] and command[0] in _RUNNERS else command[:1]
