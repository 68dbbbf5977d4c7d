"""An autoscaler that can be simulated: what is to be known of it before its trace is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...contract.load import Loaded
from .runs import ScalingRun
from .trace import Moment, Trace


class ScenarioError(ValueError):
    """There is nothing to simulate under these names; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Names:
    """Which autoscaler to simulate.

    Attributes:
        binding: What scales, as ``name`` or ``namespace/name``.
        policy: How it scales, likewise; empty for the policy that the binding names.
        namespace: Namespace of resources that do not set one.
    """

    binding: str
    policy: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Scaled:
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
    sources: tuple[Loaded, Loaded]
    namespace: str
    targets: tuple[Scaled, ...]
    metrics: Mapping[str, Fraction]
    read: Callable[[Trace, Sequence[str], int | None], tuple[Moment, ...]]
    run: Callable[[Sequence[Moment], Mapping[str, int], Sequence[str]], ScalingRun]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Simulator:
    """What a family can simulate.

    Attributes:
        defects: By name, what its controller gets wrong, and is simulated only where that is asked for.
        scenario: Returns an autoscaler among resources; raises :class:`ScenarioError` where there is none.
    """

    defects: Mapping[str, str]
    scenario: Callable[[Sequence[Loaded], Names], Scenario]
