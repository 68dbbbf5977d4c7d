"""Fit the parameters of ``calibrated.yaml``, and compare estimates with points that they were not fitted to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log, log1p, sqrt
from typing import NamedTuple

from livefleet.pace.closed_loop import benchmark_times
from livefleet.pace.estimates import calibrated

from .points import Point

ENGINES = ("vllm", "sglang", "tensorrt-llm")
SHARED = {
    # Name: where the fit starts and is drawn to, how far in logarithms, and the most that makes sense.
    "weights": (0.75, 0.15, 0.92),
    "cache": (0.6, 0.3, 0.9),
    "compute": (0.55, 0.3, 0.85),
    "passes": (10.0, 0.7, 100.0),
    "reduce_us": (7.0, 0.5, 100.0),
    "layer_us": (25.0, 0.5, 500.0),
    "latent_us": (60.0, 0.5, 500.0),
    "experts_us": (50.0, 0.5, 500.0),
    "token_us": (3.0, 0.4, 100.0),
}
"""Parameters of kernels, links and tokenizers, whatever the engine."""
OWN = {
    "overhead": (1.0, 0.3, 10.0),
    "request_us": (10.0, 0.7, 500.0),
    "eager": (2.0, 0.6, 50.0),
    "latency_ms": (15.0, 0.5, 1000.0),
    "start_ms": (500.0, 1.0, 5000.0),
}
"""Parameters of an engine."""
_TOKEN_DOUBT, _FIRST_DOUBT = 0.1, 0.25
"""Errors, in logarithms, beyond which a point hardly counts any more."""
_FIRST_WEIGHT = 0.4
_PRIOR_WEIGHT = 0.2
_GROUP_POWER = 0.4
"""Groups of many points weigh more than those of few, but less than in proportion."""

Parameters = Mapping[str, float]


class Prediction(NamedTuple):
    """Estimated milliseconds to the first token, and between tokens."""

    first_ms: float
    between_ms: float


def names() -> list[str]:
    """Return the names of all parameters: ``compute``, ``vllm.overhead``."""
    return [*SHARED, *(f"{engine}.{name}" for engine in ENGINES for name in OWN)]


def own_parameters(parameters: Parameters, engine: str) -> dict[str, float]:
    """Return the parameters of an engine."""
    return {name: parameters[f"{engine}.{name}"] for name in OWN}


def predict(parameters: Parameters, points: Sequence[Point]) -> list[Prediction]:
    """Return the estimates of points."""
    shared = {name: parameters[name] for name in SHARED}
    efficiencies = {
        (engine, fast): calibrated(shared, own_parameters(parameters, engine), fast_links=fast)
        for engine in ENGINES
        for fast in (False, True)
    }
    found = []
    for point in points:
        pace = point.roofline.pace(efficiencies[point.engine, point.roofline.fast_links])
        times = benchmark_times(
            pace,
            point.clients,
            point.prompt,
            point.answer,
            rounds=point.rounds,
            receive_steps=point.receive_steps,
            start=parameters[f"{point.engine}.start_ms"] / 1000,
        )
        found.append(Prediction(times.first * 1000, times.between * 1000))
    return found


def fit(points: Sequence[Point]) -> dict[str, float]:
    """Return the parameters with the least errors.

    Errors are logarithms, and count less and less the larger they are (Cauchy), so that runs with settings that
    nobody stated do not decide. Parameters are drawn to plausible values, which matters where points hardly tell.
    """
    from scipy.optimize import least_squares

    priors = [*SHARED.values(), *(OWN[name] for _ in ENGINES for name in OWN)]
    start = [log(value) for value, _, _ in priors]
    groups = Counter((*point.group, point.family) for point in points)
    weights = [groups[*point.group, point.family] ** -_GROUP_POWER for point in points]
    mean = sum(weights) / len(weights)

    def residuals(logarithms: Sequence[float]) -> list[float]:
        parameters = {name: exp(value) for name, value in zip(names(), logarithms, strict=True)}
        errors = []
        for point, weight, found in zip(points, weights, predict(parameters, points), strict=True):
            if point.between_ms:
                errors.append(_bounded(log(found.between_ms / point.between_ms), _TOKEN_DOUBT) * weight / mean)
            if point.first_ms:
                first = _bounded(log(found.first_ms / point.first_ms), _FIRST_DOUBT)
                errors.append(first * weight / mean * _FIRST_WEIGHT)
        for value, begin, (_, doubt, _) in zip(logarithms, start, priors, strict=True):
            errors.append(_PRIOR_WEIGHT * (value - begin) / doubt)
        return errors

    most = [log(value) for _, _, value in priors]
    solution = least_squares(residuals, start, bounds=([value - 4 for value in start], most), max_nfev=40)
    return {name: exp(value) for name, value in zip(names(), solution.x, strict=True)}


def _bounded(error: float, doubt: float) -> float:
    bounded = doubt * sqrt(log1p((error / doubt) ** 2))
    return bounded if error > 0 else -bounded


class Folds(NamedTuple):
    """Estimates of each point with parameters that its family had no part in, and those parameters."""

    predictions: list[Prediction]
    parameters: dict[str, dict[str, float]]


def held_out(points: Sequence[Point], others: Sequence[Point] = ()) -> Folds:
    """Fit once for each family of models, to all others.

    Args:
        points: The points to estimate.
        others: Further points to fit to, except for those of the same family.
    """
    predictions: dict[int, Prediction] = {}
    parameters = {
        family: fit([point for point in (*points, *others) if point.family != family])
        for family in sorted({point.family for point in points})
    }
    for family, fitted in parameters.items():
        inside = [number for number, point in enumerate(points) if point.family == family]
        found = predict(fitted, [points[number] for number in inside])
        predictions |= zip(inside, found, strict=True)
    return Folds([predictions[number] for number in range(len(points))], parameters)
