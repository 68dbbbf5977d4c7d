"""Whether models fit into GPU memory, in words and figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.checks.memory.cases import Fit, MemoryVerdict
from components.checks.memory.wording import gib
from components.plan.review.snapshot import ServedModel, Snapshot

from .figures import integer, percentage, pluralize, usd

_WORST_FIRST = (Fit.EXCEEDED, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)
_LABELS = {
    Fit.FITS: "fits",
    Fit.TIGHT: "fits tightly",
    Fit.EXCEEDED: "does not fit",
    Fit.UNKNOWN: "not checked",
}


def worst_verdict(model: ServedModel) -> MemoryVerdict | None:
    """Return the verdict of the workload that fits worst; None without verdicts."""
    return min(model.verdicts.values(), key=lambda verdict: _WORST_FIRST.index(verdict.fit), default=None)


def fit_of(model: ServedModel) -> Fit | None:
    """Return whether a model fits; None for a model without GPUs."""
    verdict = worst_verdict(model)
    if verdict:
        return verdict.fit
    return Fit.UNKNOWN if model.accelerators[2] else None


def fit_label(fit: Fit | None) -> str:
    return _LABELS[fit] if fit else "no GPU"


def margin_of(verdict: MemoryVerdict | None) -> str:
    """Return how much memory is left or missing; empty without figures."""
    if verdict is None or not verdict.parts:
        return ""
    estimated = ", an estimate" if verdict.asked and verdict.asked.shape.estimate else ""
    if verdict.margin < 0:
        return f"exceeds {gib(verdict.usable)} by {gib(-verdict.margin)}{estimated}"
    left = percentage(verdict.margin, verdict.usable)
    return f"{gib(verdict.margin)} of {gib(verdict.usable)} left ({left}){estimated}"


def left_text(verdict: MemoryVerdict) -> str:
    """Return the memory that is left on the fullest GPU, such as ``3.2 GiB``; without figures, whether it fits."""
    if not verdict.parts:
        words = {Fit.FITS: "yes", Fit.TIGHT: "tightly", Fit.EXCEEDED: "does not fit", Fit.UNKNOWN: "not checked"}
        return words[verdict.fit]
    estimated = "~" if verdict.asked and verdict.asked.shape.estimate else ""
    left = f"{estimated}{gib(abs(verdict.margin))}"
    if verdict.fit is Fit.EXCEEDED:
        return f"no, {left} over"
    if verdict.margin < 0:
        return f"tight, {left} over"
    return f"{left}, tight" if verdict.fit is Fit.TIGHT else left


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """The memory use of a workload on one accelerator.

    Attributes:
        name: The serving resource, with the workload if there are several.
    """

    name: str
    verdict: MemoryVerdict

    @property
    def requests(self) -> str:
        """The assumed request length, and how many and how long requests fit; empty without figures."""
        verdict = self.verdict
        if not verdict.parts or not verdict.context:
            return ""
        at_once = f", of which {pluralize(verdict.sequences, 'fits', 'fit')} at once" if verdict.sequences else ""
        longest = f"; the longest that fits has {integer(verdict.largest_context)}" if verdict.largest_context else ""
        return f"assuming requests of {integer(verdict.context)} tokens{at_once}{longest}"

    @property
    def types(self) -> str:
        """The cheapest instance types on which it would fit; empty if none are known."""
        types = (
            f"{f'{choice.count} x ' if choice.count > 1 else ''}{choice.instance_type} "
            f"({usd(choice.usd_per_hour)} an hour)"
            for choice in self.verdict.types
        )
        return f"cheapest types on which it would fit: {', '.join(types)}" if self.verdict.types else ""


def memory_lines(snapshot: Snapshot) -> Iterator[MemoryLine]:
    """Yield the verdict of each workload, those that do not fit first."""
    lines = [
        MemoryLine(f"{model.title}, {workload}" if len(model.verdicts) > 1 else model.title, verdict)
        for model in snapshot.models
        for workload, verdict in sorted(model.verdicts.items())
    ]
    yield from sorted(lines, key=lambda line: (_WORST_FIRST.index(line.verdict.fit), line.name))
