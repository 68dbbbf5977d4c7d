"""Published outcomes as questions for ``fit``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.checks.memory.cases import MemoryVerdict
from components.contract.tables import read_table
from components.fleet.instances import instance
from components.plan.fitting.options import verdict_on
from components.plan.fitting.question import EngineChoice, FitQuestion, engine_choice

TABLE = Path(__file__).with_name("published.yaml")
REGION = "us-east-1"


@dataclass(frozen=True)
class Published:
    """One row of the table.

    Attributes:
        starts: Whether the server started.
        roomy: Whether a tenth or more of the memory is free.
    """

    name: str
    question: FitQuestion
    row: Mapping[str, Any]
    starts: bool
    roomy: bool

    @functools.cached_property
    def verdict(self) -> MemoryVerdict:
        """What ``fit`` says."""
        node = instance(self.row["instance"])
        assert node
        return verdict_on(self.question, node, self.row["gpus"], self.row.get("nodes", 1))


@functools.cache
def published() -> tuple[Published, ...]:
    """Return all rows."""
    return tuple(map(_published, read_table(TABLE)["cases"]))


def _published(row: Mapping[str, Any]) -> Published:
    serving = engine_choice(f"vllm=={row['engine']}")
    assert isinstance(serving, EngineChoice), serving
    question = FitQuestion(
        row["model"], serving, REGION, context=row["max_len"], args=tuple(map(str, row.get("args", ())))
    )
    starts = {"starts": True, "fails": False}[row["published"]]
    return Published(row["id"], question, row, starts, row.get("roomy", "no") == "yes")
