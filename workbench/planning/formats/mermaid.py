"""The diagram of a review as a Mermaid flowchart, which code hosts render in comments."""

import re

from components.contract.texts.printable import printable

from ..wording.diagram import Diagram, Look

_STYLES = {
    Look.GOOD: "fill:#d7f0dd,stroke:#1a7f37,color:#12261a",
    Look.TIGHT: "fill:#fff1c2,stroke:#9a6700,color:#2b2100",
    Look.BAD: "fill:#ffdcd7,stroke:#b3261e,color:#330a07",
    Look.OPEN: "fill:#e8e8ec,stroke:#5c5f66,color:#1c1d20",
    Look.CHANGED: "fill:#d9e8ff,stroke:#0b57b7,color:#071d3d",
}
_SPECIAL = re.compile(r"(?<=[A-Za-z0-9])[-._/](?=[A-Za-z0-9])|[A-Za-z0-9 ]|(?P<special>.)")
"""Punctuation is safe only between letters; elsewhere Mermaid could read it as a list."""
_MAX_LENGTH = 60


def mermaid(diagram: Diagram) -> list[str]:
    """Return the lines of a flowchart."""
    lines = ["flowchart LR"]
    keys: dict[Look, list[str]] = {look: [] for look in Look}
    for column, boxes in enumerate(diagram.columns):
        for position, box in enumerate(boxes):
            key = _key(column, position)
            lines.append(f'  {key}["{"<br/>".join(map(_escaped, box.lines))}"]')
            keys[box.look].append(key)
    lines += [f"  {_key(column, start)} --> {_key(column + 1, end)}" for column, start, end in diagram.arrows]
    for look, style in _STYLES.items():
        if keys[look]:
            lines += [f"  classDef {look.value} {style}", f"  class {','.join(keys[look])} {look.value}"]
    return lines


def _key(column: int, position: int) -> str:
    return f"{'abc'[column]}{position}"


def _escaped(text: str) -> str:
    """Escape text with entity codes (Mermaid documentation: "Entity codes to escape characters")."""
    label = printable(text)
    short = label if len(label) <= _MAX_LENGTH else f"{label[: _MAX_LENGTH - 1]}…"
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};" if match["special"] else match[0], short)
