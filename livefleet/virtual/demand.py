"""Requests of traces, by endpoint."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from ..load.arrivals import DueRequest

_JITTER = 1.0
"""Seconds within which the copies of a request are sent."""


@dataclass(slots=True)
class RequestColumns:
    """The requests of one endpoint, ordered by time, in columns."""

    at: "array[float]" = field(default_factory=lambda: array("d"))
    prompt: "array[int]" = field(default_factory=lambda: array("q"))
    wanted: "array[int]" = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.at)

    def add(self, at: float, prompt: int, wanted: int) -> None:
        self.at.append(at)
        self.prompt.append(prompt)
        self.wanted.append(wanted)

    def ordered(self) -> "RequestColumns":
        """Return the same requests, ordered by time."""
        if all(before <= after for before, after in zip(self.at, self.at[1:], strict=False)):
            return self
        order = sorted(range(len(self.at)), key=self.at.__getitem__)
        return RequestColumns(
            array("d", map(self.at.__getitem__, order)),
            array("q", map(self.prompt.__getitem__, order)),
            array("q", map(self.wanted.__getitem__, order)),
        )


def demand_of(
    own: Mapping[str, Sequence[DueRequest]],
    shared: Sequence[DueRequest],
    shares: Mapping[str, float],
    scale: float = 1.0,
    seed: int = 0,
) -> dict[str, RequestColumns]:
    """Return the requests of each endpoint.

    The number of requests is multiplied by sending each one as often as the scale says, the fractional part at
    random. Copies are sent within a second of the original.

    Args:
        own: Traces of single endpoints.
        shared: A trace whose requests are sent to random endpoints.
        shares: Relative number of its requests, by endpoint.
        scale: Factor of the number of requests.
        seed: Seed of the random numbers.
    """
    demand: dict[str, RequestColumns] = {}
    for title, requests in own.items():
        _add_scaled(demand.setdefault(title, RequestColumns()), requests, scale, Random(f"{seed}:{title}"))  # noqa: S311
    if shared and shares:
        rng = Random(f"{seed}:shared")  # noqa: S311  nothing here is secret
        titles, bounds = list(shares), list(accumulate(shares.values()))
        targets = rng.choices(titles, cum_weights=bounds, k=len(shared))
        parts: dict[str, list[DueRequest]] = {title: [] for title in titles}
        for title, request in zip(targets, shared, strict=True):
            parts[title].append(request)
        for title, requests in parts.items():
            _add_scaled(demand.setdefault(title, RequestColumns()), requests, scale, rng)
    return {title: arrivals.ordered() for title, arrivals in demand.items()}


def _add_scaled(arrivals: RequestColumns, requests: Sequence[DueRequest], scale: float, rng: Random) -> None:
    whole = math.floor(scale)
    for request in requests:
        copies = whole + (rng.random() < scale - whole)
        for number in range(copies):
            at = request.at + (rng.random() * _JITTER if number else 0.0)
            arrivals.add(at, request.input_tokens, request.output_tokens)
