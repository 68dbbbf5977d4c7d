"""Renders a ModelServing: natively as LeaderWorkerSets, otherwise for Kthena's controller."""

from collections.abc import Iterable

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.words import LEADER_WORKER_SET
from ..names import OPERATOR, VOLCANO
from ..references import SelectedRole, known_roles, routed_roles
from ..types import ModelServing
from .checks import (
    check_arguments,
    check_native,
    check_pairs,
    check_pod_metadata,
    check_replicas_owner,
    check_scheduling,
)
from .context import ServingContext
from .endpoints import endpoints_and_services
from .groups import has_pod_groups, pod_groups
from .operator_checks import check_serving_for_operator
from .plugins import check_plugins
from .roles import RolePods, roles_of
from .sets import instance_services, operated_workload, workloads


def render_model_serving(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelServing.

    Raises:
        Unrenderable: nothing can be rendered; the error is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  the caller chose this function by kind
    serving = ServingContext(source, resource, resource.metadata.namespace or options.namespace, options, findings)
    check_serving(serving)
    if options.realization.is_native:
        check_replicas_owner(serving, library)
    known = known_roles(library, serving.namespace, source)
    roles = checked_roles(serving, known)
    routed = routed_roles(library, serving.namespace, known)
    if options.realization.is_native:
        return render_native(serving, roles, routed)
    check_serving_for_operator(serving, roles)
    endpoints, services = endpoints_and_services(serving, roles, routed)
    return Rendered(
        source,
        source.kind.kind,
        serving.name,
        serving.namespace,
        workloads=tuple(operated_workload(serving, role) for role in roles),
        endpoints=endpoints,
        others=(as_manifest(source, options), *services),
        # Kthena's controller gives every entry pod the scheduler in spec.schedulerName (Kthena spec 3.2, V12).
        requires=frozenset({OPERATOR, *((VOLCANO,) if serving.scheduler == VOLCANO else ())}),
        model=serving.name,
    )


def check_serving(serving: ServingContext) -> None:
    """Check a ModelServing by itself, without other resources.

    Raises:
        Unrenderable: nothing can be rendered; the error is in the findings.
    """
    check_pod_metadata(serving)
    check_plugins(serving)
    if serving.options.realization.is_native:
        check_native(serving)


def checked_roles(serving: ServingContext, known: Iterable[SelectedRole]) -> list[RolePods]:
    """Return the pods of each role, and report their problems.

    Args:
        serving: The ModelServing.
        known: Its roles whose entry pods have containers.

    Raises:
        Unrenderable: a template has no containers; it is in the findings.
    """
    roles = roles_of(serving, {role.path: role.server for role in known})
    check_scheduling(serving, roles)
    check_arguments(serving, roles)
    check_pairs(serving, roles)
    return roles


def render_native(serving: ServingContext, roles: list[RolePods], routed: frozenset[str]) -> Rendered:
    """Return LeaderWorkerSets with their Services and PodGroups.

    Args:
        serving: The ModelServing.
        roles: Its roles.
        routed: Names of the roles that a ModelRoute leads to.
    """
    endpoints, services = endpoints_and_services(serving, roles, routed)
    gangs = pod_groups(serving) if has_pod_groups(serving) else []
    return Rendered(
        serving.source,
        serving.source.kind.kind,
        serving.name,
        serving.namespace,
        workloads=tuple(workloads(serving, roles)),
        endpoints=endpoints,
        others=(*services, *instance_services(serving, roles), *gangs),
        requires=frozenset({LEADER_WORKER_SET, *((VOLCANO,) if gangs else ())}),
        model=serving.name,
    )
