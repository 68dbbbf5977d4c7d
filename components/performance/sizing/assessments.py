"""What each of several accelerators would need to keep a promise, and what that costs: the cheapest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...contract.clock import HOURS_PER_MONTH
from ...fleet.levels import Load, Promise
from .accelerators import AcceleratorPrice
from .cases import Case, Profile, Sized, one_at_a_time
from .queues import rank, size
from .reference import ReferenceProfile

_CENTS = 100
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """An accelerator that a model could run on.

    Attributes:
        profile: How fast a replica is, with the batch that it has for the requests in question.
        source: Where the figures are from.
        batch: The batch that the source gives.
        tokens: Tokens of a request for which that is; None where it holds for any.
        doubt: Why the figures are uncertain; empty where they are taken as they are.
        ends: The fastest and the slowest that it may be; None where the figures are taken as they are.
        price: What one accelerator costs; None where that is not known.
        most: The engine's limit on concurrent requests; None if unknown, which leaves the batch uncapped.
        limit: Source of that limit, or why it is unknown.
        uncapped: The batch for these requests before capping; 0 for that of the profile.
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

    @property
    def is_scaled(self) -> bool:
        """Whether the requests in question have another batch than those of the source."""
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
    """What is asked for.

    Attributes:
        promise: What is promised to clients.
        prefill_ms: Time from the beginning of the work on a request to its first token, which the model of queues
            leaves out; None if it was not measured.
        accelerator: What it runs on now; empty where that is not known.
        literal: Whether to answer as upstream's controller does, with its rounding and its choice.
        scale_to_zero: Whether no replica is kept without requests.
    """

    promise: Promise
    load: Load
    prefill_ms: int | None = None
    accelerator: str = ""
    literal: bool = False
    scale_to_zero: bool = False

    @property
    def has_prefill(self) -> bool:
        """Whether prefill is known, so that the time to the first token can be predicted."""
        return self.prefill_ms is not None

    @property
    def budget(self) -> Promise:
        """What is left of the promise for the queue."""
        left = self.promise.ttft_ms and self.promise.ttft_ms - (self.prefill_ms or 0)
        return replace(self.promise, ttft_ms=left)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a candidate needs.

    Attributes:
        ends: The same for the fastest and the slowest that it may be.
        chosen: Whether it is what to take: no other candidate keeps the promise for less.
    """

    candidate: Candidate
    question: Question
    sized: Sized
    ends: tuple[Sized, Sized] | None = None
    chosen: bool = False

    @property
    def cents_per_hour(self) -> float | None:
        """Price of all replicas; None where it is not known, or the promise cannot be kept."""
        return self._cents(self.sized)

    @property
    def usd_per_month(self) -> float | None:
        """Likewise in US dollars, for 730 hours."""
        return self._per_month(self.sized)

    @property
    def usd_per_month_ends(self) -> tuple[float | None, float | None]:
        """Likewise for the fastest and the slowest that it may be."""
        low, high = self.ends or (self.sized, self.sized)
        return self._per_month(low), self._per_month(high)

    @property
    def usd_per_million_tokens(self) -> float | None:
        """US dollars for a million tokens of answers, at the load in question."""
        load, cents = self.question.load, self.cents_per_hour
        tokens = float(load.per_minute * load.output_tokens) * 60
        return None if cents is None or not tokens else cents / _CENTS / tokens * _MILLION

    @property
    def ttft_p95_ms(self) -> float | None:
        """95th percentile of the time to the first token; None without prefill."""
        return self.first_p95_ms if self.question.has_prefill else None

    @property
    def first_p95_ms(self) -> float | None:
        """95th percentile of the time to the first token; of the time in the queue if prefill is unknown."""
        found = self.sized.behaviour
        return None if found is None else found.wait_p95_ms + (self.question.prefill_ms or 0)

    def _per_month(self, sized: Sized) -> float | None:
        cents = self._cents(sized)
        return None if cents is None else cents / _CENTS * HOURS_PER_MONTH

    def _cents(self, sized: Sized) -> float | None:
        return sized.cents_per_hour if sized.is_feasible and self.candidate.price else None


def reference_candidates(found: Sequence[ReferenceProfile], load: Load) -> tuple[Candidate, ...]:
    """Return the candidates of the reference table, with the batches that they have for the requests of a load."""
    return tuple(_reference_candidate(each, load) for each in found)


def _reference_candidate(found: ReferenceProfile, load: Load) -> Candidate:
    profile, low, high = (
        replace(each, batch=_batch(each.batch, found.source.tokens, load))
        for each in (found.profile, found.low, found.high)
    )
    source = found.source
    return Candidate(
        profile,
        f"reference: {source.title}",
        found.profile.batch,
        source.tokens,
        f"{source.title}, {source.date}: {source.doubt}",
        (low, high),
    )


def _batch(batch: int, tokens: int | None, load: Load) -> int:
    """Return how many requests fit at once, where the tokens of a request are not those that the batch is for."""
    asked = load.input_tokens + load.output_tokens
    return batch if tokens is None or not asked else max(int(batch * tokens / asked), 1)


def assessed(question: Question, candidates: Sequence[Candidate]) -> tuple[Assessment, ...]:
    """Size each candidate; those that keep the promise come first, by price, and then those that do not."""
    cases = [_case(question, each, profile) for each in candidates for profile in (each.profile, *(each.ends or ()))]
    answers = iter(_sized(cases, literal=question.literal))
    found = []
    for each in candidates:
        sized = next(answers)
        ends = (next(answers), next(answers)) if each.ends else None
        found.append(Assessment(each, question, sized, ends))
    # Those that keep the promise first, and of them those with a price.
    found.sort(key=lambda each: (not each.sized.is_feasible, each.cents_per_hour is None, rank(each.sized)))
    taken = _taken(question, [each.sized for each in found if each.cents_per_hour is not None])
    return tuple(replace(each, chosen=each.sized is taken) for each in found)


def _sized(cases: Sequence[Case], *, literal: bool) -> tuple[Sized, ...]:
    if not literal:
        return size(cases)
    from .literal.allocation import size_literally
    from .literal.controller import as_read_back

    return size_literally([as_read_back(case) for case in cases])


def _taken(question: Question, possible: Sequence[Sized]) -> Sized | None:
    """Return the cheapest, which comes first, or what upstream takes: it never moves to another accelerator."""
    if not question.literal:
        return next(iter(possible), None)
    from .literal.controller import Current, chosen

    return chosen(possible, Current(question.accelerator))


def _case(question: Question, candidate: Candidate, profile: Profile) -> Case:
    load, price, promise = question.load, candidate.price, question.budget
    if (candidate.tokens or candidate.is_capped) and not question.literal:
        # Requests may be so long that only one fits, and an engine may be configured to take one at a time.
        promise = one_at_a_time(profile, promise)
    return Case(
        profile,
        promise,
        float(load.per_minute),
        float(load.output_tokens),
        float(price.cents_per_hour) if price else 0.0,
        0 if question.scale_to_zero else 1,
    )
