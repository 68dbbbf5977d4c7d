"""Arguments with which an engine does not start, as its own checks refuse them."""

from collections.abc import Iterator
from dataclasses import replace

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...engines.registry import engines
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
            line = engine_line(server.line)
            # A Secret or ConfigMap may have a variable that lifts a rule.
            if line is None or container.get("envFrom"):
                continue
            variables = {entry["name"] for entry in container.get("env") or ()}
            for fault in start_faults(line, variables):
                yield _field(server, fault).problem(fault.reason, rule=RuleId.START_REFUSED)


def _field(server: Server, fault: StartFault) -> Origin:
    """Return the field that sets the flag: one of the family, or the argument."""
    engine = engines()[server.line.engine]
    setting = next((setting for setting, flags in engine.settings.items() if fault.flag in flags), None)
    if setting is not None and setting in server.fields:
        return server.fields[setting]
    if server.is_written and server.line.reading is not None and fault.position >= 0:
        return replace(server.args, path=f"{server.args.path}[{fault.position}]")
    return server.args
