"""Embedding models, from ``embedders.yaml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from components.contract.tables import load_table


@dataclass(frozen=True, slots=True)
class Embedder:
    """An embedding model.

    Attributes:
        dimensions: Length of a vector.
        tokens: Maximum tokens of an input.
    """

    dimensions: int
    tokens: int


def known_embedder(model: str) -> Embedder | None:
    """Return an embedding model by its repository, ignoring case; None if it is unknown."""
    return _embedders().get(model.lower())


@functools.cache
def _embedders() -> Mapping[str, Embedder]:
    rows = load_table(__package__, "embedders.yaml")["models"]
    return {str(row["model"]).lower(): Embedder(row["dimensions"], row["tokens"]) for row in rows}
