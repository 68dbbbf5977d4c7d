"""What the engine of a role is started with (Kthena spec 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from .....engines.command_line import CommandLine
from .....engines.flags.configured import config_words
from .....engines.flags.tables import flags_of
from .....engines.groups import GroupVariables, group_lines
from .....engines.images import image_of
from .....engines.settings import Setting
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
    """

    entry: CommandLine
    worker: CommandLine
    served: str
    port: int


def commands_of(role: RoleOf, weights: Weights) -> Commands:
    """Return what the pods of a role instance run: one argument list, whose words no shell reads (D-07)."""
    started = role.part.started
    line = _line(role, weights)
    served = line.value_of(Setting.SERVED_NAME) or role.part.model
    port = line.number_of(Setting.PORT) or started.known.port or 0
    if role.pods == 1:
        return Commands(line, line, served, port)
    entry, worker = group_lines(started.known, line, _GROUP)
    return Commands(entry, worker, served, port)


def _line(role: RoleOf, weights: Weights) -> CommandLine:
    part, started = role.part, role.part.started
    engine = started.known
    image = image_of(role.worker.image or "")
    tag = engine.dated(image.repository, image.tag)
    words = [word for word, _ in config_words(engine.name, tag, role.config)]
    own = CommandLine(engine.name, tag, words, started.command)
    args = [engine.flag(Setting.MODEL) or "", weights.model, *words]
    for setting, value in _defaults(role):
        flag = engine.flag(setting)
        if flag and not own.holds(setting):
            args += (flag, value) if value else (flag,)
    if part.setup.runtime and not own.holds(*started.events[:1]) and _knows(started, tag):
        args += started.events
    if weights.adapters:
        args += [*started.adapters, *(f"{name}={folder}" for name, folder in weights.adapters)]
    return CommandLine(engine.name, tag, args, started.command)


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
