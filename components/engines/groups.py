"""The command lines of multi-node replicas, for the leader and the workers.

An engine has a row for each way of joining pods; the columns are those of :class:`_Method`. In texts, ``<leader>``,
``<size>``, and ``<index>`` are replaced by the names of variables in every pod. The serving command is passed to the
leader's script as its parameters, ``"$@"``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from .command_line import CommandLine
from .registry import Engine, engines
from .settings import Setting
from .shell import SHELL, is_script_of, script_words
from .versions import VersionSpan

GROUP_VARIABLE = re.compile(r"LWS_\w+|ENTRY_ADDRESS|GROUP_SIZE|WORKER_INDEX", re.ASCII)
"""Names of the variables that controllers of groups set in every pod; none sets all of them."""


@dataclass(frozen=True, slots=True)
class GroupVariables:
    """Names of the variables that describe the group in each pod.

    Attributes:
        leader: Address of the leader.
        size: Number of pods in the group.
        index: Index of the pod in the group; 0 for the leader.
    """

    leader: str
    size: str
    index: str


class _Method(NamedTuple):
    """How the pods of a group are joined.

    Attributes:
        span: The versions that support it.
        args: Arguments of every pod.
        worker_args: Additional arguments of workers.
        instead: Replacement (``by``) of the ``command``, and the setting that becomes ``positional``.
        script: Shell script of the leader; empty if the engine's own program is run.
        worker_script: Shell script of the workers.
    """

    span: VersionSpan
    args: tuple[str, ...] = ()
    worker_args: tuple[str, ...] = ()
    instead: Mapping[str, Any] | None = None
    script: str = ""
    worker_script: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "_Method":
        return cls(
            span=VersionSpan.from_row(row),
            args=tuple(row.get("args", ())),
            worker_args=tuple(row.get("worker_args", ())),
            instead=row.get("instead"),
            script=row.get("script", ""),
            worker_script=row.get("worker_script", ""),
        )


def is_group_script(text: str) -> bool:
    """Return whether a text is a script of this module, for any engine and names of variables."""
    methods = [_Method.of(row) for engine in engines().values() for row in engine.groups]
    scripts = [script for method in methods for script in (method.script, method.worker_script) if script]
    return is_script_of(text, scripts)


def group_lines(engine: Engine, line: CommandLine, variables: GroupVariables) -> tuple[CommandLine, CommandLine]:
    """Return the command lines of the leader, which takes the requests, and of the workers of a group.

    Args:
        engine: An engine that supports groups.
        line: The command line of a single pod.
        variables: The variables of the group.
    """
    version = engine.version(line.tag) or None  # an unknown version counts as the newest
    method = next(method for method in map(_Method.of, engine.groups) if method.span.includes(version))
    command, args = line.command, line.args
    if method.instead and list(command) == method.instead["command"]:
        # The usual command does not support groups.
        command, setting = tuple(method.instead["by"]), Setting(method.instead["positional"])
        value = line.value_of(setting)
        if value is not None:
            args = (value, *line.without(setting).args)

    def filled(text: str) -> str:
        for name, variable in asdict(variables).items():
            text = text.replace(f"<{name}>", variable)
        return text

    def with_args(more: Sequence[str]) -> CommandLine:
        return CommandLine(line.engine, line.tag, (*args, *map(filled, more)), command)

    def in_shell(script: str, *parameters: str) -> CommandLine:
        words = script_words(filled(script), *parameters)
        return CommandLine(line.engine, line.tag, words[len(SHELL) :], SHELL)

    leader = with_args(method.args)
    if not method.script:
        return leader, with_args((*method.args, *method.worker_args))
    return in_shell(method.script, "serve", *leader.words), in_shell(method.worker_script, "join")
