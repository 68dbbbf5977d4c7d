"""Compare accelerators: the replicas that each needs for the latency targets and their cost, cheapest first."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ...contract.clock import HOURS_PER_MONTH
from ...fleet.levels import LatencyTargets, Load
from .accelerators import AcceleratorPrice, known_accelerator
from .cases import Case, Profile, Sized, one_at_a_time
from .closed import ClosedLoop, offered_per_minute, replicas_for
from .queues import rank, size
from .reference import ReferenceProfile

if TYPE_CHECKING:
    from .checked import Checked

_CENTS = 100
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """An accelerator that a model could run on.

    Attributes:
        profile: Profile of a replica, with the batch for the given request length.
        source: Source of the profile.
        batch: The batch that the source gives.
        tokens: Request length in tokens that ``batch`` is valid for; None for any length.
        doubt: Why the figures are uncertain; empty for measured ones.
        ends: The fastest and the slowest profile that the source allows; None for measured ones.
        price: Price of one accelerator; None if unknown.
        most: The engine's limit on concurrent requests; None if unknown, which leaves the batch uncapped.
        limit: Source of that limit, or why it is unknown.
        uncapped: The batch for these requests before capping; 0 for that of the profile.
        is_estimated: Whether the profile is an estimate, neither measured nor published.
    """

    profile: Profile
    source: str
    batch: int
    tokens: int | None = None
    doubt: str = ""
    ends: tuple[Profile, Profile] | None = None
    price: AcceleratorPrice | None = None
    most: int | None = None
    limit: str = ""
    uncapped: int = 0
    is_estimated: bool = False

    @property
    def is_scaled(self) -> bool:
        """Whether the batch was scaled from that of the source to the given request length."""
        return self.batch != (self.uncapped or self.profile.batch)

    @property
    def is_capped(self) -> bool:
        """Whether the engine's limit on concurrent requests lowers the batch."""
        return self.uncapped > self.profile.batch

    def within(self, most: int | None, limit: str) -> "Candidate":
        """Return the candidate with its batch capped by the engine's limit on concurrent requests.

        Args:
            most: The limit; None if unknown.
            limit: Source of the limit, or why it is unknown.
        """
        ends = self.ends and (self.ends[0].within(most), self.ends[1].within(most))
        profile = self.profile.within(most)
        return replace(self, profile=profile, ends=ends, most=most, limit=limit, uncapped=self.profile.batch)


@dataclass(frozen=True, slots=True)
class Question:
    """A sizing request.

    Attributes:
        targets: Latency targets.
        prefill_ms: Prefill time of a request, which the queueing model ignores; None if it was not measured.
        accelerator: The accelerator that it runs on now; empty if unknown.
        literal: Whether to reproduce upstream's controller, with its rounding and its choice.
        scale_to_zero: Whether no replica is kept without load.
        loop: The users who send the requests, one after the other; None if requests arrive at the rate of the load.
    """

    targets: LatencyTargets
    load: Load
    prefill_ms: int | None = None
    accelerator: str = ""
    literal: bool = False
    scale_to_zero: bool = False
    loop: ClosedLoop | None = None

    def at(self, per_minute: float) -> "Question":
        """Return the question at the rate that its users send to a candidate; itself without users."""
        if self.loop is None:
            return self
        return replace(self, load=self.load._replace(per_minute=Decimal(repr(per_minute))))

    @property
    def has_prefill(self) -> bool:
        """Whether prefill is known, so that the time to the first token can be predicted."""
        return self.prefill_ms is not None

    @property
    def budget(self) -> LatencyTargets:
        """The latency targets for the queue: the time to first token without prefill."""
        left = self.targets.ttft_ms and self.targets.ttft_ms - (self.prefill_ms or 0)
        return replace(self.targets, ttft_ms=left)


@dataclass(frozen=True, slots=True)
class WholeInstances:
    """Instances of one type, with their price."""

    count: int
    instance_type: str
    usd_per_hour: Decimal


@dataclass(frozen=True, slots=True)
class Assessment:
    """The sizing result of a candidate.

    Attributes:
        ends: The results for the fastest and the slowest profile.
        chosen: Whether it is the recommended candidate, the cheapest that meets the targets.
        checked: What a simulation of the engine's steps says of the result; None if there was none.
    """

    candidate: Candidate
    question: Question
    sized: Sized
    ends: tuple[Sized, Sized] | None = None
    chosen: bool = False
    checked: "Checked | None" = None

    @property
    def cents_per_hour(self) -> float | None:
        """Price of all replicas; None if it is unknown or the targets cannot be met."""
        return self._cents(self.sized)

    @property
    def usd_per_month(self) -> float | None:
        """Price of all replicas for 730 hours, in US dollars."""
        return self._per_month(self.sized)

    @property
    def usd_per_month_ends(self) -> tuple[float | None, float | None]:
        """The same for the fastest and the slowest profile."""
        low, high = self.ends or (self.sized, self.sized)
        return self._per_month(low), self._per_month(high)

    @property
    def usd_per_million_tokens(self) -> float | None:
        """US dollars per million output tokens at the given load."""
        load, cents = self.question.load, self.cents_per_hour
        tokens = float(load.per_minute * load.output_tokens) * 60
        return None if cents is None or not tokens else cents / _CENTS / tokens * _MILLION

    @property
    def whole_instances(self) -> WholeInstances | None:
        """The instances to pay for, if the replicas leave some of their accelerators unused; otherwise None."""
        price, known = self.candidate.price, known_accelerator(self.candidate.profile.accelerator)
        node = price.node if price and self.sized.is_feasible else None
        used = self.candidate.profile.count * (known.count if known else 1)
        if node is None or node.usd_per_hour is None or not self.sized.replicas or node.accelerators < used:
            return None
        count = math.ceil(self.sized.replicas / (node.accelerators // used))
        if count * node.accelerators == self.sized.replicas * used:
            return None
        return WholeInstances(count, node.name, count * node.usd_per_hour)

    @property
    def ttft_p95_ms(self) -> float | None:
        """95th percentile of the time to the first token; None without prefill."""
        return self.first_p95_ms if self.has_prefill else None

    @property
    def has_prefill(self) -> bool:
        """Whether the prefill is known, from the request or from the profile."""
        return self.question.has_prefill or any(self.sized.case.prefill)

    @property
    def first_p95_ms(self) -> float | None:
        """95th percentile of the time to the first token; of the time in the queue if prefill is unknown."""
        behaviour = self.sized.behaviour
        return None if behaviour is None else behaviour.first_token_p95_ms + (self.question.prefill_ms or 0)

    def _per_month(self, sized: Sized) -> float | None:
        cents = self._cents(sized)
        return None if cents is None else cents / _CENTS * HOURS_PER_MONTH

    def _cents(self, sized: Sized) -> float | None:
        return sized.cents_per_hour if sized.is_feasible and self.candidate.price else None


def reference_candidates(references: Sequence[ReferenceProfile], load: Load) -> tuple[Candidate, ...]:
    """Return candidates from the reference table, with batches scaled to the request length of a load."""
    candidates = []
    for reference in references:
        source = reference.source
        profile, low, high = (
            replace(published, batch=_batch(published.batch, source.tokens, load))
            for published in (reference.profile, reference.low, reference.high)
        )
        doubt = f"{source.title}, {source.date}: {source.doubt}"
        batch = reference.profile.batch
        candidates.append(
            Candidate(
                profile=profile,
                source=f"reference: {source.title}",
                batch=batch,
                tokens=source.tokens,
                doubt=doubt,
                ends=(low, high),
            )
        )
    return tuple(candidates)


def _batch(batch: int, tokens: int | None, load: Load) -> int:
    """Scale a batch from the request length of the source to that of a load; at least 1."""
    length = load.input_tokens + load.output_tokens
    return batch if tokens is None or not length else max(int(batch * tokens / length), 1)


def assessed(question: Question, candidates: Sequence[Candidate]) -> tuple[Assessment, ...]:
    """Size each candidate. Those that meet the targets come first, by price."""
    cases = [
        _case(question, candidate, profile)
        for candidate in candidates
        for profile in (candidate.profile, *(candidate.ends or ()))
    ]
    if question.literal:
        from .literal.allocation import size_literally
        from .literal.controller import Current, as_read_back, chosen

        results = iter(size_literally([as_read_back(case) for case in cases]))
    else:
        results = iter(size(_offered(cases, question.loop) if question.loop else cases))
    assessments = []
    for candidate in candidates:
        sized = next(results)
        ends = (next(results), next(results)) if candidate.ends else None
        assessments.append(Assessment(candidate, question.at(sized.case.per_minute), sized, ends))
    if not question.literal:
        return ranked(assessments)
    assessments.sort(key=_order)
    priced = [assessment.sized for assessment in assessments if assessment.cents_per_hour is not None]
    # Upstream never moves a model to another accelerator.
    best = chosen(priced, Current(question.accelerator))
    return tuple(replace(assessment, chosen=assessment.sized is best) for assessment in assessments)


def ranked(assessments: Iterable[Assessment]) -> tuple[Assessment, ...]:
    """Return assessments, those that meet the targets first, by price; the first one with a price is chosen."""
    ordered = sorted(assessments, key=_order)
    best = next((item for item in ordered if item.cents_per_hour is not None), None)
    return tuple(replace(item, chosen=item is best) for item in ordered)


def _order(item: Assessment) -> tuple[object, ...]:
    return not item.sized.is_feasible, item.cents_per_hour is None, rank(item.sized)


def _offered(cases: Sequence[Case], loop: ClosedLoop) -> list[Case]:
    """Return the cases at the rate that users send to the least replicas within the targets."""
    offered = []
    for sized in size([replace(case, per_minute=1.0) for case in cases]):
        replicas = replicas_for(sized, loop)
        rate = offered_per_minute(sized, loop, replicas) if replicas else 1.0
        offered.append(replace(sized.case, per_minute=rate))
    return offered


def _case(question: Question, candidate: Candidate, profile: Profile) -> Case:
    load, price, targets = question.load, candidate.price, question.budget
    if (candidate.tokens or candidate.is_capped) and not question.literal:
        # Long requests may leave room for only one, and an engine may be limited to one at a time.
        targets = one_at_a_time(profile, targets)
    return Case(
        profile=profile,
        targets=targets,
        per_minute=float(load.per_minute),
        output_tokens=float(load.output_tokens),
        cents_per_hour=float(price.cents_per_hour) if price else 0.0,
        least=0 if question.scale_to_zero else 1,
        # A measured prefill time takes the place of the profile's, and is part of the budget already.
        input_tokens=0.0 if question.has_prefill else float(load.input_tokens),
    )
