"""Reads ``memory.yaml`` of an engine: rows that apply to some versions and accelerators.

All rows that apply are merged in order. The columns of a row:

    from, until, absent, gone: versions to which it applies (:class:`..versions.Span`).
    above, below: size of the accelerator's memory in GiB, from and up to which it applies.
    except: accelerators to which it does not apply. only: those to which it applies.
    ranks: minimum number of accelerators of a replica.
    fixed_mib, beside_mib, spread_mib, process_mib, layer_graphs_mib, expert_graphs_mib, most_graphs_mib, image_mib:
      the sizes of :class:`.EngineMemory`, in MiB.
    reserve: memory that the engine leaves free if its share is not set (:mod:`.reserve`). The share is computed from
      it; null if the share is that of ``share``.
    images_share, tower_sensitivity: factor of that share for models with an encoder of images, and how much the size
      of the encoder lowers it.
    Every other column is the attribute of :class:`.EngineMemory` with that name.
"""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ...contract.quantity import GIB
from ...contract.tables import read_table
from ..registry import Engine
from ..versions import VersionSpan
from .budget import EngineMemory
from .reserve import NO_TRAITS, ServerTraits, reserved_mib, tower_factor

_MIB = 2**20
_NONE = Decimal(0)
_CONDITIONS = frozenset({"from", "until", "absent", "gone", "above", "below", "except", "only", "ranks", "reserve"})
_SHARE_COLUMNS = (("images_share", 1), ("tower_sensitivity", 0))
_SIZES = {
    "fixed_mib": "fixed_bytes",
    "beside_mib": "beside_bytes",
    "spread_mib": "spread_bytes",
    "process_mib": "process_bytes",
    "layer_graphs_mib": "layer_graphs",
    "expert_graphs_mib": "expert_graphs",
    "most_graphs_mib": "most_graphs",
    "image_mib": "image_bytes",
}
_DECIMALS = ("share", "share_used", "weights_share", "cache_share", "mxfp4_share", "state_ratio", "window_share")


class Device(NamedTuple):
    """The accelerators of one replica.

    Attributes:
        name: Name of the accelerator, such as ``L40S``.
        memory: Memory of one accelerator, in bytes.
        ranks: Number of accelerators.
    """

    name: str
    memory: int
    ranks: int = 1


@functools.lru_cache(maxsize=1024)
def memory_of(engine: Engine, tag: str, device: Device, traits: ServerTraits = NO_TRAITS) -> EngineMemory | None:
    """Return how an engine uses memory; None if that is unknown.

    Args:
        engine: The engine.
        tag: Version tag of its image (:meth:`Engine.version_tag`).
        device: Its accelerators.
        traits: What the server computes.
    """
    merged: dict[str, Any] = {}
    reserve: dict[str, Any] = {}
    version = engine.version(tag)
    for row in _rows(engine):
        applies = (
            VersionSpan.from_row(row).includes(version)
            and row.get("above", 0) * GIB <= device.memory
            and ("below" not in row or device.memory < row["below"] * GIB)
            and device.name not in row.get("except", ())
            and device.name in row.get("only", (device.name,))
            and row.get("ranks", 1) <= device.ranks
        )
        if applies:
            merged |= {column: value for column, value in row.items() if column not in _CONDITIONS}
            reserve = {} if row.get("reserve", reserve) is None else reserve | row.get("reserve", {})
    if not merged:
        return None
    images_share, sensitivity = (Decimal(str(merged.pop(column, default))) for column, default in _SHARE_COLUMNS)
    attributes: dict[str, Any] = {}
    for column, value in merged.items():
        if column in _SIZES:
            attributes[_SIZES[column]] = value * _MIB
        else:
            attributes[column] = Decimal(str(value)) if column in _DECIMALS else value
    memory = EngineMemory(**attributes, engine=engine.name)
    if traits.batch_tokens is not None:
        memory = memory._replace(batch_tokens=traits.batch_tokens)
    if traits.graph_requests is not None:
        memory = memory._replace(graph_requests=traits.graph_requests)
    if reserve:
        memory = memory._replace(share=_unreserved_share(reserve, device, memory, traits))
    if memory.share is not None:
        memory = memory._replace(share=memory.share * tower_factor(images_share, sensitivity, traits))
    return memory


@functools.cache
def _rows(engine: Engine) -> tuple[Mapping[str, Any], ...]:
    file = engine.folder.joinpath("memory.yaml")
    return tuple(read_table(file)["rows"]) if file.is_file() else ()


def _unreserved_share(
    reserve: Mapping[str, Any], device: Device, memory: EngineMemory, traits: ServerTraits
) -> Decimal:
    """Return the share of memory that is not reserved, rounded as the engine does."""
    total = Decimal(device.memory) / _MIB
    reserved = reserved_mib(
        reserve, traits, ranks=device.ranks, tokens=memory.batch_tokens or 0, graph=memory.graph_requests
    )
    return max(_NONE, ((total - reserved) / total).quantize(Decimal("0.001")))
