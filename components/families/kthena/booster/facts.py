"""The pods of ModelBoosters as data: the rows of ``facts.yaml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ....contract.tables import read_table
from ....engines.registry import Engine, engines
from ....fleet.objects import Object


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """How the engine of a backend type is started; the attributes are the columns of the table."""

    engine: str
    serves: str
    runtime: str
    command: tuple[str, ...]
    host: bool = False
    events: tuple[str, ...] = ()
    env: tuple[Object, ...] = ()

    @property
    def definition(self) -> Engine:
        return engines()[self.engine]


@dataclass(frozen=True, slots=True)
class LiteralFacts:
    """What Kthena's own controllers write; the attributes are the columns of the table."""

    images: Mapping[str, str]
    command: tuple[str, ...]
    ray: tuple[str, ...]
    script: str
    devices: tuple[str, ...]
    connectors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelScopeFacts:
    """What downloads from ModelScope; the attributes are the columns of the table."""

    image: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The table.

    Attributes:
        runtime: Arguments of the runtime, with placeholders.
        downloader: Variables that the downloader reads.
        modelscope: What downloads an ``ms://`` source.
        s3_keys: Variables without which it downloads nothing from an object store.
        engines: By backend type; types without an entry have no pods.
    """

    images: Mapping[str, str]
    runtime: tuple[str, ...]
    downloader: tuple[str, ...]
    modelscope: ModelScopeFacts
    s3_keys: tuple[str, ...]
    literal: LiteralFacts
    engines: Mapping[str, EngineFacts] = field(default_factory=dict)


@functools.cache
def facts() -> Facts:
    """Read the table."""
    table = dict(read_table(files(__package__).joinpath("facts.yaml")))
    rows = {
        name: EngineFacts(**{key: _frozen(value) for key, value in row.items()})
        for name, row in table["engines"].items()
    }
    return Facts(
        images=table["images"],
        runtime=tuple(table["runtime"]),
        downloader=tuple(table["downloader"]),
        modelscope=ModelScopeFacts(**{key: _frozen(value) for key, value in table["modelscope"].items()}),
        s3_keys=tuple(table["s3_keys"]),
        literal=LiteralFacts(**{key: _frozen(value) for key, value in table["literal"].items()}),
        engines=rows,
    )


def _frozen(value: Any) -> Any:  # noqa: ANN401  a cell of the table
    return tuple(value) if isinstance(value, list) else value
