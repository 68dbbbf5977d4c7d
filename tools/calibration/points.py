"""Published measurements of servers: rows of AIConfigurator's ``silicon_sample.csv``, without those that mislead."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from components.checks.memory.cases import Fit, MemoryCase, MemoryVerdict, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.shapes import Shape
from components.contract.quantity import GIB
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines
from components.fleet.instances import Instance, instance
from livefleet.pace.closed_loop import ROUNDS
from livefleet.pace.estimates import Roofline, roofline

_INSTANCES = {
    "h100_sxm": "p5.48xlarge",
    "h200_sxm": "p5e.48xlarge",
    "b200_sxm": "p6-b200.48xlarge",
    "b300_sxm": "p6-b300.48xlarge",
}
"""An instance type with each accelerator; those with Grace processors have none at AWS."""
_ENGINES = {"trtllm": "tensorrt-llm"}
_FORMATS = {"fp8": "fp8", "fp4": "nvfp4"}
_ORGANIZATIONS = ("deepseek-ai", "meta-llama", "Qwen", "openai", "MiniMaxAI", "moonshotai", "zai-org", "mistralai")
"""Publishers of models that others quantize."""
_QUANTIZED = re.compile(r"-(NVFP4|FP8|FP4)(-v\d)?$", re.IGNORECASE)
_NODE = 8
"""Accelerators of a node."""
_INFERENCEX_LENGTH = 0.9
"""InferenceX draws lengths from 0.8 to 1 times the nominal ones."""
_SLOWER = 1.25
"""Factor between times of the same settings from which the faster one is another measurement: InferenceX also has
runs with speculative decoding, which the columns do not state."""
_OLD = frozenset({"0.5.0", "0.6.1", "0.7.3"})
"""Versions from before 2025, whose hosts took milliseconds for a step."""
_MANY_ROUNDS = 1000
"""Requests of a client in runs whose first wave does not count."""
_FULLER = 1.5
"""Servers had up to this many times the cache that the memory check counts on."""
_MOST_COMPUTE = 0.6
"""Share of the peak FLOP/s that prompts can need: with more, they came from a cache of prefixes."""
COLUMNS = (
    "backend",
    "backend_version",
    "model_path",
    "system",
    "precision",
    "isl",
    "osl",
    "batch_size",
    "tp_size",
    "attention_dp_size",
    "moe_tp_size",
    "moe_ep_size",
    "silicon_ttft_ms",
    "silicon_tpot_ms",
)
"""Columns that are read, besides ``silicon_data_source``."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A measured server.

    Attributes:
        family: Models of one architecture and size, which are left out together.
        device: Name of the accelerator.
        ranks: Degree of tensor parallelism.
        clients: Requests in flight.
        prompt, answer: Mean tokens.
        receive_steps: Steps after which the engine looks for new requests.
        rounds: Requests of each client in the run.
        first_ms, between_ms: Mean time to the first token, and between tokens; 0 if it was not measured.
        title: The run in words.
        row: The columns; empty for other tables.
    """

    engine: str
    version: str
    model: str
    family: str
    device: str
    format: str
    ranks: int
    clients: int
    prompt: float
    answer: float
    receive_steps: int
    rounds: int = ROUNDS
    first_ms: float
    between_ms: float
    verdict: MemoryVerdict
    instance_type: str
    roofline: Roofline
    title: str
    row: Mapping[str, str]

    @property
    def group(self) -> tuple[str, str]:
        """Engine and accelerator."""
        return self.engine, self.device

    @property
    def settings(self) -> tuple[object, ...]:
        """What is known of the run."""
        return (
            *(self.engine, self.family, self.device, self.format, self.ranks),
            *(self.prompt, self.answer, self.clients),
        )


def read_points(path: Path) -> tuple[list[Point], Counter[str]]:
    """Return the rows of a file that stand for a server, and why the others were left out.

    Args:
        path: Rows with the columns of AIConfigurator's ``silicon_sample.csv``, after comments.
    """
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    points: list[Point] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        point = _point(row)
        if isinstance(point, str):
            dropped[point] += 1
        else:
            points.append(point)
    unique = {(*point.settings, point.first_ms, point.between_ms): point for point in points}
    dropped["the same run as another row"] += len(points) - len(unique)
    slowest: dict[tuple[object, ...], float] = defaultdict(float)
    for point in unique.values():
        slowest[point.settings] = max(slowest[point.settings], point.between_ms)
    kept = [point for point in unique.values() if point.between_ms * _SLOWER > slowest[point.settings]]
    dropped[f"another run of the same settings is {_SLOWER} times slower"] += len(unique) - len(kept)
    return kept, +dropped


def _point(row: Mapping[str, str]) -> Point | str:
    """Return the point of a row, or why it stands for none."""
    node = instance(_INSTANCES.get(row["system"], ""))
    if row.get("mode", "agg") != "agg":
        return "prefill and decode on different servers"
    if node is None:
        return "an accelerator that no instance type has"
    shape = _shape(row["model_path"], row["precision"])
    if shape is None:
        return "a model that the catalog does not have"
    ranks, copies = int(row["tp_size"]), int(row["attention_dp_size"] or 1)
    source = row.get("silicon_data_source", row.get("source", ""))
    found = re.search(r"silicon_concurrency=(\d+)", source)
    batch = int(row["batch_size"])
    clients = int(found[1]) if found else batch * copies
    if ranks * copies > _NODE:
        return "more ranks than a node has accelerators"
    if shape.experts and ranks * copies != int(row["moe_tp_size"]) * int(row["moe_ep_size"]):
        return "experts are on another number of ranks than attention"
    if batch * copies != clients:
        return "the batch is not the share of the concurrency"
    if copies > 1:
        return "attention with data parallelism, which is not modelled"
    if not row["backend_version"]:
        return "the version of the engine is not known"
    is_inferencex = "gap-analysis" not in source
    point = _with_case(row, shape, node, clients, is_inferencex=is_inferencex)
    if isinstance(point, str):
        return point
    cached, each = point.roofline.bounds.cache_tokens, point.prompt + point.answer / 2
    # A cache of less than two requests is one that should not fit at all: the server was started with other settings.
    if cached is not None and 2 * each < _FULLER * cached < clients * each:
        return "more requests than the cache of keys and values holds, so that they wait in a queue"
    seconds = (point.first_ms + point.between_ms * point.answer) / 1000
    work = point.roofline.work.operations * point.prompt * clients
    if work > _MOST_COMPUTE * point.roofline.flops * seconds:
        return "prompts that no accelerator computes in this time"
    return point


def _with_case(
    row: Mapping[str, str], shape: Shape, node: Instance, clients: int, *, is_inferencex: bool
) -> Point | str:
    engine, ranks = _ENGINES.get(row["backend"], row["backend"]), int(row["tp_size"])
    length = _INFERENCEX_LENGTH if is_inferencex else 1.0
    prompt, answer = int(row["isl"]), int(row["osl"])
    memory = int((node.accelerator_memory_gib or 0) * GIB)
    budget = memory_of(engines()[engine], "", Device(node.accelerator, memory, ranks))
    if budget is None:
        return "an engine whose use of memory is unknown"
    parallel = Parallel(ranks, experts=int(row["moe_ep_size"]) > 1)
    case = MemoryCase(
        shape,
        node.accelerator,
        memory,
        parallel,
        budget,
        context=prompt + answer,
        engine=engine,
        instance_type=node.name,
    )
    found = roofline(node, case)
    if found is None:
        return "a model whose layers are unknown"
    # InferenceX starts SGLang on B200 and B300 with --scheduler-recv-interval 10, and 30 from 16 clients on.
    delays = is_inferencex and engine == "sglang" and node.accelerator.startswith("B")
    return Point(
        engine=engine,
        version=row["backend_version"],
        model=row["model_path"],
        family=_family(shape),
        device=node.accelerator,
        format=shape.dtype,
        ranks=ranks,
        clients=clients,
        prompt=prompt * length,
        answer=answer * length,
        receive_steps=(30 if clients >= 16 else 10) if delays else 1,
        first_ms=float(row["silicon_ttft_ms"]),
        between_ms=float(row["silicon_tpot_ms"]),
        verdict=MemoryVerdict(Fit.FITS, "", case),
        instance_type=node.name,
        roofline=found,
        title=(
            f"{engine} {row['backend_version']}, {row['model_path'].rpartition('/')[2]} {shape.dtype}, "
            f"{ranks} x {node.accelerator}, {prompt}/{answer}, {clients} clients"
        ),
        row=row,
    )


def read_benchmarks(path: Path, engine_names: Collection[str]) -> list[Point]:
    """Return the points of a table such as ``tests/livefleet/pace/benchmarks.yaml``, of engines since 2024.

    Throughput counts as the time between tokens where answers are longer than prompts.
    """
    return [
        point
        for row in yaml.safe_load(path.read_text(encoding="utf-8"))["points"]
        if row["engine"] in engine_names and row["version"] not in _OLD and "model" in row
        for point in _benchmark(row)
    ]


def _benchmark(row: Mapping[str, Any]) -> Iterator[Point]:
    node, shape = instance(row["instance"]), shape_of(row["model"])
    prompt, answer, clients, ranks = row["prompt"], row["answer"], row["at once"], row.get("tensor", 1)
    between_ms = row.get("itl_ms")
    if "tokens_per_s" in row and answer >= prompt:
        between_ms = clients / row["tokens_per_s"] * 1000
    if node is None or shape is None or between_ms is None:
        return
    memory = int((node.accelerator_memory_gib or 0) * GIB)
    budget = memory_of(engines()[row["engine"]], "", Device(node.accelerator, memory, ranks))
    if budget is None:
        return
    case = MemoryCase(
        shape, node.accelerator, memory, Parallel(ranks), budget, context=prompt + answer, engine=row["engine"]
    )
    found = roofline(node, case)
    if found is None:
        return
    yield Point(
        engine=row["engine"],
        version=str(row["version"]),
        model=row["model"],
        family=_family(shape),
        device=node.accelerator,
        format=shape.dtype,
        ranks=ranks,
        clients=clients,
        prompt=prompt,
        answer=answer,
        receive_steps=1,
        rounds=_MANY_ROUNDS,
        first_ms=row.get("ttft_ms", 0.0),
        between_ms=between_ms,
        verdict=MemoryVerdict(Fit.FITS, "", case),
        instance_type=node.name,
        roofline=found,
        title=f"{row['engine']} {row['version']}, {row['model']}, {ranks} x {node.accelerator}",
        row={},
    )


def _family(shape: Shape) -> str:
    """Return what models of one architecture and size have in common."""
    layers = sum(kind.count for kind in shape.layers)
    return f"{layers} layers of {shape.hidden}, {shape.experts} experts"


def _shape(model: str, precision: str) -> Shape | None:
    """Return a model with weights of a format; the one that was quantized, if the catalog does not have it."""
    name = _QUANTIZED.sub("", model.rpartition("/")[2])
    candidates = (model, *(f"{organization}/{name}" for organization in _ORGANIZATIONS))
    shape = next((found for found in map(shape_of, candidates) if found), None)
    stored = _FORMATS.get(precision)
    if shape is None or stored is None or shape.dtype == stored:
        return shape
    return replace(shape, dtype=stored, weights_bytes=None)


def write_points(points: Sequence[Point], path: Path, source: Iterable[str]) -> None:
    """Write the rows of points with the columns that are read, after comments that name their source."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"# {line}\n" for line in source)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COLUMNS, "source"))
        rows = []
        for point in points:
            source_name = (
                "silicon_concurrency" if "gap-analysis" not in _source(point) else "gap-analysis; silicon_concurrency"
            )
            rows.append((*(point.row[name] for name in COLUMNS), f"{source_name}={point.clients}"))
        for row in sorted(rows):
            times = [f"{float(value):.6g}" for value in row[-3:-1]]
            writer.writerow((*row[:-3], *times, row[-1]))


def _source(point: Point) -> str:
    return point.row.get("silicon_data_source", point.row.get("source", ""))
