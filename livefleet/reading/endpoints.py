"""Where models answer, and which workloads answer there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.checks.front_door.words import Exposure
from components.fleet.endpoints import Backend, Endpoint
from components.fleet.workloads import Workload
from components.resources.serving.fleet.outputs import output_name

from ..fleet import ServedEndpoint
from .roles import PodRole, roles_of

if TYPE_CHECKING:
    from components.fleet.rendered import Fleet
    from components.plan.plan import Plan


def served_endpoints(planned: "Plan") -> tuple[ServedEndpoint, ...]:
    """Return every endpoint of the outputs."""
    through_door = {(each.namespace, each.name) for each in planned.door.endpoints}
    is_gateway = planned.environment.door.expose == Exposure.GATEWAY
    roles = roles_of(planned.fleet)
    return tuple(
        _endpoint(
            output_name(planned, each.namespace, each.name),
            each,
            _Behind(planned.fleet, roles, each),
            outside=is_gateway and (each.namespace, each.name) in through_door,
        )
        for _, each in planned.fleet.endpoints
    )


def _endpoint(title: str, endpoint: Endpoint, behind: "_Behind", *, outside: bool) -> ServedEndpoint:
    weights = behind.weights()
    services = ", ".join(f"{each.namespace}/{each.service}" for each in endpoint.backends)
    return ServedEndpoint(
        title=title,
        model=endpoint.model,
        api=endpoint.api,
        url=endpoint.url,
        workloads=weights,
        outside=outside,
        why="" if weights else f"behind Service {services} is no workload of this stack",
        stand_in=behind.stand_in if weights else "",
    )


class _Behind:
    """The workloads behind an endpoint."""

    def __init__(self, fleet: "Fleet", roles: dict[str, PodRole], endpoint: Endpoint) -> None:
        self._fleet, self._roles, self._endpoint = fleet, roles, endpoint
        self.stand_in = ""
        """What is played by something else; known once the weights are."""

    def weights(self) -> dict[str, float]:
        """Return the share of each workload, by its namespace and name."""
        found: dict[str, float] = {}
        for backend in self._endpoint.backends:
            share = float(backend.share if backend.weight is None else backend.weight)
            workloads = self._answering(backend)
            total = sum(each.replicas for each in workloads)
            for each in workloads:
                # A Service chooses among all pods behind it alike.
                part = each.replicas / total if total else 1 / len(workloads)
                place = place_of(each)
                found[place] = found.get(place, 0.0) + share * part
        return found

    def _answering(self, backend: Backend) -> Sequence[Workload]:
        """Return the workloads that answer for a Service: in place of what only passes requests on, who decodes."""
        if backend.router:
            places = {(self._endpoint.namespace, name) for name in backend.router.workloads}
        else:
            places = {(backend.namespace, backend.workload)}
        reached = [each for _, each in self._fleet.workloads if each.backend_keys & places]
        passing = backend.router is not None or any(self._role(each) == PodRole.ROUTER for each in reached)
        if not passing:
            return reached
        self.stand_in = "router"
        return self._decoding(reached)

    def _decoding(self, reached: Sequence[Workload]) -> Sequence[Workload]:
        """Return who answers behind a router: of the workloads that it reaches, or of its own resource."""
        owners = {id(item) for item, each in self._fleet.workloads if any(each is one for one in reached)}
        own = [each for item, each in self._fleet.workloads if id(item) in owners]
        asked = [each for each in reached if self._role(each) != PodRole.ROUTER] or own
        asked = [each for each in asked if self._role(each) != PodRole.ROUTER]
        return [each for each in asked if self._role(each) == PodRole.DECODE] or asked

    def _role(self, workload: Workload) -> PodRole:
        return self._roles[place_of(workload)]


def place_of(workload: Workload) -> str:
    """Return the namespace and name of a workload."""
    return f"{workload.namespace}/{workload.name}"
