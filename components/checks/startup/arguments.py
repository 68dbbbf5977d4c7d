"""Arguments with which an engine does not start, as its own checks refuse them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...engines.images import parse_image
from ...engines.registry import engine_of, engines
from ...engines.scripts.commands import engine_line
from ...engines.startup.faults import StartFault, start_faults
from ...fleet.origins import Origin
from ...fleet.rendered import Fleet
from ...fleet.workloads import Server, by_set


def check_start(fleet: Fleet) -> Iterator[Problem]:
    """Report the arguments of serving containers that their engines refuse."""
    for item in fleet.rendered:
        for workloads in by_set(item.workloads).values() if item.workloads else ():
            server, container = workloads[0].server, workloads[0].container
            yield from _repeated_start(server, container)
            line = engine_line(server.line)
            # A Secret or ConfigMap may have a variable that lifts a rule.
            if line is None or container.get("envFrom"):
                continue
            variables = {entry["name"] for entry in container.get("env") or ()}
            for fault in start_faults(line, variables):
                yield _field(server, fault).problem(fault.reason, rule=RuleId.START_REFUSED)


def _repeated_start(server: Server, container: Mapping[str, Any]) -> Iterator[Problem]:
    """Report arguments of an image that begin with the subcommand of its entrypoint."""
    image = parse_image(str(container.get("image") or ""))
    engine = engine_of(image.repository)
    args = container.get("args") or ()
    if not server.is_written or engine is None or container.get("command") or not engine.started:
        return
    if args[:1] == [engine.started]:
        program = engine.programs[0]
        reason = (
            f"the entrypoint of {image.repository} starts the server itself, and does not know the argument "
            f"{engine.started!r}, with which the container exits; add command: [{program}] to the container"
        )
        origin = replace(server.args, path=f"{server.args.path}[0]")
        yield origin.problem(reason, rule=RuleId.START_REFUSED)


def _field(server: Server, fault: StartFault) -> Origin:
    """Return the field that sets the flag: one of the family, or the argument."""
    engine = engines()[server.line.engine]
    setting = next((setting for setting, flags in engine.settings.items() if fault.flag in flags), None)
    field = server.argument(fault.position)
    return server.fields.get(setting, field) if setting and field == server.args else field
