"""The roles of a ModelServing: their pods, the serving container, and their stage in a disaggregated pair."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from ....contract.findings.collector import Unrenderable
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....engines.command_line import command_line_of
from ....engines.pairs.reading import transfer_of
from ....engines.pairs.rows import Stage
from ....engines.registry import Engine, engines
from ....engines.settings import Setting
from ....engines.shell import expanded_variables
from ....fleet.objects import Object
from ....fleet.origins import ProblemSource
from ....fleet.serving import check_containers, declared_port, require_containers, server_of
from ....fleet.workloads import LWS_VARIABLES, Server, SpreadField
from ..generated import GeneratedOrigin, origin_of
from ..prices import cost_of
from ..types.model_serving import Role
from .context import ServingContext
from .pods import GROUP_VARIABLES, Template, pod_template

PAIR = (Stage.PREFILL, Stage.DECODE)
_TEMPLATES = ("entryTemplate", "workerTemplate")
# Programs, which a shell runs in the same brackets, have no such names.
_VARIABLE = re.compile(r"[A-Za-z]+(_[A-Za-z0-9]+)+")
_LWS_VARIABLES = frozenset(asdict(LWS_VARIABLES).values())
_LWS_NAMES = (LWS_VARIABLES.size, LWS_VARIABLES.leader, LWS_VARIABLES.index)
"""In the order of ``GROUP_VARIABLES``."""
_SIDECARS = ("kthena/runtime", "volcano-sh/runtime")
"""Images of the container that Kthena adds next to an engine."""

ServerPort = tuple[Server, int]
"""The serving container of a role and its port; 0 if the port is unknown."""


@dataclass(frozen=True, slots=True)
class RolePods:
    """The pods of one role.

    Attributes:
        path: The field of the role.
        worker: The template of the workers; None without workers.
        server: The serving container of the entry pods.
        port: Its port; 0 if unknown.
    """

    path: str
    role: Role
    entry: Template
    worker: Template | None
    server: Server
    port: int

    @property
    def name(self) -> str:
        return self.role.name

    @property
    def templates(self) -> list[tuple[str, Template]]:
        """The templates, each with its field."""
        entry = (f"{self.path}.entryTemplate", self.entry)
        return [entry, (f"{self.path}.workerTemplate", self.worker)] if self.worker else [entry]

    @property
    def line_path(self) -> str:
        """The field with the command line of the server: args, or command if there are no args."""
        args = self.server.args.path
        return args if self.server.line.args else f"{args.removesuffix('.args')}.command"

    @property
    def container(self) -> Object:
        """The serving container."""
        container: Object = self.entry.spec["containers"][self.server.position]
        return container


def roles_of(serving: ServingContext, servers: Mapping[str, ServerPort] | None = None) -> list[RolePods]:
    """Return the pods of each role.

    Args:
        serving: The ModelServing.
        servers: The serving containers that are already known, by the field of the role.

    Raises:
        Unrenderable: a template has no containers, or workers have no template; it is in the findings.
    """
    failed = False
    for path, role in serving.roles:
        try:
            _check_templates(serving, path, role)
        except Unrenderable:
            failed = True
    if failed:
        raise Unrenderable
    roles = []
    for path, role in serving.roles:
        entry = pod_template(serving, f"{path}.entryTemplate", role.name, role.entry_template, entry=True)
        worker = None
        if role.worker_replicas and role.worker_template is not None:
            worker = pod_template(serving, f"{path}.workerTemplate", role.name, role.worker_template, entry=False)
        server = (servers or {}).get(path) or server_in(role, origin_of(serving.source), path)
        roles.append(RolePods(path, role, entry, worker, *server))
    return roles


def server_in(role: Role, source: ProblemSource, path: str) -> ServerPort:
    """Return the serving container of a role and its port.

    Args:
        role: A role whose entry pods have containers.
        source: The ModelServing.
        path: The field of the role.
    """
    containers = (role.entry_template.spec or {})["containers"]
    lines = [command_line_of(container) for container in containers]
    preferred = ""
    if not any(line.engine for line in lines):
        # The images do not identify the serving container: use the first one that Kthena did not add.
        images = [f"/{str(container.get('image') or '').partition('@')[0]}:" for container in containers]
        sidecars = [any(f"/{sidecar}:" in image for sidecar in _SIDECARS) for image in images]
        preferred = str(containers[sidecars.index(False) if False in sidecars else 0]["name"])
    server = server_of(containers, source, f"{path}.entryTemplate.spec.containers", preferred, lines)
    engine = engines().get(server.line.engine)
    if engine and isinstance(source, GeneratedOrigin):
        server = replace(server, spread=_booster_spread_field(engine))
    port = declared_port(containers[server.position], server.line) or (engine.port if engine else None) or 0
    return server, port


def _booster_spread_field(engine: Engine) -> SpreadField | None:
    """Return how to set parallelism in the config of a ModelBooster's worker, whose keys are the engine's flags."""
    flags = [engine.flag(setting) for setting in (Setting.TENSOR_PARALLEL, Setting.PIPELINE_PARALLEL)]
    keys = [flag.removeprefix("--") for flag in flags if flag]
    if not keys:
        return None
    tensor = f"{keys[0]}: {{tensor}}"
    both = f"{tensor}, {keys[1]}: {{pipeline}}" if len(keys) > 1 else ""
    return SpreadField(f"set config: {{{tensor}}}", f"set config: {{{both}}}" if both else "")


def ports_in(role: Role, server_port: int) -> list[int]:
    """Return the port of a role's server, if it is known, then the other TCP ports that its entry pods declare."""
    numbers = [server_port] if server_port else []
    for container in (role.entry_template.spec or {}).get("containers") or ():
        declared = container.get("ports") or ()
        numbers += [int(port["containerPort"]) for port in declared if port.get("protocol", "TCP") == "TCP"]
    return list(dict.fromkeys(numbers))


def stages_of(roles: list[RolePods]) -> Mapping[str, Stage]:
    """Return the prefill and decode roles by name; other roles serve whole requests.

    Roles named prefill and decode are always a pair; command lines that contradict that are reported.
    Otherwise the command lines decide.
    """
    stages: dict[str, Stage] = {}
    for role in roles:
        transfer = transfer_of(role.server.line)
        if transfer and transfer.role in PAIR:
            stages[role.name] = transfer.role
    names = {role.name.lower(): role.name for role in roles}
    if all(stage in names for stage in PAIR):
        stages |= {names[stage]: stage for stage in PAIR}
    return stages


def replica_cost(serving: ServingContext) -> int | None:
    """Return the price of a serving group in US cents per hour, rounded up; None if it is unknown."""
    try:
        roles = roles_of(serving)
    except Unrenderable:
        return None
    pods = [(role.entry, role.role.replicas) for role in roles]
    pods += [(role.worker, role.role.replicas * role.role.worker_replicas) for role in roles if role.worker]
    return cost_of(template.demand(count, per_replica=count) for template, count in pods)


def _check_templates(serving: ServingContext, path: str, role: Role) -> None:
    """Report templates that no pod can be created from, and settings that have no effect.

    Raises:
        Unrenderable: a template has no containers, or workers have no template; it is in the findings.
    """
    templates: Object = {
        field: {"spec": template.spec}
        for field, template in zip(_TEMPLATES, (role.entry_template, role.worker_template), strict=True)
        if template is not None
    }
    if not role.worker_replicas:
        unused = templates.pop("workerTemplate", None) or {}
        if (unused.get("spec") or {}).get("containers"):
            reason = "has no effect: workerReplicas is 0; set the number of workers, or remove the template"
            serving.findings.warn(f"{path}.workerTemplate", reason, RuleId.FIELD_NO_EFFECT)
    elif role.worker_template is None:
        reason = (
            f"is required with workerReplicas {role.worker_replicas}: the group would wait for its workers forever; "
            "add it, or set workerReplicas to 0"
        )
        raise serving.findings.fail(f"{path}.workerTemplate", reason)
    require_containers(templates, path, serving.findings, _TEMPLATES)
    check_containers(templates, path, serving.findings, _TEMPLATES)
    for template in _TEMPLATES:
        spec = (templates.get(template) or {}).get("spec") or {}
        for field in ("initContainers", "containers"):
            for position, container in enumerate(spec.get(field) or ()):
                _check_variables(serving, f"{path}.{template}.spec.{field}[{position}]", container)


def _check_variables(serving: ServingContext, path: str, container: Object) -> None:
    """Report variables that Kthena overrides, and references to variables that the container does not have.

    Upstream's own sample has such a reference.
    """
    variables = [variable["name"] for variable in container.get("env") or ()]
    for index, name in enumerate(variables):
        if name in GROUP_VARIABLES:
            reason = f"has no effect: Kthena sets {name} in every container; remove it"
            serving.findings.warn(f"{path}.env[{index}]", reason, RuleId.FIELD_NO_EFFECT)
    if container.get("envFrom"):
        return
    for field in ("command", "args"):
        names = {
            name for text in map(str, container.get(field) or ()) if "$" in text for name in expanded_variables(text)
        }
        if not names:
            continue
        known = {*GROUP_VARIABLES, *variables}
        # Natively the pods are those of LeaderWorkerSets; Kthena's controller sets none of their variables.
        set_elsewhere = _LWS_VARIABLES if serving.options.realization.is_native else frozenset[str]()
        for name in sorted(name for name in names - known - set_elsewhere if _VARIABLE.fullmatch(name)):
            hint = did_you_mean(name, known) or f"; the address of the entry pod is $({GROUP_VARIABLES[1]})"
            if name in _LWS_VARIABLES:
                own = dict(zip(_LWS_NAMES, GROUP_VARIABLES, strict=True))[name]
                hint = f", which LeaderWorkerSets have; Kthena's controller sets $({own})"
            reason = f"refers to $({name}), but the container has no such variable{hint}"
            serving.findings.warn(f"{path}.{field}", reason, RuleId.REFERENCE_ELSEWHERE)
