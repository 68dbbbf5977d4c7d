"""Ranges of estimates that hold nine of ten points, and how far estimates are from points."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, exp, log
from statistics import median
from typing import NamedTuple

from components.checks.memory.accelerators.speeds import accelerator_speed
from components.fleet.instances import instance
from livefleet.pace.estimates import generation

from .fitting import Prediction
from .points import Point

Range = Mapping[str, float]
_HELD = 0.9
_STEP = 20
"""Factors are rounded up to a twentieth."""
_LEAST = 1.15
"""The narrowest factor: some groups have few points, which are alike."""


class Errors(NamedTuple):
    """How far the estimates of some points are from them.

    Attributes:
        between, first: Median error of the time between tokens and of that to the first token, as a share.
        between_held, first_held: Share of points inside the range.
    """

    points: int
    between: float
    first: float
    between_held: float
    first_held: float


def generation_of(point: Point) -> str:
    """Return the generation of a point's accelerator."""
    node = instance(point.instance_type)
    speed = accelerator_speed(node) if node else None
    return generation(speed) if speed else ""


def ranges_of(points: Sequence[Point], found: Sequence[Prediction]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the ranges by engine and generation that hold nine of ten points of each accelerator.

    Args:
        points: The points.
        found: Estimates that the points had no part in.
    """
    groups: dict[tuple[str, str, str], list[tuple[Point, Prediction]]] = defaultdict(list)
    for point, estimate in zip(points, found, strict=True):
        groups[point.engine, generation_of(point), point.device].append((point, estimate))
    ranges: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for (engine, name, _), pairs in sorted(groups.items()):
        slower = sorted(log(point.between_ms / estimate.between_ms) for point, estimate in pairs)
        first = sorted(abs(log(point.first_ms / estimate.first_ms)) for point, estimate in pairs)
        known = ranges[engine].setdefault(name, {"faster": _LEAST, "slower": _LEAST, "first": _LEAST})
        # The same number of points beyond either end.
        beyond = int(len(slower) * (1 - _HELD) / 2)
        known["faster"] = max(known["faster"], _rounded(-slower[beyond]))
        known["slower"] = max(known["slower"], _rounded(slower[-1 - beyond]))
        known["first"] = max(known["first"], _rounded(first[min(len(first) - 1, ceil(len(first) * _HELD) - 1)]))
    return {engine: dict(known) for engine, known in ranges.items()}


def _rounded(logarithm: float) -> float:
    return ceil(_STEP * exp(logarithm)) / _STEP


def errors_of(
    points: Sequence[Point], found: Sequence[Prediction], ranges: Mapping[str, Mapping[str, Range]]
) -> dict[tuple[str, str], Errors]:
    """Return the errors by engine and accelerator, and of all under empty names."""
    groups: dict[tuple[str, str], list[tuple[Point, Prediction]]] = defaultdict(list)
    for point, estimate in zip(points, found, strict=True):
        groups[point.group].append((point, estimate))
        groups["", ""].append((point, estimate))
    return {group: _errors(pairs, ranges) for group, pairs in sorted(groups.items())}


def _errors(pairs: Sequence[tuple[Point, Prediction]], ranges: Mapping[str, Mapping[str, Range]]) -> Errors:
    between = [abs(estimate.between_ms / point.between_ms - 1) for point, estimate in pairs]
    first = [abs(estimate.first_ms / point.first_ms - 1) for point, estimate in pairs]
    held = [holds(point, estimate, ranges) for point, estimate in pairs]
    return Errors(
        points=len(pairs),
        between=median(between),
        first=median(first),
        between_held=sum(tokens for tokens, _ in held) / len(held),
        first_held=sum(start for _, start in held) / len(held),
    )


def holds(point: Point, estimate: Prediction, ranges: Mapping[str, Mapping[str, Range]]) -> tuple[bool, bool]:
    """Tell whether the time between tokens and that to the first token are inside the range of an estimate."""
    known = ranges.get(point.engine, {}).get(generation_of(point))
    if known is None:
        return False, False
    low, high = estimate.between_ms / known["faster"], estimate.between_ms * known["slower"]
    early, late = estimate.first_ms / known["first"], estimate.first_ms * known["first"] + known.get("beside_ms", 0)
    return low <= point.between_ms <= high, early <= point.first_ms <= late


def worst(points: Sequence[Point], found: Sequence[Prediction], number: int = 10) -> list[tuple[Point, Prediction]]:
    """Return the points whose time between tokens is farthest from the estimate, of each series only the farthest."""
    pairs = sorted(
        zip(points, found, strict=True),
        key=lambda pair: (-abs(log(pair[1].between_ms / pair[0].between_ms)), pair[0].title),
    )
    series: dict[tuple[object, ...], tuple[Point, Prediction]] = {}
    for point, estimate in pairs:
        key = (point.engine, point.version, point.model, point.format, point.device, point.ranks)
        series.setdefault(key, (point, estimate))
    return list(series.values())[:number]
