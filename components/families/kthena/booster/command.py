"""The command line of the engine in each role (Kthena spec 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....engines.command_line import CommandLine
from ....engines.flags.configured import words_of_config
from ....engines.flags.tables import flags_of
from ....engines.groups import GroupVariables, group_lines
from ....engines.images import parse_image
from ....engines.pairs.filling import pair_lines
from ....engines.pairs.needs import needs_of
from ....engines.pairs.rows import Stage
from ....engines.served.adapters import with_adapters
from ....engines.settings import Setting
from ....fleet.instances import fabrics
from ....fleet.objects import Object
from ....fleet.placement import requested_by
from .context import BackendRole
from .weights import Weights

GROUP_VARIABLES = GroupVariables("ENTRY_ADDRESS", "GROUP_SIZE", "WORKER_INDEX")
"""Variables that Kthena sets in every pod of a ModelServing (Kthena spec 3.2)."""


@dataclass(frozen=True, slots=True)
class Commands:
    """The command lines of a role instance.

    Attributes:
        served: The model name that the engine serves.
        port: The port of the engine.
        variables: Variables of these containers, besides those of every engine.
    """

    entry: CommandLine
    worker: CommandLine
    served: str
    port: int
    variables: tuple[Object, ...] = ()


def commands_of(roles: Sequence[BackendRole], weights: Weights) -> tuple[Commands, ...]:
    """Return the command lines of each role, as lists of arguments that no shell interprets (D-07)."""
    backend = roles[0].backend
    engine = backend.engine.definition
    lines = [_command_line(role, weights) for role in roles]
    if backend.is_disaggregated:
        containers = [{"containers": [{"resources": role.worker.resources}]} for role in roles]
        has_efa = all(not fabrics().keys().isdisjoint(requested_by(spec)) for spec in containers)
        lines = [*pair_lines(engine, *lines, efa=has_efa)]
    commands = []
    for role, line in zip(roles, lines, strict=True):
        served = line.value_of(Setting.SERVED_NAME) or backend.model
        port = line.number_of(Setting.PORT) or engine.port or 0
        entry, worker = (line, line) if role.pods == 1 else group_lines(engine, line, GROUP_VARIABLES)
        variables: tuple[Object, ...] = ()
        if backend.is_disaggregated:
            # Variables with which prefill and decode connect to each other.
            env = {variable["name"]: str(variable.get("value") or "") for variable in backend.env}
            variables = tuple(
                {"name": need.name, "valueFrom": {"fieldRef": {"fieldPath": need.field}}}
                if need.field
                else {"name": need.name, "value": need.value}
                for need in needs_of(line, Stage(role.name), env).variables
            )
        commands.append(Commands(entry, worker, served, port, variables))
    return tuple(commands)


def config_arguments(role: BackendRole) -> list[tuple[str, str]]:
    """Return the arguments that the config of a worker becomes, each with the key it came from."""
    return words_of_config(role.backend.engine.definition.name, _version_tag(role), role.config)


def _command_line(role: BackendRole, weights: Weights) -> CommandLine:
    facts = role.backend.engine
    engine, tag = facts.definition, _version_tag(role)
    words = [word for word, _ in config_arguments(role)]
    config = CommandLine(engine.name, tag, words, facts.command)
    # Without a name, an engine serves the model under the path of its folder, and no request would match it.
    defaults = [(Setting.SERVED_NAME, role.backend.model)]
    if facts.host:
        defaults.append((Setting.HOST, "0.0.0.0"))  # noqa: S104  clients are in other pods
    defaults.append((Setting.METRICS, ""))
    args = [engine.flag(Setting.MODEL) or "", weights.model, *words]
    for setting, value in defaults:
        flag = engine.flag(setting)
        if flag and not config.holds(setting):
            args += (flag, value) if value else (flag,)
    event_flags = facts.events[:1]
    if role.backend.options.runtime and event_flags and not config.holds(*event_flags):
        table = flags_of(facts.engine)
        # A version that does not have the flag would refuse to start.
        if table is None or any(flag.name in event_flags for flag in table.known_to(tag)):
            args += facts.events
    return with_adapters(engine, CommandLine(engine.name, tag, args, facts.command), dict(weights.adapters))


def _version_tag(role: BackendRole) -> str:
    image = parse_image(role.worker.image or "")
    return role.backend.engine.definition.version_tag(image.repository, image.tag)
