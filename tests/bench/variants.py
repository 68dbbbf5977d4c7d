"""Sizing variants: many at once, against the equations of the model written down plainly."""

import gc
import json
import random
import statistics
import time
from collections.abc import Callable

from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Case
from components.performance.sizing.queues import size
from components.performance.sizing.reference import known_models, reference_profiles
from tests.performance.sizing import plain

VARIANTS, MORE, ACCELERATORS = 1000, 4000, 20
RUNS = 5
PLAIN = 20
"""Cases that are sized by the plain equations, which take seconds for each large batch."""


def cases(variants: int, seed: int = 1) -> list[Case]:
    """Return variants, each with several accelerators: profiles of the reference table, and figures somewhat off."""
    chance = random.Random(seed)
    known = [each.profile for model in known_models() for each in reference_profiles(model)]
    found = []
    for _ in range(variants):
        targets = LatencyTargets(chance.choice((0, 24, 40, 80, 200)), chance.choice((0, 500, 1000, 2000)))
        rate, tokens = chance.uniform(1, 5000), chance.uniform(16, 1024)
        for profile in chance.choices(known, k=ACCELERATORS):
            alpha, beta = (figure * chance.uniform(0.8, 1.25) for figure in (profile.alpha, profile.beta))
            case = plain.case(alpha, beta, profile.batch, tokens, (targets.itl_ms, targets.ttft_ms), rate, cents=40)
            found.append(case)
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    gc.collect()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure() -> dict[str, float]:
    """Return seconds for fewer and for more variants, and what the plain equations would take for the fewer."""
    few, many = cases(VARIANTS), cases(MORE)
    sample = random.Random(1).sample(few, PLAIN)
    size(few)  # numpy is imported
    taken: dict[str, list[float]] = {"few": [], "many": []}
    for _ in range(RUNS):
        taken["few"].append(seconds(lambda: size(few)))
        taken["many"].append(seconds(lambda: size(many)))
    plainly = seconds(lambda: [plain.most(case) for case in sample]) * len(few) / len(sample)
    return {**{name: statistics.median(times) for name, times in taken.items()}, "plain": plainly}


def table(taken: dict[str, float]) -> str:
    """Return what was measured as a table."""
    heads = (
        f"{VARIANTS:,} x {ACCELERATORS}",
        f"{MORE:,} x {ACCELERATORS}",
        "ratio",
        "plain equations",
        "plain / ours",
    )
    figures = (
        f"{taken['few']:.2f}",
        f"{taken['many']:.2f}",
        f"{taken['many'] / taken['few']:.2f}",
        f"{taken['plain']:,.0f}",
        f"{taken['plain'] / taken['few']:,.0f}",
    )
    note = f"""\
Variants sized on every accelerator: maximum rates within both targets, replicas and behavior. Batches are those
of the reference table, up to 512. The goals are a second for {VARIANTS:,} variants, and a cost that grows as their
number does ({MORE // VARIANTS}). The plain equations are sums over all states, with bisection, in Python; their time
is that of {PLAIN} of these cases, extrapolated. These figures are of calls in a process, the median of {RUNS}."""
    return "\n".join([f"| {' | '.join(heads)} |", "|--:|--:|--:|--:|--:|", f"| {' | '.join(figures)} |", "", note])


if __name__ == "__main__":
    print(json.dumps(measure()))  # noqa: T201
