"""The instance types on which a model fits, cheapest first, and why it does not fit the others.

A verdict is that of a plan: the same case of the same command line on the same nodes (:mod:`...checks.memory`).
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple, TypeGuard

from ...checks.memory.accelerators.devices import capability
from ...checks.memory.accelerators.refusals import allowed_degrees, refusal
from ...checks.memory.arithmetic import judge
from ...checks.memory.cases import Fit, MemoryVerdict, Parallel
from ...checks.memory.context import longest_context, too_long
from ...checks.memory.wording import gib
from ...checks.memory.workloads.cases import Placement, ServerSpec, case_of, device_of
from ...contract.quantity import GIB
from ...engines.formats.faults import format_fault, is_computed
from ...engines.memory_settings.reader import memory_settings_of
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.instances import Instance, offered_instances
from ...fleet.prices import Buying
from ..costs.bill import UnitPrice
from ..costs.prices import Prices
from .question import FitQuestion

_NODES = (2, 4)
"""Nodes of a replica that one node has no room for."""
_ENOUGH = (Fit.FITS, Fit.TIGHT)


@dataclass(frozen=True, slots=True)
class FitOption:
    """A way to serve a model on instances of one type.

    Attributes:
        verdict: The memory verdict of a plan with these nodes.
        users: Requests of the whole context that a replica holds at once; 0 if unknown.
        replicas: Replicas for the users of the question.
        nodes: Instances for all replicas.
        price: Price of an instance; None if no source gives one.
    """

    node: Instance
    parallel: Parallel
    verdict: MemoryVerdict
    users: int
    replicas: int
    nodes: int
    price: UnitPrice | None

    @property
    def per_node(self) -> int:
        """Accelerators of a replica on one node."""
        return self.parallel.accelerators // self.spread

    @property
    def spread(self) -> int:
        """Nodes of a replica."""
        return -(-self.parallel.accelerators // self.node.accelerators)

    @property
    def usd_per_hour(self) -> Decimal | None:
        """Price of all instances."""
        return self.price.usd * self.nodes if self.price else None

    @property
    def share_usd_per_hour(self) -> Decimal | None:
        """Price of the share of the instances that the replicas use, which a plan shows as the cost of a model."""
        if self.price is None:
            return None
        used = Decimal(self.per_node) / self.node.accelerators
        return self.price.usd * used * self.spread * self.replicas

    @property
    def cache_bytes(self) -> int:
        """Memory of an accelerator that is left for the KV cache."""
        reserved = (part.size for part in self.verdict.parts if part.name.startswith(("cache", "states")))
        return sum(reserved) + self.verdict.margin


class Refusal(NamedTuple):
    """Why a model does not fit an accelerator.

    Attributes:
        accelerators: The most of them on one instance, with which it does not fit either.
        types: The instance types.
        is_judged: Whether the reason is a memory verdict, and not a missing fact about the accelerator.
        short_bytes: Bytes that are missing on each; 0 if the reason is another one.
        context: The longest context that fits; 0 if none does.
    """

    accelerator: str
    memory_gib: Decimal
    accelerators: int
    types: tuple[str, ...]
    reason: str
    is_judged: bool = False
    short_bytes: int = 0
    context: int = 0


class FitAnswer(NamedTuple):
    """What a model fits and what it does not, and the facts that no answer has.

    Attributes:
        options: The best way for each instance type, cheapest first; those without a price last.
        unknown: Why nothing could be judged; empty if something was.
        several: Instance types that are left out, because a replica needs several of them, and only one of others.
    """

    options: tuple[FitOption, ...]
    refusals: tuple[Refusal, ...]
    unknown: str = ""
    several: int = 0


def context_problem(question: FitQuestion) -> str:
    """Return why no server starts with the context, or none can be judged; empty without a problem."""
    types = (node for node in offered_instances().values() if node.accelerators)
    cases = (verdict_on(question, node, 1).asked for node in types)
    case = next((case for case in cases if case), None)
    if case is None:
        return ""
    if case.length is None:
        return f"the context of {question.model} is unknown; pass the tokens of a request with its answer"
    longest = longest_context(case.shape, question.line(1, 1))
    if longest is None or case.length <= longest:
        return ""
    return (
        f"{too_long(question.model, question.serving.engine.name, case.length, longest)}; pass at most {longest}, or "
        "extend the positions as the documentation of the model describes (--arg with the flag for RoPE scaling)"
    )


def fit_answer(
    question: FitQuestion, wanted: Callable[[Instance], bool] | None = None, *, count: int = 0
) -> FitAnswer:
    """Return the instance types on which a model fits.

    Args:
        question: The model, its engine and its load.
        wanted: Which instance types to consider; None for all.
        count: Accelerators of a replica; 0 for any number.
    """
    settings = memory_settings_of(question.line(1, 1))
    if isinstance(settings, str):
        return FitAnswer((), (), settings)
    types = [node for node in offered_instances().values() if node.accelerators and (wanted is None or wanted(node))]
    prices = Prices(question.region, question.prices)
    options: list[FitOption] = []
    refused: dict[tuple[str, Decimal | None], list[_Refused]] = {}
    judged = functools.cache(functools.partial(_judged, question))
    for node in types:
        option, best = _best_on(question, node, prices, judged, count)
        if option:
            options.append(option)
        else:
            refused.setdefault((node.accelerator, node.accelerator_memory_gib), []).append((node, best))
    # A replica on several nodes starts and fails as a whole, and its network is slower: one node is enough.
    whole = [option for option in options if option.spread == 1]
    several, options = len(options) - len(whole) if whole else 0, whole or options
    options.sort(key=_by_price)
    fitting = {(option.node.accelerator, option.node.accelerator_memory_gib) for option in options}
    unknown = {best.reason for nodes in refused.values() for _, best in nodes if _is_unknown(best)}
    refusals = [
        _refusal(nodes)
        for key, nodes in refused.items()
        if key not in fitting and not all(_is_unknown(best) for _, best in nodes)
    ]
    refusals.sort(key=lambda refusal: (refusal.memory_gib, refusal.accelerator))
    return FitAnswer(tuple(options), tuple(refusals), "" if options else "; ".join(sorted(unknown)), several)


def verdict_on(question: FitQuestion, node: Instance, tensor: int, nodes: int = 1) -> MemoryVerdict:
    """Return the verdict of a plan on a replica of some accelerators on each of some nodes."""
    line = question.line(tensor, nodes)
    settings = memory_settings_of(line)
    if isinstance(settings, str):
        return MemoryVerdict(Fit.UNKNOWN, settings)
    known = device_of(node.name)
    if isinstance(known, str):
        return MemoryVerdict(Fit.UNKNOWN, known)
    placement = Placement(tensor, tensor * nodes, (node.name,))
    case = case_of(ServerSpec(line.engine, line.tag, settings), placement, known, question.known)
    if isinstance(case, str):
        return MemoryVerdict(Fit.UNKNOWN, case)
    return judge(case.case, types=False)


_Refused = tuple[Instance, MemoryVerdict | str]
"""An instance type, and the verdict on it, or why there is none."""
_Judged = Callable[[str, Decimal, int, int], MemoryVerdict]


def _judged(question: FitQuestion, accelerator: str, memory: Decimal, tensor: int, nodes: int) -> MemoryVerdict:
    """Judge once for all instance types with an accelerator: nothing else of them matters."""
    node = next(
        node
        for node in offered_instances().values()
        if node.accelerator == accelerator and node.accelerator_memory_gib == memory
    )
    return verdict_on(question, node, tensor, nodes)


def _is_unknown(best: MemoryVerdict | str) -> TypeGuard[MemoryVerdict]:
    """Whether a fact about the model is missing, so that no accelerator can be judged."""
    return isinstance(best, MemoryVerdict) and best.fit is Fit.UNKNOWN


def _best_on(
    question: FitQuestion, node: Instance, prices: Prices, judged: _Judged, count: int
) -> tuple[FitOption | None, MemoryVerdict | str]:
    """Return the best way on an instance type, or the verdict with the most room, or why there is no verdict."""
    memory = node.accelerator_memory_gib
    if memory is None:
        return None, "its memory is unknown"
    whole = judged(node.accelerator, memory, 1, 1)
    number_format = _unsupported_format(whole, node)
    if number_format:
        return None, number_format
    if whole.asked is None:
        return None, whole
    degrees = [degree for degree in _degrees(whole, node) if not count or degree == count]
    if count > node.accelerators:
        return None, f"an instance has {node.accelerators} of them, not {count}"
    if not degrees:
        refused = judged(node.accelerator, memory, count, 1)
        idle = f"a replica of {count} leaves some of the {node.accelerators} accelerators of an instance idle"
        return None, idle if refused.fit in _ENOUGH else refused
    quote = prices.node((node.name,), Buying.ON_DEMAND)
    price = quote if isinstance(quote, UnitPrice) else None
    verdicts = [(degree, 1, judged(node.accelerator, memory, degree, 1)) for degree in degrees]
    if not any(verdict.fit in _ENOUGH for _, _, verdict in verdicts) and not count:
        most = degrees[-1]
        if _divides_layers(question) and most == node.accelerators:
            verdicts += [(most, nodes, judged(node.accelerator, memory, most, nodes)) for nodes in _NODES]
        elif most < node.accelerators:
            # What the engine refuses to divide may be the remedy: experts that stay whole.
            verdicts.append((node.accelerators, 1, judged(node.accelerator, memory, node.accelerators, 1)))
    ways = [
        _option(question, node, degree=degree, nodes=nodes, verdict=verdict, price=price)
        for degree, nodes, verdict in verdicts
        if verdict.fit in _ENOUGH
    ]
    best = min(ways, key=_preference, default=None)
    return best, max((verdict for _, _, verdict in verdicts), key=lambda verdict: verdict.margin)


def _option(
    question: FitQuestion, node: Instance, degree: int, nodes: int, verdict: MemoryVerdict, price: UnitPrice | None
) -> FitOption:
    asked = verdict.asked
    users = verdict.sequences
    if asked is not None and asked.requests is not None:
        users = min(users, asked.requests * asked.parallel.data)
    replicas = -(-question.users // users) if question.users and users else 1
    together = 1 if nodes > 1 else node.accelerators // degree
    parallel = asked.parallel if asked else Parallel(degree, nodes)
    return FitOption(
        node=node,
        parallel=parallel,
        verdict=verdict,
        users=users,
        replicas=replicas,
        nodes=-(-replicas // together) * nodes,
        price=price,
    )


def _preference(option: FitOption) -> tuple[bool, int, bool, int]:
    """Sort the ways on one instance type: those with room, for the fewest instances and accelerators."""
    tight = option.verdict.fit is not Fit.FITS
    return tight, option.nodes, option.users == 0, option.parallel.accelerators * option.replicas


def _by_price(option: FitOption) -> tuple[bool, Decimal, str]:
    usd = option.usd_per_hour
    return usd is None, usd or Decimal(0), option.node.name


def _degrees(verdict: MemoryVerdict, node: Instance) -> Sequence[int]:
    case = verdict.asked
    if case is None or not case.budget.cuts:
        return range(1, node.accelerators + 1)
    degrees = allowed_degrees(case.shape, experts=case.parallel.experts)
    return [degree for degree in degrees if degree <= node.accelerators and _is_even(node.accelerators, degree)]


def _is_even(accelerators: int, degree: int) -> bool:
    """Whether an instance holds a whole number of replicas, so that none of its accelerators is idle."""
    return accelerators % degree == 0


def _divides_layers(question: FitQuestion) -> bool:
    return question.serving.engine.flag(Setting.PIPELINE_PARALLEL) is not None


def _unsupported_format(verdict: MemoryVerdict, node: Instance) -> str:
    """Return why an accelerator is not known to compute the numbers of the weights; empty if it is."""
    able, case = capability(node.accelerator, int((node.accelerator_memory_gib or Decimal(0)) * GIB)), verdict.asked
    if able is None:
        return "no figures on the accelerator with this memory"
    if case is None or is_computed(case.formats, able):
        return ""
    fault = format_fault(case.formats, able)
    flag = fault and fault.setting and engines()[case.engine].flag(fault.setting)
    if fault is None:
        return f"it is not known to compute {case.shape.dtype or 'the numbers of the weights'}"
    return f"{fault.reason}; add --arg={flag}={fault.value}" if flag and fault.value else fault.reason


def _refusal(nodes: Sequence[_Refused]) -> Refusal:
    """Summarize the verdicts on the instance types of one accelerator by the one with the most room."""

    def room(entry: _Refused) -> tuple[bool, int, int]:
        """Sort reasons without figures below all verdicts."""
        node, verdict = entry
        has_figures = not isinstance(verdict, str)
        return has_figures, 0 if isinstance(verdict, str) else verdict.margin, node.accelerators

    node, verdict = max(nodes, key=room)
    names = tuple(node.name for node, _ in nodes)
    memory = node.accelerator_memory_gib or Decimal(0)
    if isinstance(verdict, str):
        return Refusal(node.accelerator, memory, node.accelerators, names, verdict)
    used = verdict.asked.parallel.accelerators if verdict.asked else node.accelerators
    if verdict.fit is Fit.UNKNOWN or verdict.margin >= 0 or (verdict.asked and refusal(verdict.asked)):
        return Refusal(node.accelerator, memory, used, names, verdict.reason, is_judged=True)
    short = -verdict.margin
    context = verdict.largest_context
    reason = f"short by {gib(short)}"
    return Refusal(node.accelerator, memory, used, names, reason, is_judged=True, short_bytes=short, context=context)
