"""The command lines of multi-node replicas, for the leader and the workers.

An engine has a row for each way in which its versions join pods; the columns are those of :class:`_Way`. In texts,
``<leader>``, ``<size>``, and ``<index>`` are replaced by the names of variables in every pod. The serving command is
passed to the leader's script as its parameters, ``"$@"``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .command_line import CommandLine
from .registry import Engine
from .settings import Setting
from .shell import SHELL, script_words
from .versions import Span


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


@dataclass(frozen=True, slots=True)
class _Way:
    """How the pods of a group are joined.

    Attributes:
        span: The versions that support it.
        args: Arguments of every pod.
        worker_args: Additional arguments of workers.
        instead: Replacement (``by``) of the ``command``, and the setting that becomes ``positional``.
        script: Shell script of the leader; empty if the engine's own program is run.
        worker_script: Shell script of the workers.
    """

    span: Span
    args: tuple[str, ...] = ()
    worker_args: tuple[str, ...] = ()
    instead: Mapping[str, Any] | None = None
    script: str = ""
    worker_script: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "_Way":
        return cls(
            span=Span.from_row(row),
            args=tuple(row.get("args", ())),
            worker_args=tuple(row.get("worker_args", ())),
            instead=row.get("instead"),
            script=row.get("script", ""),
            worker_script=row.get("worker_script", ""),
        )


def group_lines(engine: Engine, line: CommandLine, variables: GroupVariables) -> tuple[CommandLine, CommandLine]:
    """Return the command lines of the leader, which takes the requests, and of the workers of a group.

    Args:
        engine: An engine that supports groups.
        line: The command line of a single pod.
        variables: The variables of the group.
    """
    version = engine.version(line.tag) or None  # an unknown version counts as the newest
    way = next(way for way in map(_Way.of, engine.groups) if way.span.includes(version))
    command, args = _instead(line, way) if way.instead else (line.command, line.args)

    def with_args(more: Sequence[str]) -> CommandLine:
        return CommandLine(line.engine, line.tag, (*args, *(_named(arg, variables) for arg in more)), command)

    leader = with_args(way.args)
    if not way.script:
        return leader, with_args((*way.args, *way.worker_args))
    serves = _in_shell(line, _named(way.script, variables), "serve", *leader.words)
    return serves, _in_shell(line, _named(way.worker_script, variables), "join")


def _instead(line: CommandLine, way: _Way) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the command and arguments that support groups, if the usual command does not."""
    instead = way.instead or {}
    if list(line.command) != instead["command"]:
        return line.command, line.args
    setting = Setting(instead["positional"])
    value = line.value_of(setting)
    args = line.args if value is None else (value, *line.without(setting).args)
    return tuple(instead["by"]), args


def _named(text: str, variables: GroupVariables) -> str:
    for name, variable in asdict(variables).items():
        text = text.replace(f"<{name}>", variable)
    return text


def _in_shell(line: CommandLine, script: str, *parameters: str) -> CommandLine:
    words = script_words(script, *parameters)
    return CommandLine(line.engine, line.tag, words[len(SHELL) :], SHELL)
