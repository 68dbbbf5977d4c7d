"""What ModelServing becomes."""

from ....api.findings import Findings
from ....api.load import Loaded
from ....fleet.capabilities import LEADER_WORKER_SET
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import render_declared
from ..names import VOLCANO
from ..operated import OPERATOR
from ..types import ModelServing
from .asked import AskedServing
from .checks import check_native
from .endpoints import endpoint_of, front_of
from .gang import pod_groups
from .roles import roles_of
from .services import client_service, instance_services
from .sets import is_one_set, workloads


def render_model_serving(source: Loaded, _library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render a ModelServing.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  the caller chose this function by kind
    asked = AskedServing(source, resource, resource.metadata.namespace or options.namespace, options, findings)
    if not options.realization.is_native:
        return render_declared(source, options, OPERATOR)
    return _native(asked)


def _native(asked: AskedServing) -> Rendered:
    """Return LeaderWorkerSets, and what makes them serving groups."""
    check_native(asked)
    gangs = () if is_one_set(asked) else tuple(pod_groups(asked))
    roles = roles_of(asked, gang=bool(gangs))
    front = front_of(roles)
    services = {role.name: client_service(asked, role) for role in roles if role.port}
    endpoints = (endpoint_of(asked, front, services.pop(front.name)),) if front.port else ()
    return Rendered(
        asked.source,
        asked.source.kind.kind,
        asked.name,
        asked.namespace,
        workloads=tuple(workloads(asked, roles)),
        endpoints=endpoints,
        others=(*services.values(), *instance_services(asked, roles), *gangs),
        requires=frozenset({LEADER_WORKER_SET, *((VOLCANO,) if gangs else ())}),
        model=asked.name,
    )
