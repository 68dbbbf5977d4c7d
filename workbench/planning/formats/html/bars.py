"""Bars of memory and of money: lengths are shares of the width, so that they fit every screen."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from components.checks.memory.cases import MemoryVerdict
from components.checks.memory.wording import gib

from ...telling.fits import MemoryLine
from ...telling.models import ModelLine, Sums
from .drawing import drawing, percent, shape, written

_COLOURS = 6
_FREE = "free"


@dataclass(frozen=True, slots=True)
class Swatch:
    """A line of a legend: the class of its colour, and what has it."""

    colour: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryPlot:
    """The memory of one accelerator, in parts."""

    line: MemoryLine
    svg: str
    legend: tuple[Swatch, ...]

    @property
    def texts(self) -> list[str]:
        """What there is to say beside the bar."""
        line, verdict = self.line, self.line.verdict
        found = (verdict.reason, line.requests, line.types, *verdict.notes)
        return [text for text in found if text]


def memory_plot(line: MemoryLine) -> MemoryPlot | None:
    """Return the bar of a workload; None where no figures are known."""
    verdict = line.verdict
    if not verdict.parts:
        return None
    parts = [*_parts(verdict)]
    whole = max(verdict.needed, _device(verdict), verdict.usable)
    words = ", ".join(f"{name} {gib(size)}" for name, size, _ in parts)
    svg = drawing(f"Memory of one GPU: {words}; usable are {gib(verdict.usable)}", class_="bar")
    start = 0
    for name, size, colour in parts:
        start, width = start + size, percent(size, whole)
        rect = shape(svg, "rect", x=percent(start - size, whole), y=0, width=width, height="100%", class_=colour)
        shape(rect, "title", f"{name}: {gib(size)}")
    edge = percent(verdict.usable, whole)
    shape(svg, "line", x1=edge, x2=edge, y1=0, y2="100%", class_="limit")
    legend = tuple(Swatch(colour, f"{name} {gib(size)}") for name, size, colour in parts)
    return MemoryPlot(line, written(svg), legend)


def _parts(verdict: MemoryVerdict) -> Iterator[tuple[str, int, str]]:
    shown = [part for part in verdict.parts if part.size > 0]
    for number, part in enumerate(shown):
        yield part.name, part.size, f"part-{min(number, _COLOURS - 1) + 1}"
    if verdict.margin > 0:
        yield "free", verdict.margin, _FREE


def _device(verdict: MemoryVerdict) -> int:
    return verdict.asked.device_bytes if verdict.asked else 0


@dataclass(frozen=True, slots=True)
class CostBar:
    """An amount of money, before and after."""

    title: str
    svg: str
    text: str


@dataclass(frozen=True, slots=True)
class CostPlot:
    """What a model costs a month."""

    name: str
    bars: tuple[CostBar, ...]


def cost_plots(lines: list[ModelLine], *, compared: bool) -> list[CostPlot]:
    """Return the bars of each model, all of them on one scale."""
    amounts = (amount for line in lines for sums in line.monthly for amount in (sums.before, sums.after))
    most = max((amount for amount in amounts if amount is not None), default=Decimal(0))
    titles = ("now", "at least", "at most")
    return [
        CostPlot(
            line.name,
            tuple(
                CostBar(title, _bar(title, sums, most, compared=compared), str(sums))
                for title, sums in zip(titles, line.monthly, strict=True)
            ),
        )
        for line in lines
        if any(sums.before or sums.after for sums in line.monthly)
    ]


def _bar(title: str, sums: Sums, most: Decimal, *, compared: bool) -> str:
    svg = drawing(f"{title}: {sums}", class_="bar")
    rows = [(sums.before, "was"), (sums.after, "part-1")] if compared else [(sums.after, "part-1")]
    height = 100 // len(rows)
    for row, (amount, colour) in enumerate(rows):
        width = percent(float(amount or 0), float(most))
        shape(svg, "rect", x=0, y=f"{row * height}%", width=width, height=f"{height}%", class_=colour)
    return written(svg)
