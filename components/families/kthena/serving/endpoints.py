"""Where a ModelServing answers."""

from ....contract.findings.ids import RuleId
from ....engines.flags.tables import flags_of
from ....engines.pairs.rows import Stage
from ....engines.paths import path_prefix
from ....engines.served.names import served_names
from ....engines.settings import Setting
from ....fleet.endpoints import Backend, Endpoint, WeightsOwner
from ....fleet.objects import Object
from ..names import role_service
from .asked import AskedServing
from .groups import is_one_set
from .roles import RolePods
from .stages import stages_of


def front_of(roles: list[RolePods]) -> RolePods:
    """Return the role that clients talk to: what stands before the engines, an engine by itself, else decode."""
    stages = stages_of(roles)
    whole = [role for role in roles if role.name not in stages]
    proxies = [role for role in whole if _is_proxy(role)]
    decodes = [role for role in roles if stages.get(role.name) is Stage.DECODE]
    return next(iter((proxies if len(roles) > len(proxies) else []) or whole or decodes or roles))


def _is_proxy(role: RolePods) -> bool:
    """Tell whether something else than an engine listens; the image of an engine may hold such a program too."""
    line = role.server.line
    if not line.engine:
        return True
    return bool(line.command) and not line.is_script and not line.is_read and flags_of(line.engine) is not None


def check_front(asked: AskedServing, roles: list[RolePods], front: RolePods) -> None:
    """Report roles whose engines no client reaches at the endpoint."""
    stages = stages_of(roles)
    if front.name not in stages and _is_proxy(front):
        return  # what stands before the others reaches them
    for role in roles:
        if role is front or (_is_proxy(role) and role.name not in stages):
            continue
        if stages.get(role.name) is Stage.PREFILL and front.name in stages:
            reason = (
                f"is not reached at the endpoint, which leads to role {front.name!r} alone; add a ModelServer with a "
                "pdGroup and a ModelRoute, so that a router asks both"
            )
        else:
            reason = (
                f"is not reached at the endpoint, which leads to role {front.name!r}; add a ModelServer and a "
                "ModelRoute for it"
            )
        asked.findings.warn(role.path, reason, RuleId.ACCESS_ROUTE_UNUSED)


def endpoint_of(asked: AskedServing, role: RolePods, model: str, body: Object | None) -> Endpoint:
    """Return where a role answers.

    Args:
        asked: The ModelServing.
        role: The role.
        model: What clients ask for.
        body: The Service of the role.
    """
    service = role_service(asked.name, role.name)
    return Endpoint(
        name=asked.name,
        namespace=asked.namespace,
        model=model,
        url=f"http://{service}.{asked.namespace}.svc.cluster.local:{role.port}{path_prefix(role.server.line)}/v1",
        api="openai",
        port=role.port,
        backends=(_backend(asked, role),),
        weights=WeightsOwner("ModelServing", asked.namespace, asked.name),
        origin=asked.origin(),
        body=body,
    )


def _backend(asked: AskedServing, role: RolePods) -> Backend:
    service = role_service(asked.name, role.name)
    operated = not asked.options.realization.is_native
    workload = asked.name if is_one_set(asked.group) and not operated else service
    return Backend(service, asked.namespace, role.port, workload, asked.replicas * role.role.replicas)


def served_name(asked: AskedServing, roles: list[RolePods], front: RolePods) -> str:
    """Return the name that clients ask for: that of the engine that answers, else that of the ModelServing."""
    stages = stages_of(roles)
    engines = [role for role in (front, *roles) if not _is_proxy(role)]
    answering = [role for role in engines if stages.get(role.name) is not Stage.PREFILL]
    for line in (role.server.line for role in (*answering, *engines, front)):
        written = line.value_of(Setting.SERVED_NAME) or line.value_of(Setting.MODEL)
        name = next(iter(served_names(line)), written)
        if name:
            return name
    return asked.name
