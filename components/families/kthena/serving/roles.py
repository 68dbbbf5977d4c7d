"""The roles of a ModelServing: their pods, and the container in them that serves."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ....contract.findings.collector import Unrenderable
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....engines.command_line import command_line_of
from ....engines.registry import Engine, engines
from ....engines.settings import Setting
from ....engines.shell import expanded_variables
from ....fleet.objects import Object
from ....fleet.origins import ProblemSource
from ....fleet.serving import check_containers, declared_port, require_containers, server_of
from ....fleet.workloads import LWS_VARIABLES, Server, SpreadField
from ..made import Behind, behind
from ..types.model_serving import Role
from .asked import AskedServing
from .pods import GROUP_VARIABLES, Template, complete

_PARTS = ("entryTemplate", "workerTemplate")
_VARIABLE = re.compile(r"[A-Za-z]+(_[A-Za-z0-9]+)+")
_OF_SETS = frozenset(asdict(LWS_VARIABLES).values())
_RUNTIMES = ("kthena/runtime", "volcano-sh/runtime")
"""Images of the container that Kthena puts beside an engine."""


Listening = tuple[Server, int]
"""The container of a role that serves, and where that listens; 0 where it is not known."""


@dataclass(frozen=True, slots=True)
class RolePods:
    """The pods of one role.

    Attributes:
        path: The field of the role.
        worker: The workers beside an entry pod; None without.
        server: The container of the entry pods that serves.
        port: Where it listens; 0 where that is not known.
    """

    path: str
    role: Role
    entry: Template
    worker: Template | None
    server: Server
    port: int

    @property
    def name(self) -> str:
        """Name of the role."""
        return self.role.name

    @property
    def line_path(self) -> str:
        """The field that its server is started with."""
        place = self.server.args.path
        return place if self.server.line.args else f"{place.removesuffix('.args')}.command"

    @property
    def container(self) -> Object:
        """The container that serves."""
        container: Object = self.entry.spec["containers"][self.server.position]
        return container


def roles_of(asked: AskedServing, servers: Mapping[str, Listening] | None = None) -> list[RolePods]:
    """Return the pods of each role.

    Args:
        asked: The ModelServing.
        servers: What serves in each role by its field, where that is known.

    Raises:
        Unrenderable: a template has no containers; it is in the findings.
    """
    lacking = False
    for path, role in asked.roles:
        try:
            _check(asked, path, role)
        except Unrenderable:
            lacking = True
    if lacking:
        raise Unrenderable
    return [_role(asked, path, role, (servers or {}).get(path)) for path, role in asked.roles]


def server_in(role: Role, source: ProblemSource, path: str) -> Listening:
    """Return the container of a role that serves, and where it listens; 0 where that is not known.

    Args:
        role: A role whose entry pods have containers.
        source: The ModelServing.
        path: The field of the role.
    """
    containers = (role.entry_template.spec or {})["containers"]
    lines = [command_line_of(container) for container in containers]
    preferred = "" if any(line.engine for line in lines) else _preferred(containers)
    server = server_of(containers, source, f"{path}.entryTemplate.spec.containers", preferred, lines)
    engine = engines().get(server.line.engine)
    if engine and isinstance(source, Behind):
        server = replace(server, spread=_spread_of_booster(engine))
    port = declared_port(containers[server.position], server.line) or (engine.port if engine else None) or 0
    return server, port


def _spread_of_booster(engine: Engine) -> SpreadField | None:
    """Return how the config of a worker sets parallelism: its keys are the engine's flags."""
    keys = [
        flag.removeprefix("--")
        for setting in (Setting.TENSOR_PARALLEL, Setting.PIPELINE_PARALLEL)
        if (flag := engine.flag(setting))
    ]
    if not keys:
        return None
    tensor = f"{keys[0]}: {{tensor}}"
    both = f"{tensor}, {keys[1]}: {{pipeline}}" if len(keys) > 1 else ""
    return SpreadField(f"set config: {{{tensor}}}", f"set config: {{{both}}}" if both else "")


def ports_in(role: Role, listening: int) -> list[int]:
    """Return where a role's server listens, if that is known, then whatever else its entry pods declare."""
    containers = (role.entry_template.spec or {}).get("containers") or ()
    declared = [port for container in containers for port in container.get("ports") or ()]
    numbers = [int(port["containerPort"]) for port in declared if port.get("protocol", "TCP") == "TCP"]
    return list(dict.fromkeys([*([listening] if listening else []), *numbers]))


def _role(asked: AskedServing, path: str, role: Role, known: Listening | None) -> RolePods:
    entry = complete(asked, f"{path}.entryTemplate", role.name, role.entry_template, entry=True)
    worker = None
    if role.worker_replicas and role.worker_template is not None:
        worker = complete(asked, f"{path}.workerTemplate", role.name, role.worker_template, entry=False)
    return RolePods(path, role, entry, worker, *(known or server_in(role, behind(asked.source), path)))


def _preferred(containers: list[Object]) -> str:
    """Return the container that serves where no image tells: the first one that is not Kthena's own."""
    others = (container for container in containers if not _is_runtime(container))
    return str(next(others, containers[0])["name"])


def _is_runtime(container: Mapping[str, Any]) -> bool:
    image = str(container.get("image") or "").partition("@")[0]
    return any(f"/{known}:" in f"/{image}:" for known in _RUNTIMES)


def _check(asked: AskedServing, path: str, role: Role) -> None:
    """Report what no pod can be made of, and what is set and never reaches one."""
    written: Object = {
        part: {"spec": template.spec}
        for part, template in zip(_PARTS, (role.entry_template, role.worker_template), strict=True)
        if template is not None
    }
    if not role.worker_replicas:
        _check_unused(asked, path, written.pop("workerTemplate", None))
    elif role.worker_template is None:
        reason = (
            f"is required with workerReplicas {role.worker_replicas}: the group would wait for its workers for ever; "
            "add it, or set workerReplicas to 0"
        )
        raise asked.findings.fail(f"{path}.workerTemplate", reason)
    require_containers(written, path, asked.findings, _PARTS)
    check_containers(written, path, asked.findings, _PARTS)
    for part in _PARTS:
        _check_variables(asked, f"{path}.{part}.spec", (written.get(part) or {}).get("spec") or {})


def _check_unused(asked: AskedServing, path: str, template: Object | None) -> None:
    if ((template or {}).get("spec") or {}).get("containers"):
        reason = "has no effect: workerReplicas is 0; set the number of workers, or remove the template"
        asked.findings.warn(f"{path}.workerTemplate", reason, RuleId.FIELD_NO_EFFECT)


def _check_variables(asked: AskedServing, path: str, pod: Object) -> None:
    for field in ("initContainers", "containers"):
        for position, container in enumerate(pod.get(field) or ()):
            place = f"{path}.{field}[{position}]"
            for index, variable in enumerate(container.get("env") or ()):
                if variable["name"] in GROUP_VARIABLES:
                    reason = f"has no effect: every container gets its own {variable['name']}; remove it"
                    asked.findings.warn(f"{place}.env[{index}]", reason, RuleId.FIELD_NO_EFFECT)
            _check_references(asked, place, container)


def _check_references(asked: AskedServing, place: str, container: Object) -> None:
    """Report variables that a command refers to and no pod has: upstream's own sample has one.

    Names of programs, which a shell runs in such brackets too, are no such words.
    """
    if container.get("envFrom"):
        return
    for field in ("command", "args"):
        words = [text for text in map(str, container.get(field) or ()) if "$" in text]
        if not words:
            continue
        names = {name for text in words for name in expanded_variables(text)}
        own = {*GROUP_VARIABLES, *(variable["name"] for variable in container.get("env") or ())}
        for name in sorted(name for name in names - own - _OF_SETS if _VARIABLE.fullmatch(name)):
            hint = did_you_mean(name, own) or f"; the address of the entry pod is $({GROUP_VARIABLES[1]})"
            reason = f"refers to $({name}), and the container has no such variable{hint}"
            asked.findings.warn(f"{place}.{field}", reason, RuleId.REFERENCE_ELSEWHERE)
