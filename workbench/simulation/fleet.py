"""``workbench simulate --fleet``: all models of a stack or of manifests, in virtual time."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.printing import print_to_stderr
from toolkit.screen import Screen, write

from ..errors import WorkbenchError
from ..subject import Subject, planned

if TYPE_CHECKING:
    from livefleet import VirtualFleet, VirtualTime


@dataclass(frozen=True, slots=True)
class FleetTraces:
    """The options that describe the requests.

    Attributes:
        traces: Values of ``--trace``.
        shares: Values of ``--share``.
        scale: Factor of the number of requests.
        timeout: Seconds after which clients give up.
    """

    traces: tuple[str, ...]
    shares: tuple[str, ...] = ()
    scale: float = 1.0
    timeout: float = 300.0
    seed: int = 0

    def read(self) -> "VirtualTime":
        """Read the traces.

        Raises:
            WorkbenchError: there is no trace.
            UserError: a trace is invalid.
        """
        from livefleet import VirtualTime

        if not self.traces:
            raise WorkbenchError("--trace is required: pass a file with requests, such as --trace requests.csv", 2)
        return VirtualTime(self.traces, self.shares, self.scale, self.timeout, self.seed)


def simulate_fleet(
    subject: Subject,
    paths: Sequence[Path] | None,
    traces: FleetTraces,
    *,
    as_json: bool,
    details: bool,
    plot: Path | None,
) -> None:
    """Run the models of a stack or of manifests, and print the result."""
    virtual = traces.read()
    fleet = read_virtual_fleet(subject, paths)
    began = time.perf_counter()
    result = virtual.run(fleet)
    seconds = time.perf_counter() - began
    pace = f"{result.requests:,} requests in {result.seconds / 3600:.1f} simulated hours took {seconds:.1f} s"
    print_to_stderr([f"note: {pace}", *(f"note: {note}" for note in result.notes)])
    if as_json:
        sys.stdout.write(json.dumps(result.as_dict(), indent=2) + "\n")
    else:
        from .fleet_report import lines

        write(lines(result, Screen.of(), details=details))
    if plot:
        from .fleet_report import write_plot

        write_plot(result, plot)


def read_virtual_fleet(subject: Subject, paths: Sequence[Path] | None) -> "VirtualFleet":
    """Plan the models, and return what is simulated of them.

    Raises:
        WorkbenchError: the plan has errors.
    """
    from components.contract.problems import errors
    from components.plan.sections.costs import bill_of
    from livefleet import virtual_fleet

    manifests, plan = planned(subject, paths, figures=True)
    if fatal := errors([*manifests.problems, *plan.problems]):
        raise WorkbenchError("\n".join(dict.fromkeys(map(str, fatal))))
    return virtual_fleet(subject.stack or "manifests", plan, bill_of(plan))
