"""What servers answer at ``/metrics``, by engine and version: ``expositions.yaml``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.contract.tables import parse_table
from components.engines.versions import VersionSpan

MODEL = '{a b} \\"c\\" 7'
"""A model's name with everything that a label may contain."""
COPIES = 3
"""Engines of a server with data parallelism."""


@dataclass(frozen=True, eq=False)
class Exposition:
    """The answers of an engine in some of its versions.

    Attributes:
        engine: Name of the engine.
        span: Its versions.
        row: The row, with the columns of the engine.
    """

    engine: str
    span: VersionSpan
    row: Mapping[str, Any]

    @property
    def gauges(self) -> tuple[str, ...]:
        """Gauges of requests that the server has not finished."""
        return tuple(self.row["gauges"])

    def text(self, requests: Mapping[str, int], copies: int = 1) -> str:
        """Return the answer of a server whose last engine has these requests, by gauge, and others have none."""
        lines: list[str] = []
        for name in self.gauges:
            counts = [0] * (copies - 1) + [requests.get(name, 0)]
            lines += self._metric(name, "gauge", counts, self.row.get("repeats", {}))
        for name, values in self.row.get("beside", {}).items():
            # Never zero, to show that they are not read.
            lines += self._metric(name, "gauge", [4] * copies, values)
        if counter := self.row.get("counter"):
            lines += self._metric(f"{counter}_total", "counter", [5] * copies)
            lines += self._metric(f"{counter}_created", "gauge", [1_700_000_000] * copies)
        return "".join(f"{line}\n" for line in lines)

    def _metric(
        self, name: str, kind: str, counts: list[int], more: Mapping[str, list[str]] | None = None
    ) -> Iterator[str]:
        if self.row["help"]:
            yield f"# HELP {name} Number of requests, 5 for example."
        yield f"# TYPE {name} {kind}"
        ((extra, values),) = (more or {"": [""]}).items()
        for copy, count in enumerate(counts):
            for value in values:
                labels = {label: self._label(label, copy) for label in self.row.get("labels", ())}
                labels |= {extra: value} if extra else {}
                text = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
                yield f"{name}{f'{{{text}}}' if text else ''} {self.row['numbers'].format(count)}"

    def _label(self, label: str, copy: int) -> str:
        if label == "model_name":
            return MODEL
        return str(copy) if label == self.row.get("copies") else "0"


def expositions() -> Iterator[Exposition]:
    """Return the answers of all engines with gauges, from the first version to the newest."""
    file = Path(__file__).with_suffix(".yaml")
    for engine, columns in parse_table(file.read_text(encoding="utf-8")).items():
        for row in columns["rows"]:
            yield Exposition(engine, VersionSpan.from_row(row), {**columns, **row})
