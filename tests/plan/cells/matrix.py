"""The cells of models, GPUs and releases, in an order that is random and always the same."""

import csv
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.plan.cells.cells import Cell
from tests.plan.cells.reader import GPUS, RELEASES, Facts

FOLDER = Path(__file__).parents[3] / "components/checks/memory"
SEED = 42
_FLAGS = {"vllm": ("--max-model-len", "--tensor-parallel-size"), "sglang": ("--context-length", "--tp-size")}
SHORT = 2048
"""Tokens of a request, if the model has as many."""


def cells(count: int) -> Iterator[tuple[Facts, Cell]]:
    """Yield a number of cells: a model of the catalog, on GPUs of a generation, with a release and arguments."""
    models = [row for row in _rows("models.csv") if row["parameters"]]
    key_heads: dict[str, set[int]] = defaultdict(set)
    for layers in _rows("model_layers.csv"):
        if not layers["latent"] and layers["kv_heads"]:
            key_heads[layers["model"]].add(int(layers["kv_heads"]))
    draw = random.Random(SEED)
    releases = [(engine, version) for engine, versions in RELEASES.items() for version in versions]
    for _ in range(count):
        row, instance, (engine, version) = draw.choice(models), draw.choice(list(GPUS)), draw.choice(releases)
        gpus = draw.choice((1, 2, 4, 8))
        tensor = draw.choice((gpus, gpus, gpus, gpus, 2, 3, 6, 8))
        dtype = draw.choice(("", "", "", "half", "bfloat16")) if engine == "vllm" else ""
        facts = Facts(
            model=row["model"],
            weights=row["dtype"],
            billions=int(row["parameters"]) / 1e9,
            heads=int(row["heads"] or 0),
            key_heads=tuple(sorted(key_heads[row["model"]] - {0})),
            block=int(row["block"] or 0),
            cuts=tuple(map(int, row["cuts"].split())) if row["block"] else (),
            experts=bool(row["experts"]),
            engine=engine,
            version=version,
            instance=instance,
            gpus=gpus,
            tensor=tensor,
            dtype=dtype,
        )
        yield facts, _cell(facts, min(SHORT, int(row["max_context"] or SHORT)))


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _cell(facts: Facts, tokens: int) -> Cell:
    context, tensor = _FLAGS[facts.engine]
    args = [context, str(tokens), tensor, str(facts.tensor), *(["--dtype", facts.dtype] if facts.dtype else [])]
    return Cell(
        model=facts.model,
        engine=facts.engine,
        version=facts.version,
        instance=facts.instance,
        gpus=facts.gpus,
        args=tuple(args),
    )
