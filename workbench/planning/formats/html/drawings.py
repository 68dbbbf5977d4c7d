"""SVG drawings of the HTML page: bars of memory and cost, and the diagram. ElementTree escapes all text."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from components.checks.memory.wording import gib
from components.contract.texts.printable import printable

from ...wording.diagram import Diagram, Look
from ...wording.fits import MemoryLine
from ...wording.models import ModelLine


def drawing(name: str, **attributes: str | int) -> Element:
    """Return an empty drawing with an accessible name."""
    return Element("svg", {"role": "img", "aria-label": printable(name), **_attributes(attributes)})


def shape(parent: Element, tag: str, text: str = "", **attributes: str | float) -> Element:
    """Add an element."""
    element = SubElement(parent, tag, _attributes(attributes))
    element.text = printable(text) or None
    return element


def serialize(svg: Element) -> str:
    """Serialize a drawing for a page."""
    return tostring(svg, encoding="unicode")


def percent(part: float, of: float) -> str:
    """Format a length as a percentage, so that drawings scale with the page."""
    return f"{100 * part / of:.2f}%" if of > 0 else "0%"


def _attributes(attributes: dict[str, str | int] | dict[str, str | float]) -> dict[str, str]:
    return {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}


_PART_COLORS = 6


@dataclass(frozen=True, slots=True)
class Swatch:
    """A line of a legend: the CSS class of a color, and its meaning."""

    css_class: str
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
        return [text for text in (verdict.reason, line.requests, line.types, *verdict.notes) if text]


def memory_plot(line: MemoryLine) -> MemoryPlot | None:
    """Return the bar of a workload; None without figures."""
    verdict = line.verdict
    if not verdict.parts:
        return None
    parts = [(part.name, part.size) for part in verdict.parts if part.size > 0]
    segments = [
        (name, size, f"part-{min(number, _PART_COLORS)}") for number, (name, size) in enumerate(parts, start=1)
    ]
    if verdict.margin > 0:
        segments.append(("free", verdict.margin, "free"))
    total = max(verdict.needed, verdict.asked.device_bytes if verdict.asked else 0, verdict.usable)
    label = ", ".join(f"{name} {gib(size)}" for name, size, _ in segments)
    svg = drawing(f"Memory of one GPU: {label}; {gib(verdict.usable)} usable", class_="bar")
    start = 0
    for name, size, css_class in segments:
        left, width = percent(start, total), percent(size, total)
        rect = shape(svg, "rect", x=left, y=0, width=width, height="100%", class_=css_class)
        shape(rect, "title", f"{name}: {gib(size)}")
        start += size
    edge = percent(verdict.usable, total)
    shape(svg, "line", x1=edge, x2=edge, y1=0, y2="100%", class_="limit")
    legend = tuple(Swatch(css_class, f"{name} {gib(size)}") for name, size, css_class in segments)
    return MemoryPlot(line, serialize(svg), legend)


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
    amounts = (amount for line in lines for change in line.monthly for amount in (change.before, change.after))
    most = float(max((amount for amount in amounts if amount is not None), default=0))
    plots = []
    for line in lines:
        if not any(change.before or change.after for change in line.monthly):
            continue
        bars = []
        for title, change in zip(("now", "at least", "at most"), line.monthly, strict=True):
            svg = drawing(f"{title}: {change}", class_="bar")
            rows = [*([(change.before, "was")] if compared else []), (change.after, "part-1")]
            height = 100 // len(rows)
            for row, (amount, css_class) in enumerate(rows):
                width = percent(float(amount or 0), most)
                shape(svg, "rect", x=0, y=f"{row * height}%", width=width, height=f"{height}%", class_=css_class)
            bars.append(CostBar(title, serialize(svg), str(change)))
        plots.append(CostPlot(line.name, tuple(bars)))
    return plots


_WIDTH = 260
_GAP = 70
_LINE = 18
_PADDING = 8
_BETWEEN = 12
_LETTERS = 34
"""Maximum number of characters on a line of a box."""


def flowchart(diagram: Diagram) -> str:
    """Return the drawing of the diagram: columns of boxes from left to right, joined by arrows."""
    spans: list[list[tuple[int, int]]] = []  # top and height of each box, by column
    for boxes in diagram.columns:
        spans.append([])
        top = 1
        for box in boxes:
            height = len(box.lines) * _LINE + 2 * _PADDING
            spans[-1].append((top, height))
            top += height + _BETWEEN
    height = max((top + size for column in spans for top, size in column), default=0) + 2
    width = len(diagram.columns) * _WIDTH + (len(diagram.columns) - 1) * _GAP + 2
    arrows = [
        f"{diagram.columns[column][start].lines[0]} to {diagram.columns[column + 1][end].lines[0]}"
        for column, start, end in diagram.arrows
    ]
    label = f"Models, workloads and nodes: {'; '.join(arrows) or 'no connections'}"
    svg = drawing(label, width=width, height=height, viewBox=f"0 0 {width} {height}")

    for column, start, end in diagram.arrows:
        left, right = column * (_WIDTH + _GAP) + _WIDTH + 1, (column + 1) * (_WIDTH + _GAP) + 1
        first, last = (top + size / 2 for top, size in (spans[column][start], spans[column + 1][end]))
        middle = (left + right) / 2
        path = f"M {left} {first} C {middle} {first}, {middle} {last}, {right - 7} {last}"
        shape(svg, "path", d=path, class_="arrow")
        shape(svg, "path", d=f"M {right} {last} l -8 -4 v 8 z", class_="head")

    for column, boxes in enumerate(diagram.columns):
        left = column * (_WIDTH + _GAP) + 1
        for box, (top, size) in zip(boxes, spans[column], strict=True):
            css_class = "node" if box.look is Look.PLAIN else f"node-{box.look.value}"
            shape(svg, "rect", x=left, y=top, width=_WIDTH, height=size, rx=6, class_=css_class)
            for row, line in enumerate(box.lines):
                short = line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"
                base = top + _PADDING + row * _LINE + 13
                text = shape(svg, "text", short, x=left + 10, y=base, class_="line" if row else "name")
                if short != line:
                    shape(text, "title", line)
    return serialize(svg)
