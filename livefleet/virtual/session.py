"""A simulation of one fleet or of several revisions under the same requests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from components.contract.problems import did_you_mean
from toolkit.errors import UserError

from ..load.arrivals import DueRequest
from ..load.trace import read_trace
from .demand import RequestColumns, demand_of
from .figures import VirtualResult, result_of
from .fleet import VirtualFleet
from .run import VirtualOptions, VirtualRun

_MAX_REQUESTS = 20_000_000


@dataclass(slots=True)
class VirtualTime:
    """Runs fleets under the requests of traces.

    Attributes:
        traces: Values ``FILE`` or ``MODEL=FILE`` of ``--trace``.
        shares: Values ``MODEL=N`` of ``--share``: the models that get the requests of a trace without a model, and
            their relative numbers; by default all that can be simulated, equally.
        scale: Factor of the number of requests.
        timeout: Seconds after which clients give up.
        seed: The same seed gives the same result.

    Raises:
        UserError: an option or a trace is invalid.
    """

    traces: Sequence[str]
    shares: Sequence[str] = ()
    scale: float = 1.0
    timeout: float = 300.0
    seed: int = 0
    start_speed: float = 1.0
    _shared: list[DueRequest] = field(default_factory=list, init=False)
    _own: dict[str, list[DueRequest]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Read the traces."""
        for text in self.traces:
            model, equals, file = text.partition("=")
            # A path may contain an equals sign, too.
            if not equals or Path(text).is_file():
                model, file = "", text
            requests = read_trace(Path(file))
            target = self._own.setdefault(model, []) if model else self._shared
            target.extend(requests)
        number = (len(self._shared) + sum(map(len, self._own.values()))) * self.scale
        if number > _MAX_REQUESTS:
            raise UserError(f"--scale: {number:,.0f} requests are more than {_MAX_REQUESTS:,}; lower it", 2)

    def run(self, fleet: VirtualFleet, others: Iterable[VirtualFleet] = ()) -> VirtualResult:
        """Run a fleet.

        Args:
            fleet: The fleet.
            others: Further revisions, whose models may be named too. A model that this fleet does not have gets no
                requests here.
        """
        run = VirtualRun(fleet, self.demand(fleet, others), self._options())
        run.run()
        return result_of(run)

    def demand(self, fleet: VirtualFleet, others: Iterable[VirtualFleet] = ()) -> dict[str, RequestColumns]:
        """Return the requests of each endpoint of a fleet."""
        fleets = (fleet, *others)
        titles = {
            name: endpoint.title for each in fleets for endpoint in each.endpoints for name in (endpoint.model,)
        }
        titles |= {endpoint.title: endpoint.title for each in fleets for endpoint in each.endpoints}
        refused = {title: reason for each in reversed(fleets) for title, reason in each.refused.items()}

        def title_of(option: str, name: str) -> str:
            if name in titles:
                return titles[name]
            if name in refused:
                raise UserError(f"{option}: {name!r} cannot be simulated: {refused[name]}", 2)
            hint = did_you_mean(name, titles) or f"; simulated are {', '.join(sorted({*titles.values()})) or 'none'}"
            raise UserError(f"{option}: the stack has no model {name!r}{hint}", 2)

        own: dict[str, list[DueRequest]] = {}
        for name, requests in self._own.items():
            own.setdefault(title_of("--trace", name), []).extend(requests)
        shares = {title_of("--share", name): number for name, number in map(_share, self.shares)}
        if self._shared and not shares:
            known = dict.fromkeys(endpoint.title for each in fleets for endpoint in each.endpoints)
            # Models with a trace of their own get no others.
            shares = {title: 1.0 for title in sorted(known) if title not in own}
            if not shares:
                reasons = "; ".join(f"{title}: {reason}" for title, reason in sorted(refused.items()))
                raise UserError(
                    f"--trace: no model of the stack can be simulated{f' ({reasons})' if reasons else ''}"
                )
        demand = demand_of(own, self._shared, shares, self.scale, self.seed)
        here = {endpoint.title for endpoint in fleet.endpoints}
        return {title: arrivals for title, arrivals in demand.items() if title in here}

    def _options(self) -> VirtualOptions:
        requests = [*self._shared, *(request for each in self._own.values() for request in each)]
        # The same duration for all revisions, even if one lacks the model of the last request.
        last = max((request.at for request in requests), default=0.0)
        return VirtualOptions(self.timeout, self.seed, self.start_speed, last)


def _share(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    try:
        share = float(number) if equals else 0.0
    except ValueError:
        share = 0.0
    if not 0 < share < float("inf"):
        raise UserError(f"--share: must be MODEL=N with a number above 0, found {text!r}", 2)
    return name, share
