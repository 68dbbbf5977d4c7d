"""Timing whole processes, alternating the contestants so that a drifting machine hits all of them alike."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command that is measured as a whole process, and what undoes it between runs."""

    name: str
    command: Sequence[str]
    cwd: Path
    before: Callable[[], None] | None = None


def seconds(contestant: Contestant, env: Mapping[str, str]) -> float:
    """Run the contestant once; the clock covers the process alone. A failing command is an error."""
    if contestant.before:
        contestant.before()
    started = time.perf_counter()
    done = subprocess.run(
        contestant.command,
        cwd=contestant.cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    elapsed = time.perf_counter() - started
    if done.returncode != 0:
        message = f"{contestant.name} failed ({done.returncode}):\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        raise RuntimeError(message)
    return elapsed


def medians(contestants: Sequence[Contestant], runs: int, env: Mapping[str, str]) -> dict[str, float]:
    """Median seconds of each contestant over ``runs`` interleaved runs."""
    taken: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for _ in range(runs):
        for contestant in contestants:
            taken[contestant.name].append(seconds(contestant, env))
    return {name: statistics.median(times) for name, times in taken.items()}
