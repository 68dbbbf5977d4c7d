"""The answer of ``workbench fit``: on one screen, with details, and in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from components.contract.quantity import GIB
from components.contract.texts.printable import printable
from components.plan.costs.bill import HOURS_PER_MONTH
from toolkit.printing import pluralize
from toolkit.screen import Screen, Styled, TableColumn

from ..planning.formats.escaping import prose
from ..planning.wording.figures import whole_usd
from ..planning.wording.fits import left_text
from .speeds import HOW, GenerationSpeed, speed_of

if TYPE_CHECKING:
    from components.plan.fitting.options import FitAnswer, FitOption, Refusal
    from components.plan.fitting.question import FitQuestion

_MARKDOWN = (
    *("instance type", "GPUs of a replica", "TP x PP", "replicas", "verdict", "cache GiB"),
    *("longest context", "users", "tokens/s", "USD/hour", "USD/month", "USD/1M tokens"),
)
_RIGHT = frozenset(_MARKDOWN[5:])
_MOST_TYPES = 3
"""Instance types that a line about an accelerator lists."""
_MOST_ROWS = 14
"""Ways that are listed without details."""
_MOST_REFUSED = 3
"""Accelerators without room that are listed without details beside ways that fit."""


@dataclass(frozen=True, slots=True)
class FitReport:
    """An answer, as it is printed.

    Attributes:
        asked: What ``--gpu`` names; empty for all accelerators.
        options: The ways to show: the cheapest for each accelerator and number of them, or all.
        speeds: The speed of each.
    """

    question: "FitQuestion"
    answer: "FitAnswer"
    asked: str
    options: Sequence["FitOption"]
    speeds: Sequence[GenerationSpeed | None]

    @classmethod
    def of(cls, question: "FitQuestion", answer: "FitAnswer", asked: str, *, everything: bool) -> "FitReport":
        """Return the report of an answer.

        Args:
            question: The model and how it is served.
            answer: All instance types.
            asked: What ``--gpu`` names.
            everything: Whether every instance type is shown, not only the cheapest with the same accelerators.
        """
        options = answer.options if everything else tuple(_cheapest_of_each(answer.options))
        return cls(question, answer, asked, options, [speed_of(option, question.users) for option in options])

    # Text

    def text(self, screen: Screen, *, details: bool, explain: bool) -> Iterator[str]:
        """Yield the answer for a screen.

        Args:
            screen: The screen.
            details: Whether to print speeds, contexts, prices an hour, all refusals and notes.
            explain: Whether to list the memory terms of the cheapest option.
        """
        yield from screen.text(self._headline(), "bold", hanging="  ")
        yield from screen.text(self._served())
        options = self.options if details else self.options[:_MOST_ROWS]
        if options:
            columns = [
                TableColumn("GPU"),
                TableColumn("INSTANCE"),
                TableColumn("FITS"),
                TableColumn("USERS", right=True),
                TableColumn("$/MONTH", right=True),
            ]
            yield from screen.table(columns, [_row(option) for option in options])
            if shared := next(filter(_is_shared, options), None):
                yield from screen.text(
                    f"{_price(shared)}: the share of {_nodes(shared)} that the model uses, which a plan shows for "
                    "the model, and the price of the whole, which you pay.",
                    "dim",
                )
        if self.answer.unknown:
            yield from screen.text(f"Not checked: {self.answer.unknown}.")
        yield from self._refusals(screen, details=details)
        if details:
            yield from self._further(screen)
        if explain and self.options:
            yield from ("", *_terms(self.options[0], screen))
        if not details and (hidden := self._left_out()):
            yield from screen.text(f"(--details: {', '.join(hidden)})")
        if self.answer.several:
            yield from screen.text(_several(self.answer.several))

    def _headline(self) -> str:
        of = f" {self.asked}" if self.asked else ""
        if not self.answer.options:
            reason = "not checked" if self.answer.unknown else "does not fit"
            return f"{self.question.model}: {reason}{of if self.asked else ', on no GPU'}"
        first = self.answer.options[0]
        kinds = len({(option.node.accelerator, option.node.accelerator_memory_gib) for option in self.answer.options})
        fits = f"fits{of}" if self.asked else f"fits {pluralize(kinds, 'GPU type')}"
        price = (
            f"from {whole_usd(_month(first.usd_per_hour))} a month" if first.usd_per_hour is not None else "no price"
        )
        return f"{self.question.model} {fits}, {price} ({_gpus(first)}, {_nodes(first)})"

    def _served(self) -> str:
        question, answer = self.question, self.answer
        verdict = next((option.verdict for option in answer.options), None)
        tokens = question.context or (verdict.context if verdict else 0)
        parts = [question.serving.title, question.quantization]
        parts += [f"{tokens:,} tokens a request" if tokens else ""]
        parts += [pluralize(question.users, "user") if question.users else "", f"on demand in {question.region}"]
        return ", ".join(filter(None, parts))

    def _refusals(self, screen: Screen, *, details: bool) -> Iterator[str]:
        """Yield which accelerators have no room, and which are not offered."""
        judged = [refusal for refusal in self.answer.refusals if refusal.is_judged]
        # Where nothing fits, the reasons are the answer.
        shown = judged if details or not self.options else judged[:_MOST_REFUSED]
        for refusal in shown:
            yield from screen.text(f"does not fit {_too_small(refusal)}", indent="", hanging="  ")
        if not details and self.options:
            return
        for reason, accelerators in _not_offered(self.answer.refusals).items():
            yield from screen.text(f"not offered: {', '.join(accelerators)}: {reason}", hanging="  ")

    def _further(self, screen: Screen) -> Iterator[str]:
        """Yield speeds, contexts and prices of the options, and what the figures rely on."""
        options = self.options if self.asked else [*_cheapest_of_each(self.options)]
        if options:
            columns = [
                TableColumn("INSTANCE"),
                *(TableColumn(title, right=True) for title in ("CACHE GIB", "CONTEXT", "TOKENS/S", "$/1M TOKENS")),
            ]
            speeds = [speed_of(option, self.question.users) for option in options]
            rows = [
                [_nodes(option), *_capacity(option), *_pace(option, speed)]
                for option, speed in zip(options, speeds, strict=True)
            ]
            yield from ("", *screen.table(columns, rows))
            columns = [
                TableColumn("INSTANCE"),
                TableColumn("TP x PP"),
                TableColumn("REPLICAS", right=True),
                TableColumn("VERDICT"),
                TableColumn("$/HOUR", right=True),
            ]
            yield from ("", *screen.table(columns, [[_nodes(option), *_parallelism(option)] for option in options]))
        if notes := list(_notes(self.question, self.options, self.speeds)):
            yield ""
            for note in notes:
                yield from screen.text(note)

    def _left_out(self) -> list[str]:
        """Return what only details show."""
        if not self.options:
            return []
        hidden = ["tokens/s", "context", "prices an hour and per token", "notes"]
        if further := len(self.answer.options) - len(self.options[:_MOST_ROWS]):
            hidden.insert(0, f"{pluralize(further, 'more instance type')} at a higher price")
        judged = sum(refusal.is_judged for refusal in self.answer.refusals)
        if judged > _MOST_REFUSED:
            hidden.append(f"{judged - _MOST_REFUSED} more GPUs without room")
        if judged < len(self.answer.refusals):
            hidden.append(f"{pluralize(len(self.answer.refusals) - judged, 'GPU')} not offered")
        return hidden

    # Markdown

    def markdown(self, *, explain: bool) -> str:
        """Return the answer with all figures in one table, for issues and pull requests."""
        name = self.question.model
        parts = [f"{self._headline()}: {self._served()}".replace(name, prose(name), 1)]
        if self.options:
            rows = [_cells(option, speed) for option, speed in zip(self.options, self.speeds, strict=True)]
            parts.append("\n".join(_markdown_table(_MARKDOWN, rows)))
        left = len(self.answer.options) - len(self.options)
        if left:
            parts.append(
                f"{pluralize(left, 'instance type')} left out, with the same accelerators at a higher price: pass "
                "--gpu, or --output json."
            )
        if self.answer.several:
            parts.append(_several(self.answer.several))
        if self.answer.unknown:
            parts.append(f"Not checked: {self.answer.unknown}.")
        if too_small := [f"  {_too_small(refusal)}" for refusal in self.answer.refusals if refusal.is_judged]:
            parts.append("\n".join(["Does not fit:", *too_small]))
        if not_offered := _not_offered(self.answer.refusals):
            reasons = (f"  {', '.join(accelerators)}: {reason}" for reason, accelerators in not_offered.items())
            parts.append("\n".join(["Not offered:", *reasons]))
        parts.append("\n".join(_notes(self.question, self.options, self.speeds)))
        if explain and self.options:
            terms = "\n".join(_markdown_table(_TERMS, _term_rows(self.options[0])))
            parts += [_title_of_terms(self.options[0]), terms]
        return "\n\n".join("\n".join(map(printable, part.splitlines())) for part in parts if part) + "\n"


_TERMS = ("term", "GiB", "how", "source")


def _row(option: "FitOption") -> list[str | Styled]:
    users = f"{option.users * option.replicas:,}" if option.users else "-"
    style = "good" if option.verdict.fit.value == "fits" else "warning"
    return [_gpus(option), _nodes(option), Styled(left_text(option.verdict), style), users, _price(option)]


def _gpus(option: "FitOption") -> str:
    return f"{option.parallel.accelerators} {option.node.accelerator}"


def _nodes(option: "FitOption") -> str:
    return f"{option.nodes} x {option.node.name}" if option.nodes > 1 else option.node.name


def _month(hourly: Decimal | None) -> Decimal:
    return (hourly or Decimal(0)) * HOURS_PER_MONTH


def _is_shared(option: "FitOption") -> bool:
    return option.usd_per_hour is not None and option.share_usd_per_hour != option.usd_per_hour


def _price(option: "FitOption") -> str:
    """Return what the nodes cost a month; with the share of the replicas, if they use only a part."""
    if option.usd_per_hour is None:
        return "no price"
    whole = whole_usd(_month(option.usd_per_hour)).removeprefix("$")
    if not _is_shared(option):
        return whole
    return f"{whole_usd(_month(option.share_usd_per_hour)).removeprefix('$')} of {whole}"


def _capacity(option: "FitOption") -> list[str]:
    """Return the memory left for the cache, and the longest context."""
    cache = f"{option.cache_bytes / GIB:.1f}" if option.cache_bytes > 0 else "-"
    return [cache, f"{option.verdict.largest_context:,}" if option.verdict.largest_context else "-"]


def _pace(option: "FitOption", speed: GenerationSpeed | None) -> list[str]:
    """Return tokens per second and the price of a million, each with its bounds."""
    usd = option.usd_per_hour
    prices = speed.usd_per_million(float(usd)) if speed and usd is not None else None
    return [
        f"{_round(speed.tokens)} ({_round(speed.low)}-{_round(speed.high)})" if speed else "-",
        f"{prices[0]:,.2f} ({prices[1]:,.2f}-{prices[2]:,.2f})" if prices else "-",
    ]


def _parallelism(option: "FitOption") -> list[str]:
    """Return the parallelism, the replicas, the verdict and the price an hour."""
    usd = option.usd_per_hour
    return [
        f"{option.parallel.tensor} x {option.parallel.pipeline}",
        str(option.replicas),
        option.verdict.fit.value,
        f"{usd:,.2f}" if usd is not None else "no price",
    ]


def _cells(option: "FitOption", speed: GenerationSpeed | None) -> list[str]:
    """Return the row of the table in Markdown."""
    *ways, hour = _parallelism(option)
    tokens, million = _pace(option, speed)
    users = f"{option.users * option.replicas:,}" if option.users else "-"
    gpus = f"{option.parallel.accelerators} x {option.node.accelerator}"
    return [_nodes(option), gpus, *ways, *_capacity(option), users, tokens, hour, _price(option), million]


def _several(count: int) -> str:
    types = pluralize(count, "instance type")
    return f"{types} left out, of which a replica needs several: pass --gpu with the name of one."


def _too_small(refusal: "Refusal") -> str:
    several = refusal.accelerators > 1
    number = f"{refusal.accelerators} x " if several else ""
    memory = f"{refusal.memory_gib:.0f} GiB" if refusal.memory_gib else "memory unknown"
    types = ", ".join(refusal.types[:_MOST_TYPES]) + (", ..." if len(refusal.types) > _MOST_TYPES else "")
    # The missing bytes in the reason are those of one accelerator.
    per_accelerator = " each" if several and refusal.short_bytes else ""
    context = f"; fits with --max-len {refusal.context}" if refusal.context else ""
    return f"{number}{refusal.accelerator} {memory} ({types}): {refusal.reason}{per_accelerator}{context}"


def _not_offered(refusals: "Iterable[Refusal]") -> dict[str, list[str]]:
    """Return the accelerators that cannot be judged, by their reason."""
    by_reason: dict[str, list[str]] = {}
    for refusal in refusals:
        if not refusal.is_judged:
            memory = f" {refusal.memory_gib:.3g} GiB" if refusal.memory_gib else ""
            by_reason.setdefault(refusal.reason, []).append(f"{refusal.accelerator}{memory}")
    return by_reason


def _cheapest_of_each(options: "Sequence[FitOption]") -> "Iterator[FitOption]":
    """Yield the first option for each accelerator and number of them; options are sorted by price."""
    seen = set()
    for option in options:
        key = (option.node.accelerator, option.node.accelerator_memory_gib, option.parallel)
        if key not in seen:
            seen.add(key)
            yield option


def _round(value: float) -> str:
    """Format with two significant digits: an estimate has no more."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 1 else f"{value:.2g}"


def _notes(
    question: "FitQuestion", options: "Sequence[FitOption]", speeds: Sequence[GenerationSpeed | None]
) -> Iterator[str]:
    known = next((speed for speed in speeds if speed), None)
    if known:
        yield HOW
    if options:
        yield "USD are those of whole instances, with accelerators that no replica uses."
        verdict = options[0].verdict
        most = verdict.asked.shape.max_context if verdict.asked else None
        if most and verdict.context > most:
            yield f"The model itself has a context of {most:,} tokens: engines reject a longer one."
        if verdict.asked and verdict.asked.shape.estimate:
            yield f"The size of the model is estimated from {verdict.asked.shape.estimate}."
        for note in verdict.notes:
            yield f"Note: {note}."
        if question.users and not options[0].users:
            yield "The cache of a request is unknown, so that replicas for these users cannot be counted."
        priced = next((option.price for option in options if option.price), None)
        if priced:
            yield f"Price of {options[0].node.name}: {priced.source}."


def _title_of_terms(option: "FitOption") -> str:
    return f"Memory of one {option.node.accelerator} of {option.node.name}: {option.verdict.reason}"


def _term_rows(option: "FitOption") -> list[list[str]]:
    from components.plan.fitting.terms import terms_of

    terms = terms_of(option.verdict)
    return [[term.name, f"{term.size / GIB:.2f}", term.how, term.source] for term in terms]


def _terms(option: "FitOption", screen: Screen) -> Iterator[str]:
    yield from screen.text(_title_of_terms(option))
    for name, size, how, source in _term_rows(option):
        yield from screen.text(f"{size:>7} GiB  {name}: {how}", hanging=" " * 13)
        yield from screen.text(source, "dim", indent=" " * 13)


def _markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _markdown_row(titles)
    yield _markdown_row(["--:" if title in _RIGHT or title == "GiB" else "---" for title in titles])
    yield from map(_markdown_row, rows)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
