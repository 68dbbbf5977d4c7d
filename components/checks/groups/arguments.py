"""Compares the multi-node arguments of engines with the group of pods that gets them.

Sources: vllm/config/parallel.py and vllm/entrypoints/cli/serve.py of vllm-project/vllm at 00a5fdd2 (only `vllm serve`
reads ``--headless``; a follower without it builds an engine core, and ends in "collective_rpc should not be called on
follower node"), and check_server_args in python/sglang/srt/server_args.py of sgl-project/sglang, which requires that
``tp_size * pp_size`` is divisible by ``nnodes``.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.command_line import CommandLine, command_line_of
from ...engines.groups import GROUP_VARIABLE
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import assigned_variables, engine_line, started_processes
from ...engines.settings import Setting
from ...engines.shell import expanded_variables
from ...fleet.demand import requested_accelerators
from ...fleet.objects import Object
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.workloads import LWS_VARIABLES, Workload, by_set

_LOOPBACK = re.compile(r"(?:127(?:\.\d+){3}|localhost|0\.0\.0\.0|::1?)(?:\]?:\d+)?$")
"""Addresses at which a pod finds itself only."""
_SHELL_VARIABLE = re.compile(r"\$\{?(\w+)", re.ASCII)
_LEADER_FIELD = re.compile(r"\w+Template\.spec\.containers\[\d+\]")
"""The template and the container in the field of a leader's arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupEngine:
    """The engine in the pods of one template.

    Attributes:
        pods: Pods of a group that run it.
        line: The line that the engine parses.
        field: The field with its arguments.
        container: The container.
    """

    pods: int
    line: CommandLine
    field: Origin
    container: Object

    def value(self, setting: Setting) -> int | None:
        """Return a whole number; None if it is not set, or a variable."""
        text = self.line.value_of(setting) or ""
        return int(text) if text.isascii() and text.isdecimal() else None


def check_group_arguments(items: Iterable[Rendered], known: Iterable[Problem]) -> Iterator[Problem]:
    """Report numbers of nodes, ranks and processes that do not fit the pods of a replica.

    Args:
        items: What is created, also unchanged.
        known: Problems of them: a family that compares the accelerators itself is not repeated.
    """
    compared = {problem.owner for problem in known if problem.rule == RuleId.GPUS_MISMATCH}
    for item in items:
        for parts in by_set(item.workloads).values() if item.workloads else ():
            workload = parts[0]
            engine = engines().get(workload.server.line.engine)
            if engine is None:
                continue
            if item.source.owner not in compared:
                yield from _check_processes(workload)
            if Setting.NODES in engine.settings:
                yield from _check_nodes(workload, engine)


def _members(workload: Workload) -> list[_GroupEngine]:
    """Return the engines of a group, that of the pods that receive requests first."""
    server = workload.server
    own = engine_line(server.line)
    members = [] if own is None else [_GroupEngine(pods=1, line=own, field=server.args, container=workload.container)]
    templates = workload.pod_templates
    if len(templates) == 1 and members:
        return [replace(members[0], pods=templates[0].pods)]
    for template in templates[1:]:
        for position, container in enumerate(template.body["spec"]["containers"]):
            line = command_line_of(container)
            read = engine_line(line) if line.engine == server.line.engine else None
            if read is not None:
                path = _worker_path(server.args.path, template.field.path, position)
                field = replace(server.args, path=path)
                members.append(_GroupEngine(pods=template.pods, line=read, field=field, container=container))
    return members


def _worker_path(leader: str, template: str, position: int) -> str:
    """Return the field of a worker's arguments beside that of the leader's, as the resource has it."""
    name = template.rpartition(".")[2]
    path, replaced = _LEADER_FIELD.subn(f"{name}.spec.containers[{position}]", leader)
    return path if replaced else leader


def _check_nodes(workload: Workload, engine: Engine) -> Iterator[Problem]:
    members, size = _members(workload), workload.size
    nodes_flag, rank_flag = engine.flag(Setting.NODES), engine.flag(Setting.NODE_RANK)
    if not members or not any(member.line.holds(Setting.NODES) for member in members):
        return
    if any(member.line.has_unknown_config for member in members):
        return  # its file may have what is missing
    for member in members:
        nodes = member.value(Setting.NODES)
        if nodes is not None and nodes != size:
            yield member.field.problem(
                f"{nodes_flag} is {nodes}, but a replica has {size} pod{'s' * (size > 1)}, so that the engine waits "
                f"for nodes that never join, or refuses some; set it to {size}",
                rule=RuleId.GROUPS_MISMATCH,
            )
    if size == 1:
        return
    yield from _check_join(workload, engine, members)
    leader = members[0]
    if (leader.value(Setting.NODE_RANK) or 0) > 0:
        yield leader.field.problem(
            f"{rank_flag} is {leader.value(Setting.NODE_RANK)} in the leader, which must be 0; set it to 0, or to "
            "the variable with the index of the pod",
            rule=RuleId.GROUPS_MISMATCH,
        )
    followers = members[1:] or ([leader] if leader.pods > 1 else [])
    for member in followers:
        rank = member.value(Setting.NODE_RANK)
        missing = not member.line.holds(Setting.NODE_RANK)
        fixed = rank is not None and (member.pods > 1 or rank == 0)
        if missing or fixed:
            found = "is missing" if missing else f"is {rank}"
            yield member.field.problem(
                f"{rank_flag} {found} in every pod of this template, but each pod of a group needs a rank of its "
                "own, and the leader has 0; set it to the variable with the index of the pod",
                rule=RuleId.GROUPS_MISMATCH,
            )
    headless = engine.flag(Setting.HEADLESS)
    if headless is None:
        return
    if leader.pods == 1 and leader.line.holds(Setting.HEADLESS):
        yield leader.field.problem(
            f"{headless} in the leader starts no API server; remove it there", rule=RuleId.GROUPS_MISMATCH
        )
    program = _program_without_groups(engine)
    for member in followers:
        if not member.line.holds(Setting.HEADLESS):
            own = "" if member is not leader else " in a template of their own: the leader must not have it"
            yield member.field.problem(
                f"{headless} is missing in the pods that take no requests, so that each starts an API server and a "
                f"whole engine, and ends with an error; add it{own}",
                rule=RuleId.GROUPS_MISMATCH,
            )
        elif program and program in member.line.command:
            instead = " ".join(engine.programs[:1])
            yield member.field.problem(
                f"{headless} is ignored by {program}, which always starts an API server and a whole engine; start "
                f"the pod with `{instead} serve`",
                rule=RuleId.GROUPS_MISMATCH,
            )


def _check_join(workload: Workload, engine: Engine, members: list[_GroupEngine]) -> Iterator[Problem]:
    """Report pods that do not find the first one of their group, or compute another share than it does."""
    leader, followers = members[0], members[1:]
    for member in members:
        if not member.line.holds(Setting.NODES):
            yield member.field.problem(
                f"{engine.flag(Setting.NODES)} is missing here and set in the other pods of the group, so that the "
                f"engine starts alone; set it to {workload.size}",
                rule=RuleId.GROUPS_MISMATCH,
            )
        yield from _check_variables(workload, engine, member)
    # The leader of vLLM listens on every address, that of SGLang on the one that is set.
    has_port_flag = engine.flag(Setting.LEADER_PORT) is not None
    for member in (followers or members) if has_port_flag else members:
        address = member.line.value_of(Setting.LEADER)
        host = (address or "").strip("[]'\"").removeprefix("tcp://")
        if not member.line.holds(Setting.LEADER) or (address and _LOOPBACK.match(host)):
            found = f"is {host}" if address else "is missing"
            yield member.field.problem(
                f"{engine.flag(Setting.LEADER)} {found}, so that the pod waits for the group at its own address; set "
                "it to the variable with the address of the leader",
                rule=RuleId.GROUPS_MISMATCH,
            )
    for member in followers:
        ports = [_port(each, has_port_flag=has_port_flag) for each in (leader, member)]
        if None not in ports and ports[0] != ports[1]:
            flag = engine.flag(Setting.LEADER_PORT if has_port_flag else Setting.LEADER)
            yield member.field.problem(
                f"the port of {flag} is {ports[1]}, but {ports[0]} in the leader, so that the pods do not find each "
                f"other; set it to {ports[0]}",
                rule=RuleId.GROUPS_MISMATCH,
            )
        for setting in (Setting.TENSOR_PARALLEL, Setting.PIPELINE_PARALLEL):
            degrees = [1 if not each.line.holds(setting) else each.value(setting) for each in (leader, member)]
            if None not in degrees and degrees[0] != degrees[1]:
                yield member.field.problem(
                    f"{engine.flag(setting)} is {degrees[1]}, but {degrees[0]} in the leader: all pods of a group "
                    f"must agree; set it to {degrees[0]}",
                    rule=RuleId.GROUPS_MISMATCH,
                )


def _port(member: _GroupEngine, *, has_port_flag: bool) -> int | None:
    """Return the port at which a pod joins its group; None if it is not set, or a variable."""
    if has_port_flag:
        return member.value(Setting.LEADER_PORT)
    port = (member.line.value_of(Setting.LEADER) or "").rpartition(":")[2]
    return int(port) if port.isascii() and port.isdecimal() else None


def _check_variables(workload: Workload, engine: Engine, member: _GroupEngine) -> Iterator[Problem]:
    """Report variables in the arguments of a group that no controller sets in its pods."""
    if any(entry for entry in member.container.get("envFrom") or ()):
        return
    own = {str(variable.get("name")) for variable in member.container.get("env") or ()}
    own |= set(assigned_variables(command_line_of(member.container)))
    known = own if workload.bare else own | set(asdict(LWS_VARIABLES).values())
    for setting in (Setting.NODES, Setting.NODE_RANK, Setting.LEADER):
        text = member.line.value_of(setting) or ""
        # The shell of an image may have other variables than the pod; the kubelet has none.
        names = set(expanded_variables(text)) or {
            name for name in _SHELL_VARIABLE.findall(text) if GROUP_VARIABLE.fullmatch(name)
        }
        for name in sorted(names - known):
            yield member.field.problem(
                f"{engine.flag(setting)} is {text}, but nothing sets {name} in these pods, so that they do not find "
                f"each other; {_instead(known, setting)}",
                rule=RuleId.GROUPS_MISMATCH,
            )


def _instead(known: Iterable[str], setting: Setting) -> str:
    """Return what to write in place of a variable that no controller sets."""
    ends = {Setting.NODES: "_SIZE", Setting.NODE_RANK: "_INDEX", Setting.LEADER: "_ADDRESS"}
    names = sorted(name for name in known if name.endswith(ends[setting]) and GROUP_VARIABLE.fullmatch(name))
    return f"use {' or '.join(names)}" if names else "set it in env"


def _check_processes(workload: Workload) -> Iterator[Problem]:
    """Report MPI launchers that start more processes than the group has accelerators."""
    _, total = requested_accelerators(workload.pods)
    for count in started_processes(workload.server.line) if total else ():
        if count > total:
            yield workload.server.args.problem(
                f"MPI starts {count} processes, each with an accelerator, but a replica has {total}; start {total}, "
                "or request more accelerators",
                Severity.ERROR,
                RuleId.GPUS_MISMATCH,
            )


def _program_without_groups(engine: Engine) -> str:
    """Return the module that cannot start a follower; empty if every program can."""
    commands = (row["instead"]["command"] for row in engine.groups if row.get("instead"))
    return next((str(command[-1]) for command in commands), "")
