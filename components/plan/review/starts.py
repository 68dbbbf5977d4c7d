"""Estimates how long a replica takes to start, from one measurement and the size of the weights."""

import functools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...contract.tables import load_table
from ...fleet.objects import Object
from ...fleet.shapes import pod_templates
from .spans import span

_GIB = Decimal(2**30)
_DEFAULT_PERIOD = 10
_DEFAULT_GRACE = 30
"""Seconds between two probes, and until pods are killed (kubernetes/kubernetes v1.36.3,
pkg/apis/core/v1/defaults.go: SetDefaults_Probe, SetDefaults_PodSpec)."""


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
        return ", ".join(f"{name} {span(seconds)}" for name, seconds in self.parts)


def source() -> str:
    """Return the source of the figures."""
    return f"measured in {_figures()['source']}"


def start_estimate(body: Object, weights: int | None, *, new_node: bool, new_image: bool) -> StartEstimate:
    """Estimate the time from the creation of a replica until it accepts requests.

    Args:
        body: The workload.
        weights: Size of the weights in bytes; None if unknown.
        new_node: Whether it waits for a new node, which also has to pull the image.
        new_image: Whether the node has not pulled the image before.
    """
    if weights is None:
        return StartEstimate(unknown="the size of the weights is unknown")
    figures, parts = _figures(), list[tuple[str, int]]()
    if new_node:
        parts += [("node", figures["node"]), ("its initialization", figures["initialization"])]
    if new_node or new_image:
        parts.append(("image", figures["image"]))
    measured = figures["weights"]
    loading = Decimal(measured["seconds"]) * weights / _GIB / Decimal(str(measured["gib"]))
    running = [
        ("container", int(figures["bootstrap"])),
        (f"{weights / _GIB:.1f} GiB of weights", round(loading)),
        ("engine", int(figures["engine"])),
    ]
    parts += running
    probes = [
        probe for container in _front(body).get("containers") or () if (probe := container.get("readinessProbe"))
    ]
    if probes:
        # The initial delay overlaps with the start; after both, the next probe may be a whole period away.
        delay = max(int(probe.get("initialDelaySeconds") or 0) for probe in probes)
        period = max(int(probe.get("periodSeconds") or _DEFAULT_PERIOD) for probe in probes)
        parts.append(("probes", max(0, delay - sum(seconds for _, seconds in running)) + period))
    return StartEstimate(tuple(parts))


def grace_seconds(body: Object) -> int:
    """Return how long an old pod may take to terminate."""
    seconds = _front(body).get("terminationGracePeriodSeconds")
    return _DEFAULT_GRACE if seconds is None else int(seconds)


def _front(body: Object) -> Object:
    front = next(iter(pod_templates(body)), None)
    spec: Object = (front.body.get("spec") if front else None) or {}
    return spec


@functools.cache
def _figures() -> dict[str, Any]:
    figures: dict[str, Any] = load_table(__package__, "starts.yaml")
    return figures
