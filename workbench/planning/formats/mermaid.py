"""The diagram of a review as a Mermaid flowchart, which code hosts render in comments."""

import re

from components.contract.texts.printable import printable

from ..wording.picture import Look, Picture, PictureNode

_STYLES = {
    Look.GOOD: "fill:#d7f0dd,stroke:#1a7f37,color:#12261a",
    Look.TIGHT: "fill:#fff1c2,stroke:#9a6700,color:#2b2100",
    Look.BAD: "fill:#ffdcd7,stroke:#b3261e,color:#330a07",
    Look.OPEN: "fill:#e8e8ec,stroke:#5c5f66,color:#1c1d20",
    Look.CHANGED: "fill:#d9e8ff,stroke:#0b57b7,color:#071d3d",
}
_SPECIAL = re.compile(r"(?<=[A-Za-z0-9])[-._/](?=[A-Za-z0-9])|[A-Za-z0-9 ]|(?P<special>.)")
"""Punctuation is safe only between letters; elsewhere Mermaid could read it as a list."""
_LONGEST = 60


def mermaid(picture: Picture) -> list[str]:
    """Return the lines of a flowchart."""
    lines = ["flowchart LR"]
    for column, nodes in enumerate(picture.columns):
        lines += [f'  {_key(column, place)}["{_label(node)}"]' for place, node in enumerate(nodes)]
    lines += [f"  {_key(column, one)} --> {_key(column + 1, other)}" for column, one, other in picture.arrows]
    for look, style in _STYLES.items():
        keys = [
            _key(column, place)
            for column, nodes in enumerate(picture.columns)
            for place, node in enumerate(nodes)
            if node.look is look
        ]
        if keys:
            lines += [f"  classDef {look.value} {style}", f"  class {','.join(keys)} {look.value}"]
    return lines


def _key(column: int, place: int) -> str:
    return f"{'abc'[column]}{place}"


def _label(node: PictureNode) -> str:
    return "<br/>".join(_escaped(line) for line in node.lines)


def _escaped(text: str) -> str:
    """Escape text with entity codes (Mermaid documentation: "Entity codes to escape characters")."""
    shown = printable(text)
    short = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};" if found["special"] else found[0], short)
