"""Scenarios: autoscalers that can be simulated, as families provide them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...contract.findings.collector import unknown_reference
from ...contract.load import LoadedResource
from .runs import ScalingRun
from .trace import Moment, Trace


class ScenarioError(ValueError):
    """No matching autoscaler; the message lists the available ones."""


@dataclass(frozen=True, slots=True)
class AutoscalerQuery:
    """Selects the autoscaler to simulate.

    Attributes:
        binding: The binding, as ``name`` or ``namespace/name``.
        policy: The policy, likewise; empty for the one that the binding names.
        namespace: Namespace of resources that set none.
        kind: Kind of the binding; empty for any kind.
    """

    binding: str
    policy: str
    namespace: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedTarget:
    """A scaled target.

    Attributes:
        replicas: Replicas in its manifest; None if it is not among the manifests.
    """

    name: str
    minimum: int
    maximum: int
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """An autoscaler of a family.

    Attributes:
        scaler: Name of the controller.
        sources: The binding and the policy.
        namespace: Namespace of the targets.
        metrics: Target per replica, by metric.
        read: Returns the readings of a trace, given simulated defects and the interval of passes in milliseconds
            (None for the times of the trace).
        run: Returns the run for these readings, given the initial replicas of each target and simulated defects.
        notes: Notes for users about unusual settings.
    """

    scaler: str
    sources: tuple[LoadedResource, LoadedResource]
    namespace: str
    targets: tuple[SimulatedTarget, ...]
    metrics: Mapping[str, Fraction]
    read: Callable[[Trace, Sequence[str], int | None], tuple[Moment, ...]]
    run: Callable[[Sequence[Moment], Mapping[str, int], Sequence[str]], ScalingRun]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Simulator:
    """A family's simulator for autoscalers of one kind.

    Attributes:
        kind: Kind of the bindings, such as ``AutoscalingPolicyBinding``.
        defects: Descriptions of the controller's defects by name, which are simulated only on request.
        places: Returns namespace and name of each binding among resources, given the default namespace.
        scenario: Returns the selected autoscaler; raises :class:`ScenarioError` without one.
    """

    kind: str
    defects: Mapping[str, str]
    places: Callable[[Sequence[LoadedResource], str], Sequence[tuple[str, str]]]
    scenario: Callable[[Sequence[LoadedResource], AutoscalerQuery], Scenario]


def simulator_of(
    simulators: Sequence[Simulator], resources: Sequence[LoadedResource], names: AutoscalerQuery
) -> Simulator:
    """Return the simulator for the selected autoscaler.

    Raises:
        ScenarioError: no simulator supports the kind, or the name is unknown or ambiguous.
    """
    known = [simulator for simulator in simulators if names.kind in ("", simulator.kind)]
    if not known:
        kinds = ", ".join(sorted({simulator.kind for simulator in simulators})) or "none"
        raise ScenarioError(f"no autoscaler of kind {names.kind} can be simulated (available: {kinds}); name another")
    if len(known) == 1:
        # Its own message lists the resources of its kind where none has the name.
        return known[0]
    namespace, _, name = names.binding.rpartition("/")
    places = [(simulator, place) for simulator in known for place in simulator.places(resources, names.namespace)]
    matches = {
        id(simulator): simulator for simulator, place in places if place[1] == name and namespace in ("", place[0])
    }
    if len(matches) == 1:
        return next(iter(matches.values()))
    if matches:
        kinds = " and ".join(f"{simulator.kind}/{name}" for simulator in matches.values())
        raise ScenarioError(f"{name!r} is the name of {kinds}; name one of them with its kind")
    available = (f"{simulator.kind}/{place[1]}" for simulator, place in places)
    raise ScenarioError(
        unknown_reference("autoscaler", name, available, "correct the name, or pass the file that has it")
    )
