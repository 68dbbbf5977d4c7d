"""An autoscaler that can be simulated: what is to be known of it before its trace is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...contract.findings.collector import unknown_reference
from ...contract.load import LoadedResource
from .runs import ScalingRun
from .trace import Moment, Trace


class ScenarioError(ValueError):
    """There is nothing to simulate under these names; the text says what there is."""


@dataclass(frozen=True, slots=True)
class AutoscalerQuery:
    """Which autoscaler to simulate.

    Attributes:
        binding: What scales, as ``name`` or ``namespace/name``.
        policy: How it scales, likewise; empty for the policy that the binding names.
        namespace: Namespace of resources that do not set one.
        kind: Kind of the binding; empty for whichever kind has the name.
    """

    binding: str
    policy: str
    namespace: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedTarget:
    """What is scaled.

    Attributes:
        replicas: How many its resource asks for; None where that is not among the manifests.
    """

    name: str
    minimum: int
    maximum: int
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """An autoscaler of a family.

    Attributes:
        scaler: What the autoscaler is called.
        sources: The resources that it is read from: binding and policy.
        namespace: Of what is scaled.
        metrics: By metric, its target for one replica.
        read: Returns what it reads of a trace with some defects, in passes of so many milliseconds (None: at the
            trace's own times).
        run: Returns what it does with that, from the replicas of each target on, with some defects.
        notes: What is odd about it, for people.
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
    """What a family can simulate: the autoscalers of one kind.

    Attributes:
        kind: Kind of the resources that name what scales, such as ``AutoscalingPolicyBinding``.
        defects: By name, what its controller gets wrong, and is simulated only where that is asked for.
        places: Returns namespace and name of each of these among resources; the namespace is given for those that
            set none.
        scenario: Returns an autoscaler among resources; raises :class:`ScenarioError` where there is none.
    """

    kind: str
    defects: Mapping[str, str]
    places: Callable[[Sequence[LoadedResource], str], Sequence[tuple[str, str]]]
    scenario: Callable[[Sequence[LoadedResource], AutoscalerQuery], Scenario]


def simulator_of(
    simulators: Sequence[Simulator], resources: Sequence[LoadedResource], names: AutoscalerQuery
) -> Simulator:
    """Return the simulator of the kind that has an autoscaler of a name.

    Raises:
        ScenarioError: no simulator has the kind, or none or several have an autoscaler of the name.
    """
    known = [each for each in simulators if names.kind in ("", each.kind)]
    if not known:
        kinds = ", ".join(sorted({each.kind for each in simulators})) or "none"
        raise ScenarioError(f"no autoscaler of kind {names.kind} can be simulated (available: {kinds}); name another")
    if len(known) == 1:
        # Its own message lists the resources of its kind where none has the name.
        return known[0]
    namespace, _, name = names.binding.rpartition("/")
    places = [(each, place) for each in known for place in each.places(resources, names.namespace)]
    having = {id(each): each for each, place in places if place[1] == name and namespace in ("", place[0])}
    if len(having) == 1:
        return next(iter(having.values()))
    if having:
        kinds = " and ".join(f"{each.kind}/{name}" for each in having.values())
        raise ScenarioError(f"{name!r} is the name of {kinds}; name one of them with its kind")
    there = (f"{each.kind}/{place[1]}" for each, place in places)
    raise ScenarioError(
        unknown_reference("autoscaler", name, there, "correct the name, or pass the file that has it")
    )
