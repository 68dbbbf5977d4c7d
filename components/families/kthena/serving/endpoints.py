"""The endpoint of a ModelServing, and the Services of its roles."""

from ....contract.findings.ids import RuleId
from ....engines.flags.tables import flags_of
from ....engines.pairs.rows import Stage
from ....engines.paths import path_prefix
from ....engines.served.names import served_names
from ....engines.settings import Setting
from ....fleet.endpoints import Backend, Endpoint, WeightsOwner
from ....fleet.objects import Object
from ..names import role_service
from .context import ServingContext
from .groups import is_one_set
from .roles import RolePods, stages_of
from .sets import entry_service


def endpoints_and_services(
    serving: ServingContext, roles: list[RolePods], routed: frozenset[str]
) -> tuple[tuple[Endpoint, ...], list[Object]]:
    """Return the endpoint of a ModelServing, and the Services of all roles that the endpoint does not include.

    There is no endpoint if a ModelRoute leads to the role that would serve it.

    Args:
        serving: The ModelServing.
        roles: Its roles.
        routed: Names of the roles that a ModelRoute leads to.
    """
    services = {role.name: entry_service(serving, role) for role in roles if role.port}
    for role in (role for role in roles if not role.port):
        reason = (
            "does not declare a port, so its role gets no Service and no endpoint; add {name: http, "
            "containerPort: ...}"
        )
        serving.findings.warn(role.server.ports.path, reason, RuleId.ACCESS_NO_PORT)
    if routed.issuperset(services) and len(services) == len(roles):
        return (), [*services.values()]
    front = front_of(roles)
    if front.name in routed or not front.port:
        return (), [*services.values()]
    _check_unreachable(serving, roles, front)
    service = role_service(serving.name, front.name)
    operated = not serving.options.realization.is_native
    workload = serving.name if is_one_set(serving.group) and not operated else service
    prefix = path_prefix(front.server.line)
    endpoint = Endpoint(
        name=serving.name,
        namespace=serving.namespace,
        model=_served_name(serving, roles, front),
        url=f"http://{service}.{serving.namespace}.svc.cluster.local:{front.port}{prefix}/v1",
        api="openai",
        port=front.port,
        backends=(Backend(service, serving.namespace, front.port, workload, serving.replicas * front.role.replicas),),
        weights=WeightsOwner("ModelServing", serving.namespace, serving.name),
        origin=serving.origin(),
        body=services.pop(front.name),
    )
    return (endpoint,), [*services.values()]


def front_of(roles: list[RolePods]) -> RolePods:
    """Return the role that clients talk to: a proxy for the engines, else an engine of its own, else decode."""
    stages = stages_of(roles)
    unstaged = [role for role in roles if role.name not in stages]
    proxies = [role for role in unstaged if _is_proxy(role)]
    # If every role looks like a proxy, nothing tells which of them is the engine.
    if proxies and len(proxies) < len(roles):
        return proxies[0]
    if unstaged:
        return unstaged[0]
    decodes = [role for role in roles if stages[role.name] is Stage.DECODE]
    return (decodes or roles)[0]


def _is_proxy(role: RolePods) -> bool:
    """Return whether the server of a role is no engine; the image of an engine may contain other programs too."""
    line = role.server.line
    if not line.engine:
        return True
    return bool(line.command) and not line.is_script and not line.is_read and flags_of(line.engine) is not None


def _check_unreachable(serving: ServingContext, roles: list[RolePods], front: RolePods) -> None:
    """Warn about engines that clients cannot reach through the endpoint."""
    stages = stages_of(roles)
    if front.name not in stages and _is_proxy(front):
        return  # the proxy forwards requests to the other roles
    for role in roles:
        if role is front or (_is_proxy(role) and role.name not in stages):
            continue
        if stages.get(role.name) is Stage.PREFILL and front.name in stages:
            reason = (
                f"is unreachable: the endpoint leads to role {front.name!r} only; add a ModelServer with a pdGroup "
                "and a ModelRoute, so that a router sends requests to both"
            )
        else:
            reason = (
                f"is unreachable: the endpoint leads to role {front.name!r}; add a ModelServer and a ModelRoute for "
                "it"
            )
        serving.findings.warn(role.path, reason, RuleId.ACCESS_ROUTE_UNUSED)


def _served_name(serving: ServingContext, roles: list[RolePods], front: RolePods) -> str:
    """Return the model name for requests: that of the engine that answers, else that of the ModelServing."""
    stages = stages_of(roles)
    engines = [role for role in (front, *roles) if not _is_proxy(role)]
    answering = [role for role in engines if stages.get(role.name) is not Stage.PREFILL]
    for line in (role.server.line for role in (*answering, *engines, front)):
        flag = line.value_of(Setting.SERVED_NAME) or line.value_of(Setting.MODEL)
        name = next(iter(served_names(line)), flag)
        if name:
            return name
    return serving.name
