"""On which instance types a model would fit."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from ....engines.memory.rows import Device, memory_of
from ....engines.registry import engines
from ....fleet.clouds import cleared_with_clouds
from ....fleet.instances import Instance, instances
from ..cases import CheaperType, MemoryCase, Parallel
from .devices import GIB, capability, maker_of
from .refusals import allowed_degrees

_Offer = tuple[Decimal, int, Instance]
_MOST = 3
_COUNTS = (1, 2, 4)
"""Instances of one replica that are tried."""
_HALF = frozenset({"float16", "half"})
_BFLOAT16 = Decimal(8)
"""Compute capability from which bfloat16 and quantized weights are computed; else float16 it is (vLLM issue 1157)."""


def cheapest_types(case: MemoryCase, fits: Callable[[MemoryCase], bool]) -> tuple[CheaperType, ...]:
    """Return the cheapest instance types on which a case would fit, cheapest first, at most three.

    Types without a price, or of whose accelerators no source says enough, are left out. Several instances are named
    only where no single one is enough: a group of nodes starts and fails together, and the network is slower.
    """
    offers = _offers(maker_of(case.device))
    return _found(case, fits, [o for o in offers if o[1] == 1]) or _found(case, fits, [o for o in offers if o[1] > 1])


def _found(case: MemoryCase, fits: Callable[[MemoryCase], bool], offers: Sequence[_Offer]) -> tuple[CheaperType, ...]:
    found: dict[str, CheaperType] = {}
    tried: dict[MemoryCase, bool] = {}
    for usd, count, instance in offers:
        if len(found) == _MOST:
            break
        if instance.name not in found and _computes(case, instance):
            parallels = _parallels(case, instance, count)
            parallel = next((p for p in parallels if _tried(tried, on_instance(case, instance, p), fits)), None)
            if parallel is not None:
                found[instance.name] = CheaperType(instance.name, count, parallel, usd)
    return tuple(found.values())


def _tried(tried: dict[MemoryCase, bool], case: MemoryCase, fits: Callable[[MemoryCase], bool]) -> bool:
    """Tell whether a case fits: many instance types differ in what is no part of it."""
    if case not in tried:
        tried[case] = fits(case)
    return tried[case]


@cleared_with_clouds
@functools.cache
def _offers(maker: str) -> tuple[_Offer, ...]:
    """Return what can be had of a maker: price, number of instances, instance type; cheapest first."""
    known = [found for found in instances().values() if found.manufacturer == maker and found.accelerators]
    offers = [
        (found.usd_per_hour * n, n, found) for found in known for n in _COUNTS if found.usd_per_hour is not None
    ]
    return tuple(sorted(offers, key=lambda offer: (offer[0], offer[1], offer[2].name)))


def _computes(case: MemoryCase, instance: Instance) -> bool:
    able = capability(instance.accelerator, _memory(instance))
    half = (case.weights_dtype or case.shape.dtype) in _HALF
    return able is not None and (half or able >= _BFLOAT16)


def _parallels(case: MemoryCase, instance: Instance, count: int) -> Iterator[Parallel]:
    """Yield how the accelerators of some instances could share a model, the fewest first."""
    if not case.budget.cuts:
        first = (count - 1) * instance.accelerators + 1
        yield from (Parallel(pipeline=number) for number in range(first, count * instance.accelerators + 1))
        return
    degrees = [
        degree
        for degree in allowed_degrees(case.shape, experts=case.parallel.experts)
        if degree <= instance.accelerators
    ]
    for degree in degrees if count == 1 else degrees[-1:]:
        yield Parallel(tensor=degree, pipeline=count, experts=case.parallel.experts)


def on_instance(case: MemoryCase, instance: Instance, parallel: Parallel) -> MemoryCase:
    """Return a case on other accelerators."""
    moved = replace(case, device=instance.accelerator, device_bytes=_memory(instance), instance_type="")
    return spread_over(moved, parallel)


def spread_over(case: MemoryCase, parallel: Parallel) -> MemoryCase:
    """Return a case with another parallelism.

    The engine's budget depends on the number of accelerators; the context of the command line stays the same.
    """
    budget, engine = case.budget, engines().get(case.engine)
    if engine is not None:
        device = Device(case.device, case.device_bytes, parallel.accelerators)
        found = memory_of(engine, case.tag, device, case.batch_tokens) or budget
        budget = replace(
            found,
            reserves_context=found.reserves_context and budget.reserves_context,
            reserves_all=found.reserves_all and budget.reserves_all,
            spills=found.spills or budget.spills,
            most_graphs=min(found.most_graphs, budget.most_graphs),
        )
    return replace(case, parallel=parallel, budget=budget, draft_tensor=min(case.draft_tensor, parallel.tensor))


def _memory(instance: Instance) -> int:
    return int((instance.accelerator_memory_gib or Decimal(0)) * GIB)
