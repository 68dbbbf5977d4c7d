"""What ``workbench simulate`` is given beside manifests: the trace, and values on the command line."""

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

_MOST_PASSES = 1_000_000
_MOST_USD = Decimal(1_000_000)
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z", re.ASCII)
_SHORTEST = Decimal("0.001")
_LONGEST = Decimal(86_400)


def read_metrics(path: Path, scenario: "Scenario") -> "Trace":
    """Read the trace; what is odd about it is told on stderr.

    Raises:
        WorkbenchError: it cannot be used; every row that is wrong is named.
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
    wrong = errors(problems)
    if wrong:
        raise WorkbenchError(problem_lines(wrong))
    print_to_stderr(f"warning: {problem}" for problem in problems)
    return trace


def prices_given(texts: Sequence[str] | None, scenario: "Scenario") -> dict[str, Decimal]:
    """Read prices that are given as ``TARGET=USD``."""
    found = {}
    for target, value in _pairs(texts, "--price", scenario):
        if not _DECIMAL.match(value) or Decimal(value) > _MOST_USD:
            raise WorkbenchError(f"--price {target}: must be US dollars per hour such as 2.5, found {value!r}", 2)
        found[target] = Decimal(value)
    return found


def start_given(texts: Sequence[str] | None, scenario: "Scenario") -> dict[str, int]:
    """Read numbers of replicas that are given as ``TARGET=N``."""
    from components.performance.simulation.trace_reader import CellError, read_count

    found = {}
    for target, value in _pairs(texts, "--start", scenario):
        try:
            found[target] = read_count(value)
        except CellError as error:
            raise WorkbenchError(f"--start {target}: {error}", 2) from None
    return found


def _pairs(texts: Sequence[str] | None, option: str, scenario: "Scenario") -> Iterable[tuple[str, str]]:
    from components.contract.problems import did_you_mean

    known = [target.name for target in scenario.targets]
    for text in texts or ():
        target, equals, value = text.rpartition("=")
        if not equals:
            raise WorkbenchError(f"{option}: must be TARGET=VALUE, found {text!r}", 2)
        if target not in known:
            hint = did_you_mean(target, known) or f"; the binding scales {', '.join(known)}"
            raise WorkbenchError(f"{option}: {target!r} is no target of the binding{hint}", 2)
        yield target, value.strip()


def milliseconds(seconds: str) -> int | None:
    """Read the time between passes; None for the times of the trace."""
    if not seconds:
        return None
    text = seconds.strip().removesuffix("s")
    if not _DECIMAL.match(text) or not _SHORTEST <= Decimal(text) <= _LONGEST:
        raise WorkbenchError(
            f"--every: must be seconds from {_SHORTEST} to {_LONGEST} such as 15, found {seconds!r}", 2
        )
    return int(Decimal(text) * 1000)


def check_passes(trace: "Trace", every: int | None) -> None:
    """Refuse steps that are so short for the trace that a simulation would never end."""
    times = trace.times
    passes = (times[-1] - times[0]) // every + 1 if every else 0
    if passes > _MOST_PASSES:
        span = f"{(times[-1] - times[0]) / 1000:.12g} s"
        raise WorkbenchError(
            f"--every: {passes} passes in the {span} of the trace are more than {_MOST_PASSES}; pass longer steps, "
            "or a part of the trace",
            2,
        )


def check_defects(names: Sequence[str] | None) -> None:
    """Refuse names that are defects of no controller, before anything is read."""
    from components.families import simulators

    known = [(name, text) for each in simulators() for name, text in each.defects.items()]
    for name in names or ():
        if name not in dict(known):
            raise _no_defect(name, known)


def defects_chosen(names: Sequence[str] | None, simulator: "Simulator", *, literal: bool) -> tuple[str, ...]:
    """Return the defects of the controller to simulate.

    Raises:
        WorkbenchError: one is a defect of another controller.
    """
    for name in names or ():
        if name not in simulator.defects:
            raise _no_defect(name, list(simulator.defects.items()), f" of the controller of {simulator.kind}")
    return tuple(name for name in simulator.defects if literal or name in (names or ()))


def _no_defect(name: str, known: Sequence[tuple[str, str]], whose: str = "") -> WorkbenchError:
    from components.contract.problems import did_you_mean

    lines = "\n".join(f"  {each}: {what}" for each, what in known)
    hint = did_you_mean(name, [each for each, _ in known]) or ""
    return WorkbenchError(f"--defect: there is no {name!r}{whose}{hint}\navailable:\n{lines}", 2)
