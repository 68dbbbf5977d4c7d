"""The answer of ``workbench fit`` as a table for terminals and in Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from .speeds import HOW, GenerationSpeed, speed_of

if TYPE_CHECKING:
    from components.plan.fitting.options import FitAnswer, FitOption
    from components.plan.fitting.question import FitQuestion

_GIB = 2**30
_RIGHT = frozenset({"cache GiB", "longest context", "users", "tokens/s", "USD/hour", "USD/1M tokens", "GiB"})
_OPTION_TITLES = (
    *("instance type", "GPUs of a replica", "TP x PP", "replicas", "verdict"),
    *("cache GiB", "longest context", "users", "tokens/s", "USD/hour", "USD/1M tokens"),
)
_MOST_TYPES = 3
"""Instance types that a line about an accelerator lists."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Rows under titles; titles of numbers are aligned to the right."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> Iterator[str]:
        widths = [max(map(len, column)) for column in zip(self.titles, *self.rows, strict=True)]
        for row in (self.titles, *self.rows):
            cells = (
                cell.rjust(width) if title in _RIGHT else cell.ljust(width)
                for cell, width, title in zip(row, widths, self.titles, strict=True)
            )
            yield "  ".join(cells).rstrip()

    def markdown(self) -> Iterator[str]:
        yield _row(self.titles)
        yield _row(["--:" if title in _RIGHT else "---" for title in self.titles])
        yield from map(_row, self.rows)


@dataclass(frozen=True, slots=True)
class Details:
    """Paragraphs and tables, in order."""

    parts: Sequence[str | AnswerTable]

    def text(self) -> str:
        return self._joined(
            ["\n".join(part.text()) if isinstance(part, AnswerTable) else part for part in self.parts]
        )

    def markdown(self) -> str:
        return self._joined(
            ["\n".join(part.markdown()) if isinstance(part, AnswerTable) else part for part in self.parts]
        )

    def _joined(self, parts: Sequence[str]) -> str:
        return "\n\n".join("\n".join(map(printable, part.splitlines())) for part in parts if part) + "\n"


def lines(question: "FitQuestion", answer: "FitAnswer", *, is_complete: bool, explain: bool) -> Details:
    """Return the answer.

    Args:
        question: The model and how it is served.
        answer: All instance types.
        is_complete: Whether every instance type has a row, not only the cheapest with the same accelerators.
        explain: Whether to list the memory terms of the cheapest option.
    """
    options = answer.options if is_complete else tuple(_cheapest_of_each(answer.options))
    speeds = [speed_of(option, question.users) for option in options]
    verdict = next((option.verdict for option in answer.options), None)
    tokens = question.context or (verdict.context if verdict else 0)
    served = f"{question.model}, {question.serving.title}"
    served += f", {question.quantization}" if question.quantization else ""
    served += f", {tokens:,} tokens" if tokens else ""
    users = f", {question.users:,} users" if question.users else ""
    parts: list[str | AnswerTable] = [f"{served}{users}; on demand in {question.region}"]
    if options:
        rows = [_cells(option, speed) for option, speed in zip(options, speeds, strict=True)]
        parts.append(AnswerTable(_OPTION_TITLES, rows))
    if not is_complete and len(options) < len(answer.options):
        parts.append(
            f"{pluralize(len(answer.options) - len(options), 'instance type')} left out, with the same accelerators "
            "at a higher price: pass --gpu, or --output json."
        )
    if answer.several:
        parts.append(
            f"{pluralize(answer.several, 'instance type')} left out, of which a replica needs several: pass --gpu "
            "with the name of one."
        )
    if answer.unknown:
        parts.append(f"Not checked: {answer.unknown}.")
    too_small = []
    not_offered: dict[str, list[str]] = {}
    for refusal in answer.refusals:
        if not refusal.is_judged:
            # One line for all accelerators with the same reason.
            memory = f" {refusal.memory_gib:.3g} GiB" if refusal.memory_gib else ""
            not_offered.setdefault(refusal.reason, []).append(f"{refusal.accelerator}{memory}")
            continue
        several = refusal.accelerators > 1
        number = f"{refusal.accelerators} x " if several else ""
        memory = f"{refusal.memory_gib:.0f} GiB" if refusal.memory_gib else "memory unknown"
        types = ", ".join(refusal.types[:_MOST_TYPES]) + (", ..." if len(refusal.types) > _MOST_TYPES else "")
        # The missing bytes in the reason are those of one accelerator.
        per_accelerator = " each" if several and refusal.short_bytes else ""
        context = f"; fits with --max-len {refusal.context}" if refusal.context else ""
        too_small.append(
            f"  {number}{refusal.accelerator} {memory} ({types}): {refusal.reason}{per_accelerator}{context}"
        )
    if too_small:
        parts.append("Does not fit:\n" + "\n".join(too_small))
    if not_offered:
        reasons = (f"  {', '.join(accelerators)}: {reason}" for reason, accelerators in not_offered.items())
        parts.append("Not offered:\n" + "\n".join(reasons))
    parts.append("\n".join(_notes(question, options, speeds)))
    if explain and options:
        parts += _terms(options[0])
    return Details(parts)


def _cheapest_of_each(options: "Sequence[FitOption]") -> "Iterator[FitOption]":
    """Yield the first option for each accelerator and number of them; options are sorted by price."""
    seen = set()
    for option in options:
        key = (option.node.accelerator, option.node.accelerator_memory_gib, option.parallel)
        if key not in seen:
            seen.add(key)
            yield option


def _cells(option: "FitOption", speed: GenerationSpeed | None) -> list[str]:
    verdict, usd = option.verdict, option.usd_per_hour
    prices = speed.usd_per_million(float(usd)) if speed and usd is not None else None
    nodes = f"{option.nodes} x {option.node.name}" if option.nodes > 1 else option.node.name
    return [
        nodes,
        f"{option.parallel.accelerators} x {option.node.accelerator}",
        f"{option.parallel.tensor} x {option.parallel.pipeline}",
        str(option.replicas),
        verdict.fit.value,
        f"{option.cache_bytes / _GIB:.1f}" if option.cache_bytes > 0 else "-",
        f"{verdict.largest_context:,}" if verdict.largest_context else "-",
        f"{option.users * option.replicas:,}" if option.users else "-",
        f"{_round(speed.tokens)} ({_round(speed.low)}-{_round(speed.high)})" if speed else "-",
        f"{usd:,.2f}" if usd is not None else "no price",
        f"{prices[0]:,.2f} ({prices[1]:,.2f}-{prices[2]:,.2f})" if prices else "-",
    ]


def _round(value: float) -> str:
    """Format with two significant digits: an estimate has no more."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 1 else f"{value:.2g}"


def _notes(
    question: "FitQuestion", options: "Sequence[FitOption]", speeds: Sequence[GenerationSpeed | None]
) -> Iterator[str]:
    known = next((speed for speed in speeds if speed), None)
    if known:
        yield HOW.format(faster=known.faster, slower=known.slower)
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


def _terms(option: "FitOption") -> list[str | AnswerTable]:
    from components.plan.fitting.terms import terms_of

    terms = terms_of(option.verdict)
    rows = [[term.name, f"{term.size / _GIB:.2f}", term.how, term.source] for term in terms]
    title = f"Memory of one {option.node.accelerator} of {option.node.name}: {option.verdict.reason}"
    return [title, AnswerTable(("term", "GiB", "how", "source"), rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
