"""The cheapest instance types on which a model would fit."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from ....contract.quantity import GIB
from ....engines.formats.faults import is_computed
from ....engines.memory.rows import Device, memory_of
from ....engines.registry import engines
from ....fleet.clouds import cleared_with_clouds
from ....fleet.instances import Instance, accelerated_instances
from ..cases import CheaperType, MemoryCase, Parallel
from .devices import capability, maker_of
from .refusals import allowed_degrees

_Offer = tuple[Decimal, int, Instance]
_MAX_TYPES = 3
_COUNTS = (1, 2, 4)
"""Numbers of instances per replica to consider."""


def cheapest_types(case: MemoryCase, fits: Callable[[MemoryCase], bool]) -> tuple[CheaperType, ...]:
    """Return up to three instance types on which a case would fit, cheapest first.

    Types without a price or with unknown accelerators are left out. Several instances are considered only if no
    single one is enough: a group of nodes starts and fails together, and the network is slower.
    """
    offers = _offers(maker_of(case.device))
    single = _cheapest(case, fits, [offer for offer in offers if offer[1] == 1])
    return single or _cheapest(case, fits, [offer for offer in offers if offer[1] > 1])


def _cheapest(
    case: MemoryCase, fits: Callable[[MemoryCase], bool], offers: Sequence[_Offer]
) -> tuple[CheaperType, ...]:
    choices: dict[str, CheaperType] = {}
    # Many instance types have the same accelerators, and so the same case.
    fits = functools.cache(fits)
    for usd, count, instance in offers:
        if len(choices) == _MAX_TYPES:
            break
        if instance.name not in choices and _computes(case, instance) and _holds(case, instance):
            parallels = _parallels(case, instance, count)
            parallel = next((p for p in parallels if fits(on_instance(case, instance, p))), None)
            if parallel is not None:
                choices[instance.name] = CheaperType(instance.name, count, parallel, usd)
    return tuple(choices.values())


@cleared_with_clouds
@functools.cache
def _offers(maker: str) -> tuple[_Offer, ...]:
    """Return price, number of instances and instance type of a manufacturer's accelerators, cheapest first."""
    offers: list[_Offer] = []
    for node in accelerated_instances():
        if node.manufacturer != maker or node.usd_per_hour is None:
            continue
        offers += [(node.usd_per_hour * count, count, node) for count in _COUNTS]
    # At equal prices, fewer instances come first; names make the order reproducible.
    return tuple(sorted(offers, key=lambda offer: (offer[0], offer[1], offer[2].name)))


def _computes(case: MemoryCase, instance: Instance) -> bool:
    """Tell whether the engine is known to compute the numbers of a model on an accelerator."""
    able = capability(instance.accelerator, _memory(instance))
    return able is not None and is_computed(case.formats, able)


def _holds(case: MemoryCase, instance: Instance) -> bool:
    """Tell whether a node has the cores and the memory that a pod requests."""
    cores, memory = case.host
    return cores <= instance.allocatable_cpu and memory <= instance.allocatable_memory


def _parallels(case: MemoryCase, instance: Instance, count: int) -> Iterator[Parallel]:
    """Yield the ways in which instances could share a model, fewest accelerators first."""
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
    """Return a case moved to the accelerators of another instance type."""
    moved = replace(case, device=instance.accelerator, device_bytes=_memory(instance), instance_type="")
    return spread_over(moved, parallel)


def spread_over(case: MemoryCase, parallel: Parallel) -> MemoryCase:
    """Return a case with another parallelism.

    The engine's budget depends on the number of accelerators; the context of the command line stays the same.
    """
    budget, engine = case.budget, engines().get(case.engine)
    if engine is not None:
        device = Device(case.device, case.device_bytes, parallel.accelerators)
        moved = memory_of(engine, case.tag, device, replace(case, parallel=parallel).traits) or budget
        budget = moved._replace(
            reserves_context=moved.reserves_context and budget.reserves_context,
            reserves_all=moved.reserves_all and budget.reserves_all,
            spills=moved.spills or budget.spills,
            most_graphs=min(moved.most_graphs, budget.most_graphs),
            state_ratio=budget.state_ratio,
            state_slots=budget.state_slots,
            states=budget.states,
        )
    return replace(case, parallel=parallel, budget=budget, draft_tensor=min(case.draft_tensor, parallel.tensor))


def _memory(instance: Instance) -> int:
    return int((instance.accelerator_memory_gib or Decimal(0)) * GIB)
