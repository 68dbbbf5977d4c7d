"""The picture of a review as SVG: three columns of boxes, and arrows between them."""

from xml.etree.ElementTree import Element

from ...telling.picture import Look, Picture, PictureNode
from .drawing import drawing, shape, written

_WIDTH = 260
_GAP = 70
_LINE = 18
_PADDING = 8
_BETWEEN = 12
_LETTERS = 34
"""Letters of a line that find room in a box."""


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
    """Return where each box of a column begins, and how high it is."""
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
    """Return the picture in words."""
    arrows = (
        f"{picture.columns[column][one].lines[0]} to {picture.columns[column + 1][other].lines[0]}"
        for column, one, other in picture.arrows
    )
    return "Models, workloads and nodes: " + ("; ".join(arrows) or "nothing is connected")
