"""The endpoints of models, and the workloads that serve them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.checks.front_door.words import Exposure
from components.fleet.endpoints import Backend, Endpoint
from components.fleet.rendered import Fleet, ServingIndex
from components.fleet.workloads import Workload
from components.resources.serving.fleet.outputs import output_name

from ..fleet import ServedEndpoint
from .roles import PodRole, roles_of

if TYPE_CHECKING:
    from components.plan.plan import Plan


def served_endpoints(planned: "Plan") -> tuple[ServedEndpoint, ...]:
    """Return every endpoint of the stack's outputs."""
    exposed = {(endpoint.namespace, endpoint.name) for endpoint in planned.door.endpoints}
    is_gateway = planned.environment.door.expose == Exposure.GATEWAY
    roles, index = roles_of(planned.fleet), ServingIndex(planned.fleet)
    served = []
    for _, endpoint in planned.fleet.endpoints:
        backends = _EndpointBackends(planned.fleet, index, roles, endpoint)
        weights = backends.weights()
        services = ", ".join(f"{backend.namespace}/{backend.service}" for backend in endpoint.backends)
        served.append(
            ServedEndpoint(
                title=output_name(planned, endpoint.namespace, endpoint.name),
                model=endpoint.model,
                api=endpoint.api,
                url=endpoint.url,
                workloads=weights,
                outside=is_gateway and (endpoint.namespace, endpoint.name) in exposed,
                why="" if weights else f"Service {services} selects no workload of this stack",
                stand_in=backends.stand_in if weights else "",
            )
        )
    return tuple(served)


class _EndpointBackends:
    """The workloads that answer at an endpoint."""

    def __init__(self, fleet: Fleet, index: ServingIndex, roles: dict[str, PodRole], endpoint: Endpoint) -> None:
        self._fleet, self._index, self._roles, self._endpoint = fleet, index, roles, endpoint
        self.stand_in = ""
        """Component that the live fleet replaces; set by :meth:`weights`."""

    def weights(self) -> dict[str, float]:
        """Return the share of each workload, by its namespace and name."""
        shares: dict[str, float] = {}
        for backend in self._endpoint.backends:
            share = float(backend.share if backend.weight is None else backend.weight)
            workloads = self._answering(backend)
            total = sum(workload.replicas for workload in workloads)
            for workload in workloads:
                # A Service spreads requests evenly over the pods of all its workloads.
                part = workload.replicas / total if total else 1 / len(workloads)
                key = key_of_workload(workload)
                shares[key] = shares.get(key, 0.0) + share * part
        return shares

    def _answering(self, backend: Backend) -> Sequence[Workload]:
        """Return the workloads that answer for a Service; for a router, those that decode behind it."""
        if backend.router:
            keys = {(self._endpoint.namespace, name) for name in backend.router.workloads}
        else:
            keys = {(backend.namespace, backend.workload)}
        targets = self._index.of_keys(keys)
        if backend.router is None and all(self._role(workload) != PodRole.ROUTER for workload in targets):
            return targets
        self.stand_in = "router"
        # If the Service selects only the router, the other workloads of the router's resource answer.
        answering = [workload for workload in targets if self._role(workload) != PodRole.ROUTER]
        if not answering:
            routed = {id(target) for target in targets}
            resources = {id(item) for item, workload in self._fleet.workloads if id(workload) in routed}
            answering = [
                workload
                for item, workload in self._fleet.workloads
                if id(item) in resources and self._role(workload) != PodRole.ROUTER
            ]
        return [workload for workload in answering if self._role(workload) == PodRole.DECODE] or answering

    def _role(self, workload: Workload) -> PodRole:
        return self._roles[key_of_workload(workload)]


def key_of_workload(workload: Workload) -> str:
    """Return the namespace and name of a workload."""
    return f"{workload.namespace}/{workload.name}"
