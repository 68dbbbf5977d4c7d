"""What ModelServing becomes."""

from collections.abc import Iterable

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....fleet.endpoints import Endpoint
from ....fleet.library import Library
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.words import LEADER_WORKER_SET
from ..names import VOLCANO
from ..operated import OPERATOR, check_serving_for_operator
from ..reach import SelectedRole, known_roles, reached_roles
from ..types import ModelServing
from .arguments import check_arguments
from .asked import AskedServing
from .checks import check_native, check_owned, check_placed, check_pods
from .endpoints import check_front, endpoint_of, front_of, served_name
from .gang import pod_groups
from .groups import has_pod_groups
from .roles import RolePods, roles_of
from .services import client_service, instance_services
from .sets import operated, workloads
from .stages import check_pairs


def render_model_serving(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelServing.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  the caller chose this function by kind
    asked = AskedServing(source, resource, resource.metadata.namespace or options.namespace, options, findings)
    check_written(asked)
    if options.realization.is_native:
        check_owned(asked, library)
    known = known_roles(library, asked.namespace, source)
    roles = checked_roles(asked, known)
    reached = reached_roles(library, asked.namespace, known)
    return native(asked, roles, reached) if options.realization.is_native else _operated(asked, roles, reached)


def check_written(asked: AskedServing) -> None:
    """Report what is wrong with a ModelServing whatever is around it.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in the findings.
    """
    check_pods(asked)
    if asked.options.realization.is_native:
        check_native(asked)


def checked_roles(asked: AskedServing, known: Iterable[SelectedRole]) -> list[RolePods]:
    """Return the pods of each role, and report what is wrong with them.

    Args:
        asked: The ModelServing.
        known: Its roles, as far as their entry pods have containers.

    Raises:
        Unrenderable: a template has no containers; it is in the findings.
    """
    roles = roles_of(asked, {each.path: each.server for each in known})
    check_placed(asked, roles)
    check_arguments(roles, asked.findings)
    check_pairs(roles, asked.findings)
    return roles


def native(asked: AskedServing, roles: list[RolePods], reached: frozenset[str]) -> Rendered:
    """Return LeaderWorkerSets, and what makes them serving groups; a ModelRoute leads to some roles."""
    endpoints, services = _reached_by(asked, roles, reached)
    gangs = pod_groups(asked) if has_pod_groups(asked.group) else []
    return Rendered(
        asked.source,
        asked.source.kind.kind,
        asked.name,
        asked.namespace,
        workloads=tuple(workloads(asked, roles)),
        endpoints=endpoints,
        others=(*services, *instance_services(asked, roles), *gangs),
        requires=frozenset({LEADER_WORKER_SET, *((VOLCANO,) if gangs else ())}),
        model=asked.name,
    )


def _operated(asked: AskedServing, roles: list[RolePods], reached: frozenset[str]) -> Rendered:
    """Return what is left to Kthena's controller, and the Services that it does not make."""
    check_serving_for_operator(asked, roles)
    endpoints, services = _reached_by(asked, roles, reached)
    return Rendered(
        asked.source,
        asked.source.kind.kind,
        asked.name,
        asked.namespace,
        workloads=tuple(operated(asked, role) for role in roles),
        endpoints=endpoints,
        others=(as_manifest(asked.source, asked.options), *services),
        # Its controller gives every entry pod the scheduler that spec.schedulerName names (Kthena spec 3.2, V12).
        requires=frozenset({OPERATOR, VOLCANO}),
        model=asked.name,
    )


def _reached_by(
    asked: AskedServing, roles: list[RolePods], reached: frozenset[str]
) -> tuple[tuple[Endpoint, ...], list[Object]]:
    """Return where clients reach a ModelServing, unless a ModelRoute tells them, and the Services of other roles."""
    services = {role.name: client_service(asked, role) for role in roles if role.port}
    for role in (role for role in roles if not role.port):
        reason = (
            "does not declare where it listens, so its role gets no Service and no endpoint; add {name: http, "
            "containerPort: ...}"
        )
        asked.findings.warn(role.server.ports.path, reason, RuleId.ACCESS_NO_PORT)
    if reached.issuperset(services) and len(services) == len(roles):
        return (), [*services.values()]
    front = front_of(roles)
    if front.name in reached or not front.port:
        return (), [*services.values()]
    check_front(asked, roles, front)
    endpoint = endpoint_of(asked, front, served_name(asked, roles, front), services.pop(front.name))
    return (endpoint,), [*services.values()]
