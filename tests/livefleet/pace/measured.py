"""Published measurements (``benchmarks.yaml``), and a replica under the same load."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from components.checks.memory.cases import Fit, MemoryCase, MemoryVerdict, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.shapes import Layers, Shape
from components.contract.quantity import GIB
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines
from components.fleet.instances import instance
from livefleet.fleet import TokenPace
from livefleet.pace.estimates import pace_of
from livefleet.pace.replica import EngineReplica, Job

Row = Mapping[str, Any]
TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("benchmarks.yaml").read_text(encoding="utf-8"))
FIGURES = ("itl_ms", "ttft_ms", "tokens_per_s")
_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Measured:
    """One figure of one row."""

    row: Row
    figure: str

    @property
    def ratio(self) -> float:
        """How much slower the replica is than the server: above 1, its times are longer, or its tokens fewer."""
        found = under_load(pace_on(self.row), self.row["at once"], self.row["prompt"], self.row["answer"])
        published = float(self.row[self.figure])
        return published / found[self.figure] if self.figure == "tokens_per_s" else found[self.figure] / published

    @property
    def title(self) -> str:
        """For people, and unlike that of all others."""
        row = self.row
        model = row.get("model", row.get("shape", "")).split("/")[-1]
        load = f"{row['at once']}x{row['prompt']}+{row['answer']}"
        place = f"{row['instance']} x{row.get('tensor', 1)}"
        return f"{row['engine']} {row['version']}, {model}, {place}, {load}, {self.figure}"


def figures(where: str = "points") -> Iterator[Measured]:
    """Yield every figure of a part of the table."""
    yield from (Measured(row, figure) for row in TABLE[where] for figure in FIGURES if figure in row)


def pace_on(row: Row) -> TokenPace:
    """Return what is estimated for a row."""
    return pace_of(verdict_on(row), row["instance"], _shape(row), row.get("cpus"))


def verdict_on(row: Row) -> MemoryVerdict:
    """Return the verdict of a plan on a row."""
    shape, node = _shape(row), instance(row["instance"])
    assert node is not None
    if not node.accelerators:
        return MemoryVerdict(Fit.UNKNOWN, "")
    memory, ranks = int((node.accelerator_memory_gib or 0) * GIB), row.get("tensor", 1)
    budget = memory_of(engines()[row["engine"]], "", Device(node.accelerator, memory, ranks))
    assert budget is not None
    case = MemoryCase(
        shape,
        node.accelerator,
        memory,
        Parallel(ranks),
        budget,
        context=row["prompt"] + row["answer"],
        # Some engines keep as many places as they are told, and no more.
        sequences=row["at once"] if budget.reserves_all else None,
    )
    return MemoryVerdict(Fit.FITS, "", case)


def _shape(row: Row) -> Shape:
    found = shape_of(row["model"]) if "model" in row else _own_shape(row["shape"])
    assert found is not None
    return found


def _own_shape(name: str) -> Shape:
    known = TABLE["shapes"][name]
    layers = Layers(known["layers"], known["kv_heads"], known["width"], known["width"])
    return Shape(
        name,
        parameters=known["parameters"],
        dtype="float16",
        weights_bytes=int(Decimal(str(known["weights_gib"])) * GIB),
        layers=(layers,),
        max_context=4096,
    )


def under_load(pace: TokenPace, clients: int, prompt: int, answer: int) -> dict[str, float]:
    """Let clients send one request after the other; return the means without the first round, when all come at once.

    Args:
        pace: How fast the replica is.
        clients: How many there are.
        prompt: Tokens of each prompt.
        answer: Tokens of each answer.
    """
    replica, done = EngineReplica(pace, None, 0.0), list[Job]()
    running = [replica.submit(0.0, prompt, answer) for _ in range(clients)]
    while len(done) < _ROUNDS * clients:
        now = replica.changes_at  # a request ends only where the batch changes
        replica.advance(now)
        ended = [job for job in running if job.ended is not None]
        done += ended
        running = [job for job in running if job.ended is None] + [replica.submit(now, prompt, answer) for _ in ended]
    counted = done[clients:] if clients > 1 else done
    first = [(job.first or 0.0) - job.arrived for job in counted]
    each = [((job.ended or 0.0) - (job.first or 0.0)) / max(answer - 1, 1) for job in counted]
    start = done[clients - 1].ended or 0.0
    return {
        "ttft_ms": sum(first) / len(first) * 1000,
        "itl_ms": sum(each) / len(each) * 1000,
        "tokens_per_s": (len(done) - clients) * answer / ((done[-1].ended or 0.0) - start),
    }
