"""SVG drawings of the HTML page: bars of memory and cost, and the diagram. ElementTree escapes all text."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from xml.etree.ElementTree import Element, SubElement, tostring

from components.checks.memory.cases import MemoryVerdict
from components.checks.memory.wording import gib
from components.contract.texts.printable import printable

from ...wording.fits import MemoryLine
from ...wording.models import ModelLine, Sums
from ...wording.picture import Look, Picture, PictureNode


def drawing(name: str, **attributes: str | int) -> Element:
    """Return an empty drawing with an accessible name."""
    return Element("svg", {"role": "img", "aria-label": printable(name), **_texts(attributes)})


def shape(parent: Element, tag: str, text: str = "", **attributes: str | float) -> Element:
    """Add an element."""
    element = SubElement(parent, tag, _texts(attributes))
    element.text = printable(text) or None
    return element


def written(svg: Element) -> str:
    """Serialize a drawing for a page."""
    return tostring(svg, encoding="unicode")


def percent(part: float, of: float) -> str:
    """Format a length as a percentage, so that drawings scale with the page."""
    return f"{100 * part / of:.2f}%" if of > 0 else "0%"


def _texts(attributes: dict[str, str | int] | dict[str, str | float]) -> dict[str, str]:
    return {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}


_COLOURS = 6
_FREE = "free"


@dataclass(frozen=True, slots=True)
class Swatch:
    """A line of a legend: the CSS class of a color, and its meaning."""

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
        """The texts next to the bar."""
        line, verdict = self.line, self.line.verdict
        found = (verdict.reason, line.requests, line.types, *verdict.notes)
        return [text for text in found if text]


def memory_plot(line: MemoryLine) -> MemoryPlot | None:
    """Return the bar of a workload; None without figures."""
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
    """An amount before and after a change."""

    title: str
    svg: str
    text: str


@dataclass(frozen=True, slots=True)
class CostPlot:
    """The monthly costs of a model."""

    name: str
    bars: tuple[CostBar, ...]


def cost_plots(lines: list[ModelLine], *, compared: bool) -> list[CostPlot]:
    """Return the bars of all models on a common scale."""
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


_WIDTH = 260
_GAP = 70
_LINE = 18
_PADDING = 8
_BETWEEN = 12
_LETTERS = 34
"""Maximum number of characters on a line of a box."""


def columns(picture: Picture) -> str:
    """Return the drawing."""
    boxes = [_boxes(nodes) for nodes in picture.columns]
    height = max((top + size for column in boxes for top, size in column), default=0) + 2
    width = len(picture.columns) * _WIDTH + (len(picture.columns) - 1) * _GAP + 2
    svg = drawing(_in_words(picture), width=width, height=height, viewBox=f"0 0 {width} {height}")
    for column, one, other in picture.arrows:
        _arrow(svg, column, boxes[column][one], boxes[column + 1][other])
    for column, nodes in enumerate(picture.columns):
        for node, (top, size) in zip(nodes, boxes[column], strict=True):
            _box(svg, node, column * (_WIDTH + _GAP) + 1, top, size)
    return written(svg)


def _boxes(nodes: tuple[PictureNode, ...]) -> list[tuple[int, int]]:
    """Return top and height of each box of a column."""
    found, top = [], 1
    for node in nodes:
        size = len(node.lines) * _LINE + 2 * _PADDING
        found.append((top, size))
        top += size + _BETWEEN
    return found


def _box(svg: Element, node: PictureNode, left: int, top: int, size: int) -> None:
    look = "node" if node.look is Look.PLAIN else f"node-{node.look.value}"
    shape(svg, "rect", x=left, y=top, width=_WIDTH, height=size, rx=6, class_=look)
    for row, line in enumerate(node.lines):
        short = line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"
        base = top + _PADDING + row * _LINE + 13
        text = shape(svg, "text", short, x=left + 10, y=base, class_="line" if row else "name")
        if short != line:
            shape(text, "title", line)


def _arrow(svg: Element, column: int, one: tuple[int, int], other: tuple[int, int]) -> None:
    start, end = column * (_WIDTH + _GAP) + _WIDTH + 1, (column + 1) * (_WIDTH + _GAP) + 1
    first, last = (top + size / 2 for top, size in (one, other))
    middle = (start + end) / 2
    path = f"M {start} {first} C {middle} {first}, {middle} {last}, {end - 7} {last}"
    shape(svg, "path", d=path, class_="arrow")
    shape(svg, "path", d=f"M {end} {last} l -8 -4 v 8 z", class_="head")


def _in_words(picture: Picture) -> str:
    """Return the diagram as text, for screen readers."""
    arrows = (
        f"{picture.columns[column][one].lines[0]} to {picture.columns[column + 1][other].lines[0]}"
        for column, one, other in picture.arrows
    )
    return "Models, workloads and nodes: " + ("; ".join(arrows) or "nothing is connected")
