"""Models that are known by name: ``models.csv``, and the layers of each in ``model_layers.csv``.

The figures are those of each row's source. The columns of ``models.csv``:

    parameters: how many. parameters_from: where from: ``config`` (counted from the model's configuration), ``files``
      (half of the bytes of its 16-bit files), ``name`` (its publisher's name for it, which is rounded), ``other``.
    weights_gib: size of the files with the weights, each weight counted once. weights_from: ``files``, or ``config``.
    max_context: ``max_position_embeddings``, or the catalogue's limit of tokens.
    heads, hidden, vocabulary, intermediate, experts, active_experts, block, cuts: of :class:`.shapes.Shape`, from the
      model's configuration; empty if unknown.
    embeddings, expert_parameters, replicated: parameters of the vocabulary at both ends, of all experts, and of what
      each rank keeps whole.
    images: ``yes`` for models that read images or sounds as well.
    exact: ``yes`` where the layers are known one by one; else they are an upper bound.

The columns of ``model_layers.csv`` are those of :class:`.shapes.Layers`.
"""

import csv
import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from importlib.resources import files

from ...contract.quantity import GIB
from ...contract.tables import load_table
from .shapes import Layers, Shape, tower_size


@functools.lru_cache(maxsize=1024)
def shape_of(name: str) -> Shape | None:
    """Return the shape of a known model by the name of its repository; None if it is unknown."""
    rows = _rows("models.csv").get(name)
    return _shape(rows[0], tuple(map(_layers, _rows("model_layers.csv")[name]))) if rows else None


def names() -> Iterable[str]:
    """Return the names of all known models."""
    return _rows("models.csv").keys()


@functools.cache
def shapes() -> Mapping[str, Shape]:
    """Return every known model by name."""
    return {name: shape for name in names() if (shape := shape_of(name))}


@functools.cache
def _rows(file: str) -> Mapping[str, list[Mapping[str, str]]]:
    """Return the rows of a file by model. Their values are parsed when a model is used."""
    columns, *lines = csv.reader(files(__package__).joinpath(file).read_text(encoding="utf-8").splitlines())
    rows: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for line in lines:
        row = dict(zip(columns, line, strict=True))
        rows[row["model"]].append(row)
    return rows


def _shape(row: Mapping[str, str], layers: tuple[Layers, ...]) -> Shape:
    parameters, experts = _number(row["parameters"]), _number(row["expert_parameters"])
    return Shape(
        name=row["model"],
        parameters=parameters,
        dtype=row["dtype"],
        weights_bytes=int(Decimal(row["weights_gib"]) * GIB) if row["weights_gib"] else None,
        layers=layers,
        heads=_number(row["heads"]),
        max_context=_number(row["max_context"]),
        hidden=_number(row["hidden"]),
        vocabulary=_number(row["vocabulary"]),
        expert_share=Decimal(experts) / parameters if experts and parameters else None,
        experts=_number(row["experts"]) or 0,
        active_experts=_number(row["active_experts"]) or 0,
        intermediate=_number(row["intermediate"]),
        embeddings=_number(row["embeddings"]),
        replicated=_number(row["replicated"]) or 0,
        rounded=row["parameters_from"] == "name",
        block=_number(row["block"]),
        cuts=tuple(map(int, row["cuts"].split())),
        images=row["images"] == "yes",
        tower=_tower(row["family"]) if row["images"] == "yes" else Decimal(1),
        exact=row["exact"] == "yes",
        source=row["source"],
    )


def _layers(row: Mapping[str, str]) -> Layers:
    return Layers(
        count=int(row["count"]),
        kv_heads=int(row["kv_heads"]),
        key_dim=int(row["key_dim"]),
        value_dim=int(row["value_dim"]),
        window=_number(row["window"]),
        is_latent=row["latent"] == "yes",
        state_bytes=_number(row["state_bytes"]) or 0,
        token_bytes=_number(row["token_bytes"]) or 0,
    )


def _tower(family: str) -> Decimal:
    layers, width = _towers().get(family, (24, 1024))
    return tower_size(layers, width)


@functools.cache
def _towers() -> Mapping[str, tuple[int, int]]:
    families: Mapping[str, tuple[int, int]] = load_table(__package__, "towers.yaml")["families"]
    return families


def _number(text: str) -> int | None:
    return int(text) if text else None
