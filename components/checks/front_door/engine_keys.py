"""Servers with an API key of their own behind a gateway that authenticates clients.

The gateway takes the credentials of clients out of requests (``sanitize`` of its SecurityPolicy), and a token of the
issuer is no key of a server either: such a server answers 401 to every client.
"""

from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload
from .settings import Door
from .words import AuthKind, Exposure


def check_engine_keys(fleet: Fleet, door: Door) -> Iterator[Problem]:
    """Report servers that require a key which no request through the gateway has."""
    if door.expose != Exposure.GATEWAY or door.auth.kind == AuthKind.NONE:
        return
    for item in fleet.rendered:
        backends = {(item.namespace, backend.service) for each in item.endpoints for backend in each.backends}
        for workload in item.workloads if backends else ():
            named = key_setting(workload)
            if named:
                yield workload.server.field_of(Setting.API_KEY).problem(
                    f"the server requires a key of its own ({named}), and the gateway, which authenticates clients "
                    f"(frontDoor.auth: {door.auth.kind}), passes none on: every request is answered with 401; remove "
                    f"{named}, and set hardening.networkPolicies, so that only the gateway may connect",
                    rule=RuleId.ACCESS_ENGINE_KEY,
                )


def key_setting(workload: Workload) -> str:
    """Return the flag or variable with which a server requires a key; empty if it requires none."""
    line = workload.server.line
    engine = engines().get(line.engine)
    if engine is None:
        return ""
    flags = engine.settings.get(Setting.API_KEY, ())
    flag = next((flag for flag in flags if line.holds(flag)), "")
    if flag:
        return flag
    variables = {str(variable.get("name")) for variable in workload.container.get("env") or () if _is_set(variable)}
    return next((name for name in engine.key_variables if name in variables), "")


def _is_set(variable: dict[str, object]) -> bool:
    return bool(variable.get("value") or variable.get("valueFrom"))
