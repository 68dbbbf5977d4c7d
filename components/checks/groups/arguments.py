"""Compares the multi-node arguments of engines with the group of pods that gets them.

Sources: vllm/config/parallel.py and vllm/entrypoints/cli/serve.py of vllm-project/vllm at 00a5fdd2 (only `vllm serve`
reads ``--headless``; a follower without it builds an engine core, and ends in "collective_rpc should not be called on
follower node"), and check_server_args in python/sglang/srt/server_args.py of sgl-project/sglang, which requires that
``tp_size * pp_size`` is divisible by ``nnodes``.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.command_line import CommandLine, command_line_of
from ...engines.memory_settings.layout import ModelLayout
from ...engines.memory_settings.reader import memory_settings_of
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Setting
from ...fleet.demand import PodDemand
from ...fleet.instances import is_accelerator
from ...fleet.origins import Origin
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload, by_set

_LEADER_FIELD = re.compile(r"\w+Template\.spec\.containers\[\d+\]")
"""The template and the container in the field of a leader's arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupEngine:
    """The engine in the pods of one template.

    Attributes:
        pods: Pods of a group that run it.
        line: The line that the engine parses.
        field: The field with its arguments.
    """

    pods: int
    line: CommandLine
    field: Origin

    def value(self, setting: Setting) -> int | None:
        """Return a whole number; None if it is not set, or a variable."""
        text = self.line.value_of(setting) or ""
        return int(text) if text.isascii() and text.isdecimal() else None


def check_group_arguments(fleet: Fleet, known: Iterable[Problem]) -> Iterator[Problem]:
    """Report numbers of nodes, ranks and degrees of parallelism that do not fit the pods of a replica.

    Args:
        fleet: The models.
        known: Problems of the fleet: a family that compares the accelerators itself is not repeated.
    """
    compared = {problem.owner for problem in known if problem.rule == RuleId.GPUS_MISMATCH}
    for item in fleet.rendered:
        for parts in by_set(item.workloads).values() if item.workloads else ():
            workload = parts[0]
            engine = engines().get(workload.server.line.engine)
            if engine is None:
                continue
            if item.source.owner not in compared:
                yield from _check_world(workload, engine)
            if Setting.NODES in engine.settings:
                yield from _check_nodes(workload, engine)


def _members(workload: Workload) -> list[_GroupEngine]:
    """Return the engines of a group, that of the pods that receive requests first."""
    server = workload.server
    own = engine_line(server.line)
    members = [] if own is None else [_GroupEngine(pods=1, line=own, field=server.args)]
    templates = workload.pod_templates
    if len(templates) == 1 and members:
        return [replace(members[0], pods=templates[0].pods)]
    for template in templates[1:]:
        for position, container in enumerate(template.body["spec"]["containers"]):
            line = command_line_of(container)
            read = engine_line(line) if line.engine == server.line.engine else None
            if read is not None:
                path = _worker_path(server.args.path, template.field.path, position)
                members.append(_GroupEngine(pods=template.pods, line=read, field=replace(server.args, path=path)))
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


def _program_without_groups(engine: Engine) -> str:
    """Return the module that cannot start a follower; empty if every program can."""
    commands = (row["instead"]["command"] for row in engine.groups if row.get("instead"))
    return next((str(command[-1]) for command in commands), "")


def _check_world(workload: Workload, engine: Engine) -> Iterator[Problem]:
    """Report degrees of parallelism that need more accelerators than a replica, or a pod of it, has."""
    line, container = workload.server.line, workload.container
    layout = _layout(workload)
    per_pod, total = _accelerators(workload.pods)
    if layout is None or layout.tensor is None or layout.pipeline is None or not total:
        return
    own = engine_line(line) or line
    # With attention in data parallel, the copies share the accelerators of one.
    copies = 1 if own.holds(Setting.ATTENTION_PARALLEL) else layout.data
    world = layout.tensor * layout.pipeline
    needed = world * copies
    flags = [engine.flag(setting) for setting in (Setting.TENSOR_PARALLEL, Setting.PIPELINE_PARALLEL)]
    degrees = f"{flags[0]} {layout.tensor}"
    degrees += f", {flags[1]} {layout.pipeline}" if layout.pipeline > 1 else ""
    degrees += f", {engine.flag(Setting.DATA_PARALLEL)} {copies}" if copies > 1 else ""
    field = workload.server.field_of(Setting.TENSOR_PARALLEL)
    if needed > total and not own.holds(Setting.NODES) and copies > 1 and world <= total:
        return  # ranks of data parallelism may be in other workloads
    if needed > total:
        yield field.problem(
            f"needs {needed} accelerators ({degrees}), but a replica has {total} (container {container['name']!r}), "
            "so that the engine does not start; lower it, or request more accelerators",
            Severity.ERROR,
            RuleId.GPUS_MISMATCH,
        )
        return
    nodes = _GroupEngine(pods=1, line=own, field=field).value(Setting.NODES)
    # Another number of nodes than pods is reported for itself.
    if nodes == workload.size > 1 and (world % nodes or world // nodes > per_pod):
        yield field.problem(
            f"{degrees} on {nodes} nodes needs {world}/{nodes} accelerators of each pod, which has {per_pod}; set "
            "the degrees so that their product is the accelerators of all nodes",
            Severity.ERROR,
            RuleId.GPUS_MISMATCH,
        )


def _layout(workload: Workload) -> ModelLayout | None:
    container = workload.container
    env = container.get("env") or ()
    variables = tuple((str(entry["name"]), str(entry["value"]) if "value" in entry else None) for entry in env)
    settings = memory_settings_of(workload.server.line, variables, more=bool(container.get("envFrom")))
    if not isinstance(settings, str):
        return settings.layout
    # Engines without a table of flags, whose degrees are read from their words.
    line = workload.server.line
    tensor, pipeline = line.number_of(Setting.TENSOR_PARALLEL), line.number_of(Setting.PIPELINE_PARALLEL)
    is_unread = line.reading is None and not line.is_script and (tensor or pipeline)
    return ModelLayout(tensor=tensor or 1, pipeline=pipeline or 1) if is_unread else None


def _accelerators(pods: Iterable[PodDemand]) -> tuple[int, int]:
    """Return the accelerators of the pod with the most, and of a whole replica."""
    counts = [
        (int(amount), int(amount) * demand.per_replica)
        for demand in pods
        for key, amount in demand.requests.items()
        if is_accelerator(key)
    ]
    return max((count for count, _ in counts), default=0), sum(count for _, count in counts)
