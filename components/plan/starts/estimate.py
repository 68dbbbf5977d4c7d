"""Estimates how long a replica takes to start during a change, from the terms of cold starts."""

from dataclasses import dataclass

from ...contract.quantity import GIB
from ...fleet.objects import Object
from ..spans import estimated
from .budget import SOURCES_PAGE, USUAL_ENGINE, steps_of
from .reading import front_spec, start_facts

_DEFAULT_GRACE = 30
"""Seconds until pods are killed (kubernetes v1.36.3, pkg/apis/core/v1/defaults.go, SetDefaults_PodSpec)."""


@dataclass(frozen=True, slots=True)
class StartEstimate:
    """The estimated start-up time of a replica.

    Attributes:
        parts: Steps with their seconds, in order.
        unknown: Why there is no estimate; empty if there is one.
    """

    parts: tuple[tuple[str, int], ...] = ()
    unknown: str = ""

    @property
    def seconds(self) -> int | None:
        """Total seconds; None if unknown."""
        return None if self.unknown else sum(seconds for _, seconds in self.parts)

    @property
    def text(self) -> str:
        """The steps in words."""
        if self.unknown:
            return self.unknown
        return ", ".join(f"{name} {estimated(seconds)}" for name, seconds in self.parts)


def source() -> str:
    """Return the source of the figures."""
    return f"terms of {SOURCES_PAGE}"


def start_estimate(
    body: Object, weights: int | None, *, new_node: bool, new_image: bool, devices: int = 1, layers: int | None = None
) -> StartEstimate:
    """Estimate the time from the creation of a replica until it accepts requests.

    Engines without figures of their own are estimated like the one that was measured most.

    Args:
        body: The workload.
        weights: Size of the weights in bytes; None if unknown.
        new_node: Whether it waits for a new node, which also has to pull the image.
        new_image: Whether the node has not pulled the image before.
        devices: Accelerators of a replica.
        layers: Layers of the model; None if unknown.
    """
    if weights is None:
        return StartEstimate(unknown="the size of the weights is unknown")
    facts = start_facts(body, new_node=new_node, new_image=new_image, weights=weights, devices=devices, layers=layers)
    steps = steps_of(facts._replace(engine=USUAL_ENGINE))
    names = {"loading": f"loading {weights / GIB:.1f} GiB"}
    return StartEstimate(tuple((names.get(step.name, step.name), step.seconds or 0) for step in steps))


def grace_seconds(body: Object) -> int:
    """Return how long an old pod may take to terminate."""
    seconds = front_spec(body).get("terminationGracePeriodSeconds")
    return _DEFAULT_GRACE if seconds is None else int(seconds)


def pause_seconds(body: Object) -> int:
    """Return how long an update waits after a replica is ready before it goes on (minReadySeconds)."""
    return int(body["spec"].get("minReadySeconds") or 0)
