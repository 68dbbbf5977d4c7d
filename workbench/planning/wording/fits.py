"""Whether models fit into GPU memory, in words and figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.checks.memory.cases import CheaperType, Fit, MemoryVerdict
from components.checks.memory.wording import gib
from components.plan.review.snapshot import ServedModel, Snapshot

from .figures import counted, share, usd, whole

_WORST = (Fit.EXCEEDED, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)
_WORDS = {
    Fit.FITS: "fits",
    Fit.TIGHT: "fits tightly",
    Fit.EXCEEDED: "does not fit",
    Fit.UNKNOWN: "not checked",
}
_NO_GPU = "no GPU"


def worst(model: ServedModel) -> MemoryVerdict | None:
    """Return the verdict of the workload that fits worst; None without verdicts."""
    return min(model.verdicts.values(), key=lambda verdict: _WORST.index(verdict.fit), default=None)


def fit_of(model: ServedModel) -> Fit | None:
    """Return whether a model fits; None for a model without GPUs."""
    verdict = worst(model)
    if verdict:
        return verdict.fit
    return Fit.UNKNOWN if model.accelerators[2] else None


def word(fit: Fit | None) -> str:
    return _WORDS[fit] if fit else _NO_GPU


def by_how_much(verdict: MemoryVerdict | None) -> str:
    """Return how much memory is left or missing; empty without figures."""
    if verdict is None or not verdict.parts:
        return ""
    estimated = ", an estimate" if verdict.asked and verdict.asked.shape.estimate else ""
    if verdict.margin < 0:
        return f"{gib(-verdict.margin)} too much for {gib(verdict.usable)}{estimated}"
    left = share(verdict.margin, verdict.usable)
    return f"{gib(verdict.margin)} of {gib(verdict.usable)} left ({left}){estimated}"


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
        at_once = f", of which {counted(verdict.sequences, 'fits', 'fit')} at once" if verdict.sequences else ""
        longest = f"; the longest that fits has {whole(verdict.largest_context)}" if verdict.largest_context else ""
        return f"counted with requests of {whole(verdict.context)} tokens{at_once}{longest}"

    @property
    def types(self) -> str:
        """The cheapest instance types on which it would fit; empty if none are known."""
        found = ", ".join(map(_type, self.verdict.types))
        return f"cheapest types on which it would fit: {found}" if found else ""


def _type(found: CheaperType) -> str:
    number = f"{found.count} x " if found.count > 1 else ""
    return f"{number}{found.instance_type} ({usd(found.usd_per_hour)} an hour)"


def memory_lines(snapshot: Snapshot) -> Iterator[MemoryLine]:
    """Yield the verdict of each workload, those that do not fit first."""
    lines = [
        MemoryLine(f"{model.title}, {workload}" if len(model.verdicts) > 1 else model.title, verdict)
        for model in snapshot.models
        for workload, verdict in sorted(model.verdicts.items())
    ]
    yield from sorted(lines, key=lambda line: (_WORST.index(line.verdict.fit), line.name))
