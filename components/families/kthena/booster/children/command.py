"""What the engine of a role is started with (Kthena spec 2.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .....engines.command_line import CommandLine
from .....engines.flags.configured import words_of_config
from .....engines.flags.tables import flags_of
from .....engines.groups import GroupVariables, group_lines
from .....engines.images import parse_image
from .....engines.pairs.filling import pair_lines
from .....engines.pairs.needs import needs_of
from .....engines.pairs.rows import Stage
from .....engines.served.adapters import with_adapters
from .....engines.settings import Setting
from .....fleet.instances import fabrics
from .....fleet.objects import Object
from .....fleet.placement import requested_by
from ..facts import Started
from ..setup import RoleOf
from .weights import Weights

_GROUP = GroupVariables("ENTRY_ADDRESS", "GROUP_SIZE", "WORKER_INDEX")
"""What every pod of a ModelServing is told of its role instance (Kthena spec 3.2)."""
_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  clients come from other pods


@dataclass(frozen=True, slots=True)
class Commands:
    """What the pods of a role instance run.

    Attributes:
        served: What clients ask the engine for.
        port: Where it listens.
        variables: What its containers need beside those of all engines.
    """

    entry: CommandLine
    worker: CommandLine
    served: str
    port: int
    variables: tuple[Object, ...] = ()


def commands_of(roles: Sequence[RoleOf], weights: Weights) -> tuple[Commands, ...]:
    """Return what the pods of each role run: one argument list, whose words no shell reads (D-07)."""
    lines = [_line(role, weights) for role in roles]
    if roles[0].part.is_disaggregated:
        lines = [*pair_lines(roles[0].part.started.known, *lines, efa=all(map(_asks_for_efa, roles)))]
    return tuple(_commands(role, line) for role, line in zip(roles, lines, strict=True))


def _asks_for_efa(role: RoleOf) -> bool:
    return not fabrics().keys().isdisjoint(requested_by({"containers": [{"resources": role.worker.resources}]}))


def _commands(role: RoleOf, line: CommandLine) -> Commands:
    engine = role.part.started.known
    served = line.value_of(Setting.SERVED_NAME) or role.part.model
    port = line.number_of(Setting.PORT) or engine.port or 0
    entry, worker = (line, line) if role.pods == 1 else group_lines(engine, line, _GROUP)
    return Commands(entry, worker, served, port, tuple(_variables(role, line)))


def _variables(role: RoleOf, line: CommandLine) -> Iterator[Object]:
    """Yield the variables by which prefill and decode find one another."""
    if not role.part.is_disaggregated:
        return
    own = {each["name"]: str(each.get("value") or "") for each in role.part.env}
    for each in needs_of(line, Stage(role.name), own).variables:
        field = {"valueFrom": {"fieldRef": {"fieldPath": each.field}}}
        yield {"name": each.name, **(field if each.field else {"value": each.value})}


def words_of(role: RoleOf) -> list[tuple[str, str]]:
    """Return the arguments that the config of a worker becomes, each word with its key."""
    return words_of_config(role.part.started.known.name, _tag(role), role.config)


def _tag(role: RoleOf) -> str:
    image = parse_image(role.worker.image or "")
    return role.part.started.known.version_tag(image.repository, image.tag)


def _line(role: RoleOf, weights: Weights) -> CommandLine:
    part, started = role.part, role.part.started
    engine, tag = started.known, _tag(role)
    words = [word for word, _ in words_of(role)]
    own = CommandLine(engine.name, tag, words, started.command)
    args = [engine.flag(Setting.MODEL) or "", weights.model, *words]
    for setting, value in _defaults(role):
        flag = engine.flag(setting)
        if flag and not own.holds(setting):
            args += (flag, value) if value else (flag,)
    if part.setup.runtime and not own.holds(*started.events[:1]) and _knows(started, tag):
        args += started.events
    return with_adapters(engine, CommandLine(engine.name, tag, args, started.command), dict(weights.adapters))


def _defaults(role: RoleOf) -> Sequence[tuple[Setting, str]]:
    """Return what the engine is told unless config says it.

    The router, and clients, ask for the booster's name; an engine that is not told its name has that of its folder.
    """
    host = ((Setting.HOST, _EVERY_ADDRESS),) if role.part.started.host else ()
    return ((Setting.SERVED_NAME, role.part.model), *host, (Setting.METRICS, ""))


def _knows(started: Started, tag: str) -> bool:
    """Tell whether the version in a tag can tell of its cache; it would refuse to start otherwise."""
    table = flags_of(started.engine)
    flags = started.events[:1]
    return bool(flags) and (table is None or any(flag.name in flags for flag in table.known_to(tag)))
