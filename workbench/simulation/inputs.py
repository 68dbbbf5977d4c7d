"""The trace and the option values of ``workbench simulate``."""

import re
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.printing import print_to_stderr, problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN

if TYPE_CHECKING:
    from components.contract.problems import Problem
    from components.performance.simulation.scenario import Scenario, Simulator
    from components.performance.simulation.trace import Trace

_MAX_PASSES = 1_000_000
_MAX_USD = Decimal(1_000_000)
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z", re.ASCII)
_MIN_SECONDS = Decimal("0.001")
_MAX_SECONDS = Decimal(86_400)


def read_metrics(path: Path, scenario: "Scenario") -> "Trace":
    """Read the trace, and print warnings about it to stderr.

    Raises:
        WorkbenchError: the trace is invalid; the message lists every invalid row.
    """
    from components.contract.documents.files import read_text
    from components.contract.problems import errors
    from components.performance.simulation.trace_reader import read_trace

    problems: list[Problem] = []
    file = "<stdin>" if str(path) == STDIN else str(path)
    text = read_text(sys.stdin.buffer.read if str(path) == STDIN else path.read_bytes, file, problems)
    if text is None:
        raise WorkbenchError(problem_lines(problems))
    trace, problems = read_trace(text, file, [target.name for target in scenario.targets], scenario.metrics)
    if invalid := errors(problems):
        raise WorkbenchError(problem_lines(invalid))
    print_to_stderr(f"warning: {problem}" for problem in problems)
    return trace


def parse_prices(texts: Sequence[str] | None, scenario: "Scenario") -> dict[str, Decimal]:
    """Parse ``TARGET=USD``, US dollars per replica and hour."""
    prices = {}
    for target, value in _pairs(texts, "--price", scenario):
        if not _DECIMAL.match(value) or Decimal(value) > _MAX_USD:
            raise WorkbenchError(f"--price {target}: must be US dollars per hour such as 2.5, found {value!r}", 2)
        prices[target] = Decimal(value)
    return prices


def parse_replicas(texts: Sequence[str] | None, scenario: "Scenario") -> dict[str, int]:
    """Parse ``TARGET=N``."""
    from components.performance.simulation.trace_reader import CellError, read_count

    replicas = {}
    for target, value in _pairs(texts, "--start", scenario):
        try:
            replicas[target] = read_count(value)
        except CellError as error:
            raise WorkbenchError(f"--start {target}: {error}", 2) from None
    return replicas


def _pairs(texts: Sequence[str] | None, option: str, scenario: "Scenario") -> Iterable[tuple[str, str]]:
    from components.contract.problems import did_you_mean

    known = [target.name for target in scenario.targets]
    for text in texts or ():
        target, equals, value = text.rpartition("=")
        if not equals:
            raise WorkbenchError(f"{option}: must be TARGET=VALUE, found {text!r}", 2)
        if target not in known:
            hint = did_you_mean(target, known) or f"; the binding scales {', '.join(known)}"
            raise WorkbenchError(f"{option}: {target!r} is not a target of the binding{hint}", 2)
        yield target, value.strip()


def milliseconds(seconds: str) -> int | None:
    """Parse the interval between passes; None for the times of the trace."""
    if not seconds:
        return None
    text = seconds.strip().removesuffix("s")
    if not _DECIMAL.match(text) or not _MIN_SECONDS <= Decimal(text) <= _MAX_SECONDS:
        raise WorkbenchError(
            f"--every: must be seconds from {_MIN_SECONDS} to {_MAX_SECONDS} such as 15, found {seconds!r}", 2
        )
    return int(Decimal(text) * 1000)


def check_passes(trace: "Trace", every: int | None) -> None:
    """Reject an interval that is too short for the length of the trace."""
    times = trace.times
    passes = (times[-1] - times[0]) // every + 1 if every else 0
    if passes > _MAX_PASSES:
        span = f"{(times[-1] - times[0]) / 1000:.12g} s"
        raise WorkbenchError(
            f"--every: {passes} passes in the {span} of the trace exceed the limit of {_MAX_PASSES}; pass a longer "
            "interval, or a part of the trace",
            2,
        )


def check_defects(names: Sequence[str] | None) -> None:
    """Reject names that are no defect of any controller, before reading manifests."""
    from components.families import simulators

    known = [(name, text) for simulator in simulators() for name, text in simulator.defects.items()]
    for name in names or ():
        if name not in dict(known):
            raise _unknown_defect(name, known)


def select_defects(names: Sequence[str] | None, simulator: "Simulator", *, literal: bool) -> tuple[str, ...]:
    """Return the defects to simulate: the named ones, or all with ``literal``.

    Raises:
        WorkbenchError: a defect belongs to another controller.
    """
    for name in names or ():
        if name not in simulator.defects:
            raise _unknown_defect(name, list(simulator.defects.items()), f" of the controller of {simulator.kind}")
    return tuple(name for name in simulator.defects if literal or name in (names or ()))


def _unknown_defect(name: str, known: Sequence[tuple[str, str]], owner: str = "") -> WorkbenchError:
    from components.contract.problems import did_you_mean

    lines = "\n".join(f"  {defect}: {description}" for defect, description in known)
    hint = did_you_mean(name, [defect for defect, _ in known]) or ""
    return WorkbenchError(f"--defect: {name!r} is not a known defect{owner}{hint}\navailable:\n{lines}", 2)
