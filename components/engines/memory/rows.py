"""Reads ``memory.yaml`` of an engine: rows that apply to some versions and accelerators.

All rows that apply are merged in order. The columns of a row:

    from, until, absent, gone: versions to which it applies (:class:`..versions.Span`).
    above, below: size of the accelerator's memory in GiB, from and up to which it applies.
    except: accelerators to which it does not apply. ranks: minimum number of accelerators of a replica.
    fixed_mib, beside_mib, spread_mib, process_mib, layer_graphs_mib, expert_graphs_mib, most_graphs_mib, image_mib:
      the sizes of :class:`.EngineMemory`, in MiB.
    reserve: memory that the engine leaves free if its share is not set, in MiB: ``base``, plus ``per_batch_token``,
      ``per_rank`` and ``graphs``, but ``at_least`` so much. The share is computed from it; null if the share is that
      of ``share``.
    Every other column is the attribute of :class:`.EngineMemory` with that name.
"""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ...contract.tables import read_table
from ..registry import Engine
from ..versions import VersionSpan
from .budget import EngineMemory

_MIB = 2**20
_GIB = 2**30
_NONE = Decimal(0)
_CONDITIONS = frozenset({"from", "until", "absent", "gone", "above", "below", "except", "ranks", "reserve"})
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
_DECIMALS = ("share", "share_used", "weights_share", "cache_share", "mxfp4_share")


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
def memory_of(engine: Engine, tag: str, device: Device, batch_tokens: int | None = None) -> EngineMemory | None:
    """Return how an engine uses memory; None if that is unknown.

    Args:
        engine: The engine.
        tag: Version tag of its image (:meth:`Engine.version_tag`).
        device: Its accelerators.
        batch_tokens: Tokens computed at a time, if the command line sets them.
    """
    merged: dict[str, Any] = {}
    reserve: dict[str, Any] = {}
    version = engine.version(tag)
    for row in _rows(engine):
        applies = (
            VersionSpan.from_row(row).includes(version)
            and row.get("above", 0) * _GIB <= device.memory
            and ("below" not in row or device.memory < row["below"] * _GIB)
            and device.name not in row.get("except", ())
            and row.get("ranks", 1) <= device.ranks
        )
        if applies:
            merged |= {column: value for column, value in row.items() if column not in _CONDITIONS}
            reserve = {} if row.get("reserve", reserve) is None else reserve | row.get("reserve", {})
    if not merged:
        return None
    attributes: dict[str, Any] = {}
    for column, value in merged.items():
        if column in _SIZES:
            attributes[_SIZES[column]] = value * _MIB
        else:
            attributes[column] = Decimal(str(value)) if column in _DECIMALS else value
    memory = EngineMemory(**attributes)
    if batch_tokens is not None:
        memory = memory._replace(batch_tokens=batch_tokens)
    return memory._replace(share=_unreserved_share(reserve, device, memory)) if reserve else memory


@functools.cache
def _rows(engine: Engine) -> tuple[Mapping[str, Any], ...]:
    file = engine.folder.joinpath("memory.yaml")
    return tuple(read_table(file)["rows"]) if file.is_file() else ()


def _unreserved_share(reserve: Mapping[str, Any], device: Device, memory: EngineMemory) -> Decimal:
    """Return the share of memory that is not reserved, rounded as the engine does."""
    sizes = {name: Decimal(str(value)) for name, value in reserve.items()}
    tokens = max(Decimal(memory.batch_tokens or 0), sizes.get("tokens_at_least", _NONE))
    reserved = sizes["base"] + sizes.get("per_batch_token", _NONE) * tokens
    reserved += sizes.get("per_rank", _NONE) * device.ranks + sizes.get("graphs", _NONE)
    total = Decimal(device.memory) / _MIB
    share = (total - max(reserved, sizes.get("at_least", _NONE))) / total
    return max(_NONE, share.quantize(Decimal("0.001")))
