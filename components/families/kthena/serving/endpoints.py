"""Where a ModelServing answers."""

from ....engines.paths import path_prefix
from ....engines.settings import Setting
from ....fleet.endpoints import Backend, Endpoint, WeightsOwner
from ....fleet.objects import Object
from ....fleet.origins import Origin
from ..names import role_service
from .asked import AskedServing
from .roles import RolePods
from .sets import is_one_set


def front_of(roles: list[RolePods]) -> RolePods:
    """Return the role that clients talk to."""
    return next((role for role in roles if role.name == "decode"), roles[0])


def endpoint_of(asked: AskedServing, role: RolePods, body: Object | None) -> Endpoint:
    """Return where a role answers.

    Args:
        asked: The ModelServing.
        role: The role.
        body: The Service of the role.
    """
    service = role_service(asked.name, role.name)
    return Endpoint(
        name=asked.name,
        namespace=asked.namespace,
        model=served_name(asked, role),
        url=f"http://{service}.{asked.namespace}.svc.cluster.local:{role.port}{path_prefix(role.server.line)}/v1",
        api="openai",
        port=role.port,
        backends=(backend_of(asked, role),),
        weights=WeightsOwner("ModelServing", asked.namespace, asked.name),
        origin=Origin(asked.source),
        body=body,
    )


def backend_of(asked: AskedServing, role: RolePods) -> Backend:
    """Return the Service of a role and what it leads to."""
    service = role_service(asked.name, role.name)
    workload = asked.name if is_one_set(asked) else service
    return Backend(service, asked.namespace, role.port, workload, asked.replicas * role.role.replicas)


def served_name(asked: AskedServing, role: RolePods) -> str:
    """Return the name that clients ask for: the engine's, or that of the ModelServing where it is not known."""
    line = role.server.line
    return line.value_of(Setting.SERVED_NAME) or line.value_of(Setting.MODEL) or asked.name
