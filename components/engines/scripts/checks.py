"""Checks scripts that start an engine: the engine's arguments, and programs that its image lacks."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Severity
from ..command_line import CommandLine
from ..lint import lint
from ..registry import engines
from ..versions import ANY, VersionSpan, engine_title
from .commands import commands_of, engine_line

_RUNNERS = ("bash", "sh", "exec", "source", ".")
"""Words that run the program after them."""
_OPEN = frozenset("$`")
"""Characters of shell expansions, whose result is unknown."""


class ScriptFault(NamedTuple):
    """A problem in a script."""

    severity: Severity
    reason: str
    rule: RuleId


def script_faults(line: CommandLine) -> Iterator[ScriptFault]:
    """Yield the problems of the script in a command line; none if the engine parses the arguments itself."""
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
    called = {
        PurePosixPath(word).name
        for command in commands_of(line)
        for word in (command[:2] if command and command[0] in _RUNNERS else command[:1])
    }
    for row in engine.lacks if engine and version != ANY else ():
        if row["name"] in called and VersionSpan.from_row(row).includes(version):
            reason = (
                f"calls {row['name']}, and the image of {engine_title(line.engine, line.tag)} {row['why']}; "
                "use one that has it, or let the engine join the pods"
            )
            yield ScriptFault(Severity.WARNING, reason, RuleId.IMAGE_LACKS_PROGRAM)
