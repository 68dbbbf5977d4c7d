"""Pairs of a model and accelerators with a published outcome, as cases for the arithmetic."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import Fit, MemoryCase, MemoryVerdict, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.ledger import Ledger
from components.checks.memory.shapes import Layers, Shape, heads_of
from components.checks.memory.weights import WeightSizes, weights_of
from components.contract.tables import read_table
from components.engines.memory.reserve import DraftKind
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines
from components.fleet.instances import instance

HERE = Path(__file__).parent
ENGINES = ("vllm", "sglang", "llamacpp", "tgi")
GIB = 2**30
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A model on accelerators, and what was published of it.

    Attributes:
        exceeded: Whether it was published that it does not fit.
        tokens: The cache that the engine reported, in tokens; None where it was not published.
        tokens_differ: Why the predicted cache is not compared with it; empty where it is.
        tight: What is not part of the sum and was too much; empty where the sum alone is. The verdict is tight there,
            and names it.
        disagrees: Why the verdict is another one than what was published; empty where it is the same.
    """

    name: str
    engine: str
    version: tuple[int, ...]
    case: MemoryCase
    exceeded: bool
    tokens: int | None
    tokens_differ: str
    disagrees: str
    tight: str
    said: str
    source: str

    @functools.cached_property
    def verdict(self) -> MemoryVerdict:
        """What the arithmetic says."""
        return judge(self.case, types=False)

    @property
    def agrees(self) -> bool:
        """Whether the verdict is what was published."""
        if self.tight:
            return self.verdict.fit is Fit.TIGHT and self.tight in self.verdict.reason
        return self.verdict.fit in ((Fit.EXCEEDED,) if self.exceeded else (Fit.FITS, Fit.TIGHT))

    @property
    def group(self) -> str:
        """Of what its predicted cache is compared with."""
        return "vllm before 0.6" if self.engine == "vllm" and self.version < (0, 6) else self.engine

    @property
    def predicted_tokens(self) -> int:
        """How many tokens the cache holds, counted as engines do: requests of the whole context times it."""
        weights = weights_of(self.case.shape, self.case.weights_dtype)
        assert isinstance(weights, WeightSizes)
        ledger, context = Ledger(self.case, weights), self.verdict.context
        return ledger.room(context) * context // ledger.of_sequence(context)


@functools.cache
def pairs() -> tuple[Pair, ...]:
    """Return all of them."""
    return tuple(_pair(engine, row) for engine in ENGINES for row in _read(f"{engine}.yaml")["rows"])


def _pair(engine: str, row: Row) -> Pair:
    return Pair(
        name=row["id"],
        engine=engine,
        version=tuple(map(int, re.findall(r"\d+", str(row["version"])))),
        case=_case(engine, row),
        exceeded={"exceeded": True, "fits": False}[row["published"]],
        tokens=row.get("tokens"),
        tokens_differ=row.get("tokens_differ", ""),
        disagrees=row.get("disagrees", ""),
        tight=row.get("tight", ""),
        said=row["said"],
        source=row["source"],
    )


def _case(engine: str, row: Row) -> MemoryCase:
    name, size = _device(row)
    parallel = Parallel(
        row.get("tensor", 1),
        row.get("pipeline", 1),
        row.get("data", 1),
        row.get("experts", False),
        row.get("groups", 1),
    )
    case = MemoryCase(
        shape=_shape(row),
        device=name,
        device_bytes=size,
        parallel=parallel,
        cache_bytes=Decimal(str(row.get("cache", 2))),
        context=row.get("context"),
        sequences=row.get("sequences"),
        batch_tokens=row.get("chunk"),
        graph_requests=row.get("graph_requests"),
        draft_kind=DraftKind(row.get("draft", "")),
        share=Decimal(str(row["share"])) if "share" in row else None,
    )
    device = Device(name, size, parallel.accelerators)
    budget = memory_of(engines()[engine], str(row["version"]), device, case.traits)
    assert budget
    if not row.get("graphs", True):
        budget = budget._replace(most_graphs=0)
    if "states" in row:
        budget = budget._replace(states=row["states"], state_slots=1)
    if case.draft_kind is DraftKind.HEADS:
        case = replace(case, draft=heads_of(case.shape), draft_tensor=parallel.tensor)
    return replace(case, budget=budget)


def _device(row: Row) -> tuple[str, int]:
    if "device" in row:
        name, size = row["device"]
        return name, int(Decimal(str(size)) * GIB)
    found = instance(row["instance"])
    assert found
    assert found.accelerator_memory_gib
    return found.accelerator, int(found.accelerator_memory_gib * GIB)


def _shape(row: Row) -> Shape:
    name = row["model"]
    own = _read("shapes.yaml")["shapes"].get(name)
    if own is None:
        found = shape_of(name)
        assert found, name
        return found
    return _own(name, own)


def _own(name: str, own: Row) -> Shape:
    plain = {key: own[key] for key in own.keys() & {field.name for field in fields(Shape)} - {"layers"}}
    if "expert_share" in plain:
        plain["expert_share"] = Decimal(str(plain["expert_share"]))
    ends = 1 if own.get("tied") else 2
    return Shape(
        name=name,
        parameters=int(Decimal(str(own["parameters_b"])) * 10**9),
        weights_bytes=int(Decimal(str(own["weights_gib"])) * GIB),
        layers=tuple(_layers(own["layers"])),
        embeddings=ends * own["vocabulary"] * own["hidden"],
        source=own["weights"],
        **plain,
    )


def _layers(kinds: list[Row]) -> Iterator[Layers]:
    for kind in kinds:
        count, heads, key, value = kind["of"]
        yield Layers(
            count, heads, key, value, kind.get("window"), is_latent="latent" in kind, state_bytes=kind.get("state", 0)
        )


@functools.cache
def _read(file: str) -> Any:
    return read_table(HERE / file)
