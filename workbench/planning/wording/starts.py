"""Cold starts: how long they and their steps take, and the cheapest saving."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.plan.review.review import Review
from components.plan.spans import about, estimated
from components.plan.starts.budget import StartBudget, StartStep

NOT_KNOWN = "not known"
COLUMNS = ("workload", "node", "image", "libraries", "weights", "engine", "probes", "total", "with node and image")
FOOTNOTE = (
    "Cold starts are estimates for a new node, with the bounds of published measurements (docs/cold-starts.md)."
)
_STEPS = (("node",), ("image",), ("libraries",), ("download", "loading"), ("engine",), ("probes",))


@dataclass(frozen=True, slots=True)
class StartLine:
    """The cold start of a workload.

    Attributes:
        steps: Durations of node, image, libraries, weights, engine and probes.
        total: Their sum with bounds: ``13 min (6 min to 20 min)``.
        warm: The sum on a node that has the image.
        saving: The cheapest saving with its effect; empty without one.
    """

    workload: str
    steps: tuple[str, ...]
    total: str
    warm: str
    saving: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells after the workload."""
        return (*self.steps, self.total, self.warm)


def start_lines(review: Review) -> Iterator[StartLine]:
    """Yield the cold starts of the head; roles with equal ones share a line with the first of them."""
    shown = set[tuple[str, StartBudget]]()
    for workload in review.head.workloads:
        budget = workload.start
        if budget is None or (key := (workload.served + workload.role, budget)) in shown:
            continue
        shown.add(key)
        yield StartLine(
            workload.title,
            tuple(_step(budget, names) for names in _STEPS),
            total_text(budget.total),
            total_text(budget.warm),
            saving_text(budget),
        )


def _step(budget: StartBudget, names: tuple[str, ...]) -> str:
    steps = [step for step in budget.steps if step.name in names]
    if not steps:
        return "-"
    seconds = [step.seconds for step in steps if step.seconds is not None]
    if len(seconds) < len(steps):
        return NOT_KNOWN
    return estimated(sum(seconds))


def total_text(total: StartStep) -> str:
    """Describe a sum: ``13 min (6 min to 20 min)``, or its known part."""
    if total.seconds is None:
        return f"at least {estimated(total.low)}"
    return f"{estimated(total.seconds)} ({estimated(total.low)} to {estimated(total.high or 0)})"


def short_text(total: StartStep) -> str:
    """Describe a sum without its bounds: ``13 min``, ``>6 min``."""
    return f">{estimated(total.low)}" if total.seconds is None else estimated(total.seconds)


def saving_text(budget: StartBudget) -> str:
    """Describe the cheapest saving; empty without one."""
    saving = budget.saving
    return f"to save {about(saving.seconds)}, {saving.what}; costs {saving.costs}" if saving else ""
