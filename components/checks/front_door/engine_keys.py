"""Servers with an API key of their own behind a gateway that authenticates clients.

The gateway takes the credentials of clients out of requests (``sanitize`` of its SecurityPolicy), and a token of the
issuer is no key of a server either: such a server answers 401 to every client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.command_line import CommandLine
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import assigned_variables, engine_line
from ...engines.settings import Setting
from ...fleet.objects import Object, key_of
from ...fleet.rendered import Fleet
from ...fleet.workloads import Workload
from .settings import Door
from .words import AuthKind, Exposure

_SOURCES = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
"""The kinds of objects whose keys become variables, by their fields in ``envFrom``."""


def check_engine_keys(fleet: Fleet, door: Door, others: Iterable[Object] = ()) -> Iterator[Problem]:
    """Report servers that require a key which no request through the gateway has.

    Args:
        fleet: The models. The endpoint of a server may be that of another resource, which routes to it.
        door: Settings of the front door.
        others: Objects of other APIs, among which the Secrets and ConfigMaps that set variables may be.
    """
    if door.expose != Exposure.GATEWAY or door.auth.kind == AuthKind.NONE:
        return
    # It recognizes engines by their traces in images and scripts, which nothing else of a plan needs.
    from ...engines.serving import serving_line

    reached = frozenset[tuple[str, str]]().union(*(endpoint.backend_keys for _, endpoint in fleet.endpoints))
    keys = {key_of(body): _keys(body) for body in others if body["kind"] in _SOURCES.values()}
    for _, workload in fleet.workloads:
        # An image of one's own may start a known engine in a script.
        line = serving_line(workload.container) or workload.server.line
        engine = engines().get(line.engine)
        if engine is None or not workload.backend_keys & reached:
            continue
        field = workload.server.field_of(Setting.API_KEY)
        rejects = f"the gateway, which authenticates clients (frontDoor.auth: {door.auth.kind}), passes none on"
        remedy = "set hardening.networkPolicies, so that only the gateway may connect"
        named = key_setting(workload, line, engine)
        unknown = []
        for source, prefix in _sources(workload):
            variables = [name for name in engine.key_variables if name.startswith(prefix)]
            if source not in keys:
                unknown += [(variables, source)] if variables else []
            elif not named:
                named = next((name for name in variables if name.removeprefix(prefix) in keys[source]), "")
        if named:
            yield field.problem(
                f"the server requires a key of its own ({named}), and {rejects}: every request is answered with 401; "
                f"remove {named}, and {remedy}",
                rule=RuleId.ACCESS_ENGINE_KEY,
            )
        elif unknown:
            variables, (kind, _, name) = unknown[0]
            yield field.problem(
                f"the keys of {kind} {name} (envFrom) are not known; with {' or '.join(variables)} among them, the "
                f"server requires a key of its own, and {rejects}: every request would be answered with 401; leave "
                f"it out there, and {remedy}",
                Severity.NOTE,
                RuleId.ACCESS_ENGINE_KEY,
            )


def key_setting(workload: Workload, line: CommandLine, engine: Engine) -> str:
    """Return the flag or variable with which a server requires a key; empty if it requires none.

    Args:
        workload: The workload of the server.
        line: Its command line.
        engine: Its engine.
    """
    read = engine_line(line) or line
    flag = next((flag for flag in engine.settings.get(Setting.API_KEY, ()) if read.holds(flag)), "")
    if flag:
        return flag
    variables = {str(variable.get("name")) for variable in workload.container.get("env") or () if _is_set(variable)}
    variables |= {name for name, value in assigned_variables(line).items() if value}
    return next((name for name in engine.key_variables if name in variables), "")


def _is_set(variable: Mapping[str, object]) -> bool:
    return bool(variable.get("value") or variable.get("valueFrom"))


def _sources(workload: Workload) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield the objects whose keys become variables of a server, each with the prefix of the variables."""
    for entry in workload.container.get("envFrom") or ():
        for field, kind in _SOURCES.items():
            if entry.get(field):
                yield (kind, workload.namespace, str(entry[field].get("name"))), str(entry.get("prefix") or "")


def _keys(body: Object) -> frozenset[str]:
    """Return the keys of a Secret or ConfigMap that have a value."""
    entries: list[Any] = [body.get("data"), body.get("stringData")]
    return frozenset(
        str(key) for each in entries if isinstance(each, Mapping) for key, value in each.items() if value
    )
