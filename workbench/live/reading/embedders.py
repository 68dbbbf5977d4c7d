"""What is known of models that make embeddings: ``embedders.yaml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from components.api.tables import table


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model that makes embeddings.

    Attributes:
        dimensions: Numbers of a vector.
        tokens: Tokens of a text, at most.
    """

    dimensions: int
    tokens: int


def known_embedder(model: str) -> Embedder | None:
    """Return what is known of a model by the name of its repository, whatever its case; None where nothing is."""
    return _embedders().get(model.lower())


@functools.cache
def _embedders() -> Mapping[str, Embedder]:
    rows = table(__package__, "embedders.yaml")["models"]
    return {str(row["model"]).lower(): Embedder(row["dimensions"], row["tokens"]) for row in rows}
