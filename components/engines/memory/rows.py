"""Reads ``memory.yaml`` of an engine: rows that hold for some versions, on some accelerators.

All rows that hold are laid over one another in their order. The columns of a row:

    from, until, absent, gone: versions in which it holds (:class:`..versions.Span`).
    above, below: size of the accelerator's memory in GiB, from and up to which it holds.
    except: accelerators for which it does not hold. ranks: least number of accelerators of a replica that it holds
      for.
    fixed_mib, beside_mib, spread_mib, process_mib, layer_graphs_mib, expert_graphs_mib, most_graphs_mib, image_mib:
      the sizes of :class:`.EngineMemory`, in MiB.
    reserve: what the engine leaves free where its share is not told, in MiB: ``base``, so much ``per_batch_token``,
      ``per_rank`` and so on top for ``graphs``, and ``at_least`` so much. The share follows from it; null
      where the share is that of ``share``.
    Every other column is the attribute of :class:`.EngineMemory` with that name.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine
from ..versions import Span, Version
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


@dataclass(frozen=True, slots=True)
class Device:
    """The accelerators of one replica.

    Attributes:
        name: Of the accelerator, such as ``L40S``.
        memory: Bytes of one of them.
        ranks: How many there are.
    """

    name: str
    memory: int
    ranks: int = 1


@functools.lru_cache(maxsize=1024)
def memory_of(engine: Engine, tag: str, device: Device, batch_tokens: int | None = None) -> EngineMemory | None:
    """Return what an engine does with memory; None where nothing is known of it.

    Args:
        engine: The engine.
        tag: Tag of its image, as :meth:`Engine.version_tag` returns it.
        device: Its accelerators.
        batch_tokens: Tokens that are computed at a time, where the command line says it.
    """
    merged: dict[str, Any] = {}
    reserve: dict[str, Any] = {}
    for row in _holding(engine, engine.version(tag), device):
        merged |= {column: value for column, value in row.items() if column not in _CONDITIONS}
        reserve = {} if row.get("reserve", reserve) is None else reserve | row.get("reserve", {})
    if not merged:
        return None
    found = EngineMemory(**dict(map(_attribute, merged.items())))
    if batch_tokens is not None:
        found = replace(found, batch_tokens=batch_tokens)
    return replace(found, share=_left(reserve, device, found)) if reserve else found


def _holding(engine: Engine, version: Version | None, device: Device) -> Iterator[Mapping[str, Any]]:
    for row in _rows(engine):
        holds = (
            Span.from_row(row).includes(version)
            and row.get("above", 0) * _GIB <= device.memory
            and ("below" not in row or device.memory < row["below"] * _GIB)
            and device.name not in row.get("except", ())
            and row.get("ranks", 1) <= device.ranks
        )
        if holds:
            yield row


@functools.cache
def _rows(engine: Engine) -> tuple[Mapping[str, Any], ...]:
    file = engine.folder.joinpath("memory.yaml")
    return tuple(read_table(file)["rows"]) if file.is_file() else ()


def _attribute(column: tuple[str, Any]) -> tuple[str, Any]:
    name, value = column
    if name in _SIZES:
        return _SIZES[name], value * _MIB
    return name, Decimal(str(value)) if name in _DECIMALS else value


def _left(reserve: Mapping[str, Any], device: Device, found: EngineMemory) -> Decimal:
    """Return the share that is left by what the engine keeps free, as it rounds it."""
    known = {name: Decimal(str(value)) for name, value in reserve.items()}
    tokens = max(Decimal(found.batch_tokens or 0), known.get("tokens_at_least", _NONE))
    kept = known["base"] + known.get("per_batch_token", _NONE) * tokens
    kept += known.get("per_rank", _NONE) * device.ranks + known.get("graphs", _NONE)
    memory = Decimal(device.memory) / _MIB
    share = (memory - max(kept, known.get("at_least", _NONE))) / memory
    return max(_NONE, share.quantize(Decimal("0.001")))
