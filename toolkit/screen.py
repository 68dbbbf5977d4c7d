"""Text for a terminal or a log: width, colors, wrapped text, narrow tables, findings, and the closing line.

Every command prints through this module, so that all of them look alike: the answer first, a table of at most five
columns, findings as compilers print them, and one closing line that counts and names ``--details``. Text is escaped
here, because names and messages quote manifests. It does not import rich, which takes longer than a validation.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, TextIO

import typer

from components.contract.texts.printable import printable

from .printing import pluralize

Details = Annotated[bool, typer.Option("--details", help="Also print what the closing line names.")]
"""The option of every command whose text output fits a screen."""

DEFAULT_WIDTH = 80
"""Columns of a log, and of a terminal that does not tell its width."""
_LEAST_WIDTH = 40
"""Narrower terminals wrap the lines themselves."""
MOST_COLUMNS = 5
_GAP = "  "
_ELLIPSIS = "…"
_LEAST_SHORTENED = 8
"""Characters that remain of a shortened name, so that it can still be recognized."""
_INDENT = "  "
_RESET = "\x1b[0m"
_STYLES = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "error": "\x1b[1;31m",
    "warning": "\x1b[33m",
    "note": "\x1b[36m",
    "ignored": "\x1b[2m",
    "good": "\x1b[32m",
}
SEVERITIES = ("error", "warning", "note", "ignored")
_SHOWN = {"error": 3, "warning": 1, "note": 0, "ignored": 0}
"""Findings of one rule that are printed without ``--details``."""
_PIECE = re.compile(r"[^\s/-]*[/-]+|[^\s/-]+|\s+")
"""What a line may be broken after: a blank, a slash or a hyphen."""
_SMALLER_PIECE = re.compile(r"[^.,:;=]*[.,:;=]+|[^.,:;=]+")
"""What a line of text, but no cell of a table, is broken after if a piece alone is longer than the line."""


class Styled(NamedTuple):
    """A cell of a table in a style: bold, dim, error, warning, note or good."""

    text: str
    style: str = ""


class TableColumn(NamedTuple):
    """A column of a table.

    Attributes:
        right: Whether it holds numbers, which are aligned right and never broken.
        shortens: Whether cells may lose their middle where the table is too wide: only where ``--details`` or another
            output has the whole text.
        whole: Whether cells are copied, such as URLs, and therefore neither broken nor shortened.
    """

    title: str
    right: bool = False
    shortens: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A finding as it is printed.

    Attributes:
        severity: error, warning, note or ignored.
        rule: The id of its rule; may be empty.
        place: ``file:line``, or a file.
        subject: The object and its field: ``Playground/chat spec.x``.
        cause: What is wrong.
        help: What to do, or why it is ignored; may be empty.
    """

    severity: str
    rule: str
    place: str
    cause: str
    subject: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text is printed: its width in columns, and whether it has colors."""

    width: int = DEFAULT_WIDTH
    colors: bool = False

    @classmethod
    def of(cls, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ) -> "Screen":
        """Return the screen behind a stream, stdout by default."""
        stream = stream or sys.stdout
        return cls(_width(stream, environ), _has_colors(stream, environ))

    def style(self, text: str, style: str) -> str:
        """Color text that is escaped already."""
        return f"{_STYLES[style]}{text}{_RESET}" if self.colors and style and text else text

    def text(self, content: str, style: str = "", *, indent: str = "", hanging: str | None = None) -> Iterator[str]:
        """Yield the lines of a text: broken between words, and after slashes and hyphens of words that are too long.

        Args:
            content: The text; control characters are escaped.
            style: Its style.
            indent: What precedes the first line.
            hanging: What precedes the further lines; the indent by default.
        """
        hanging = indent if hanging is None else hanging
        first = self.width - len(indent)
        for number, line in enumerate(_wrapped(printable(content), first, self.width - len(hanging), smaller=True)):
            yield f"{hanging if number else indent}{self.style(line, style)}"

    def table(self, columns: Sequence[TableColumn], rows: Iterable[Sequence[str | Styled]]) -> Iterator[str]:
        """Yield the lines of a table whose cells are never broken inside a word.

        Columns that are too wide together are wrapped between words and after slashes and hyphens, the widest first,
        and then shortened where that is allowed. What is still too wide stays so.
        """
        columns = [column._replace(title=printable(column.title)) for column in columns]
        cells = [[_cell(cell) for cell in row] for row in rows]
        widths = _column_widths(columns, cells, self.width)
        titles = [Styled(column.title, "bold") for column in columns]
        for row in (titles, *cells):
            yield from self._row(columns, widths, row)

    def _row(self, columns: Sequence[TableColumn], widths: Sequence[int], row: Sequence[Styled]) -> Iterator[str]:
        blocks = [
            _cell_lines(cell.text, column, width) for cell, column, width in zip(row, columns, widths, strict=True)
        ]
        for number in range(max(map(len, blocks))):
            parts = []
            for block, cell, column, width in zip(blocks, row, columns, widths, strict=True):
                line = block[number] if number < len(block) else ""
                blank = " " * (width - columns_of(line))
                styled = self.style(line, cell.style)
                parts.append(blank + styled if column.right else styled + blank)
            yield _GAP.join(parts).rstrip()

    def first_rows(
        self,
        columns: Sequence[TableColumn],
        rows: Sequence[Sequence[str | Styled]],
        noun: str,
        *,
        most: int,
        details: bool = False,
    ) -> Iterator[str]:
        """Yield a table of the first rows, and how many others there are.

        Args:
            columns: The columns.
            rows: All rows.
            noun: What the rows are, for the line that counts the others.
            most: Rows without details.
            details: Whether all are printed.
        """
        # A line that counts one row takes as much room as the row.
        shown = rows if details or len(rows) <= most + 1 else rows[:most]
        yield from self.table(columns, shown)
        left = len(rows) - len(shown)
        if left:
            yield from self.text(f"and {left:,} more {noun} (--details)", "dim")

    def heading(self, title: str) -> Iterator[str]:
        """Yield the title of a part of the details, after a blank line."""
        yield ""
        yield from self.text(title, "bold")

    def left_out(self, hidden: Sequence[str], further: str = "") -> Iterator[str]:
        """Yield the last line of an answer without findings: what ``--details`` and other options print."""
        words = [f"--details: {', '.join(hidden)}"] if hidden else []
        words += [further] if further else []
        if words:
            yield from self.text(f"({'; '.join(words)})")

    def finding(self, finding: Message, *, more: int = 0, cause_lines: int | None = None) -> Iterator[str]:
        """Yield the lines of a finding: severity, rule and place, the cause, and what to do.

        Args:
            finding: The finding.
            more: Number of further findings of its rule, which are not printed.
            cause_lines: Lines after which the cause is cut; None for no limit.
        """
        rule = f"[{finding.rule}]" if finding.rule else ""
        further = f" (and {more:,} more)" if more else ""
        title = self.style(printable(f"{finding.severity}{rule}"), finding.severity)
        yield f"{title} {printable(finding.place)}{further}".rstrip()
        lines = [*self._cause(finding)]
        if cause_lines is not None and len(lines) > cause_lines:
            lines = [*lines[: cause_lines - 1], f"{lines[cause_lines - 1]} {_ELLIPSIS}"]
        yield from lines
        if finding.help:
            label = "reason" if finding.severity == "ignored" else "help"
            yield from self.text(f"{label}: {finding.help}", indent=_INDENT, hanging=_INDENT * 2)

    def _cause(self, finding: Message) -> Iterator[str]:
        cause = f"{finding.subject}: {finding.cause}" if finding.subject else finding.cause
        return self.text(cause, indent=_INDENT)

    def findings(
        self,
        findings: Sequence[Message],
        *,
        details: bool = False,
        most: int | None = None,
        cause_lines: int | None = None,
    ) -> Iterator[str]:
        """Yield findings, errors first.

        Without details, the first findings of a rule stand for all of them, with a count, and notes are left to the
        closing line. With details, all are printed; those that say the same share a paragraph.

        Args:
            findings: The findings.
            details: Whether all are printed.
            most: How many are printed without details; None for no limit.
            cause_lines: Lines after which the cause of a warning is cut without details; None for no limit.
        """
        if details:
            for same in _grouped(_errors_first(findings), lambda finding: replace(finding, place="", subject="")):
                yield from self._same(same)
            return
        for finding, more in _first_ones(findings, most):
            limit = None if finding.severity == "error" else cause_lines
            yield from self.finding(finding, more=more, cause_lines=limit)

    def cuts_causes(self, findings: Sequence[Message], *, most: int | None = None, cause_lines: int) -> bool:
        """Return whether :meth:`findings` cuts the cause of a finding that it prints without details."""
        return any(
            finding.severity != "error" and len([*self._cause(finding)]) > cause_lines
            for finding, _ in _first_ones(findings, most)
        )

    def _same(self, findings: Sequence[Message]) -> Iterator[str]:
        """Yield findings that differ only in their places."""
        first = findings[0]
        if len(findings) == 1:
            yield from self.finding(first)
            return
        yield from self.finding(replace(first, place=f"{len(findings):,} times", subject=""))
        for finding in findings:
            yield from self.text(f"{finding.place} {finding.subject}".strip(), indent=_INDENT * 2)

    def closing(self, findings: Iterable[Message], hidden: Sequence[str] = (), *, checked: str = "") -> Iterator[str]:
        """Yield the last line: how many findings there are, and what ``--details`` prints.

        Args:
            findings: All findings.
            hidden: What is left out, in words.
            checked: What was checked, such as ``3 resources in 1 file``; may be empty.
        """
        counts = count_words(Counter(finding.severity for finding in findings))
        left = f" (--details: {', '.join(hidden)})" if hidden else ""
        yield from self.text(f"{f'{checked}: ' if checked else ''}{counts}{left}")


def count_words(counts: Mapping[str, int]) -> str:
    """Return ``0 errors, 1 note``: errors always, the others if there are any."""
    words = [pluralize(counts.get("error", 0), "error")]
    words += [pluralize(counts[word], word) for word in ("warning", "note") if counts.get(word)]
    words += [f"{counts['ignored']:,} ignored"] if counts.get("ignored") else []
    return ", ".join(words)


def _shown(severity: str, number: int) -> int:
    """Return how many findings of a rule are printed; many errors of one rule usually have one cause."""
    return min(number, 1 if severity == "error" and number > _SHOWN[severity] else _SHOWN[severity])


def _errors_first(findings: Iterable[Message]) -> list[Message]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _first_ones(findings: Sequence[Message], most: int | None) -> Iterator[tuple[Message, int]]:
    """Yield the findings that are printed without details, and how many others of its rule the last one counts."""
    printed = 0
    for same in _grouped(_errors_first(findings), lambda finding: (finding.severity, finding.rule)):
        shown = same[: _shown(same[0].severity, len(same))]
        for number, finding in enumerate(shown, 1):
            if most is not None and printed == most:
                return
            printed += 1
            is_last = number == len(shown) or printed == most
            yield finding, len(same) - number if is_last else 0


def hidden_findings(findings: Iterable[Message], most: int | None = None) -> list[str]:
    """Return what :meth:`Screen.findings` leaves to ``--details``: ``warnings``, ``notes``, ``ignored findings``."""
    numbers = Counter((finding.severity, finding.rule) for finding in findings)
    left = {severity for (severity, _), number in numbers.items() if number > _shown(severity, number)}
    room = len(numbers) * max(_SHOWN.values()) if most is None else most
    for severity in SEVERITIES:
        wanted = sum(_shown(own, number) for (own, _), number in numbers.items() if own == severity)
        left |= {severity} if wanted > room else set()
        room = max(0, room - wanted)
    names = {"error": "all errors", "warning": "all warnings", "note": "notes", "ignored": "ignored findings"}
    return [names[severity] for severity in SEVERITIES if severity in left]


def write(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines to a stream, stdout by default."""
    (stream or sys.stdout).write("".join(f"{line}\n" for line in lines))


def columns_of(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def shortened(text: str, width: int) -> str:
    """Return a text without its middle, so that it takes at most that many columns."""
    if columns_of(text) <= width:
        return text
    half = (width - 1) // 2
    end = text[len(text) - half :] if half else ""
    start = text[: width - 1 - half]
    # Wide letters take two columns: drop as many as needed.
    while start and columns_of(start) + 1 + columns_of(end) > width:
        start, end = start[:-1], end[1:]
    return f"{start}{_ELLIPSIS}{end}"


def _width(stream: TextIO, environ: Mapping[str, str]) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(int(columns), _LEAST_WIDTH)
    try:
        width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):  # a stream without a descriptor
        width = 0
    return max(width, _LEAST_WIDTH) if width else DEFAULT_WIDTH


def _has_colors(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Decide as Python itself does for its tracebacks ("Controlling color" in the manual of Python 3.13)."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and stream.isatty()


def _cell(cell: str | Styled) -> Styled:
    styled = cell if isinstance(cell, Styled) else Styled(cell)
    return Styled(printable(styled.text), styled.style)


def _column_widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[Styled]], width: int) -> list[int]:
    texts = [[column.title, *(row[at].text for row in rows)] for at, column in enumerate(columns)]
    widths = [max(map(columns_of, cells)) for cells in texts]
    room = width - len(_GAP) * (len(columns) - 1)
    wrapped = [
        widths[at] if column.right or column.whole else max(map(_longest_piece, texts[at]))
        for at, column in enumerate(columns)
    ]
    titles = [columns_of(column.title) for column in columns]
    least = [
        max(min(_LEAST_SHORTENED, wrapped[at]), titles[at]) if column.shortens else wrapped[at]
        for at, column in enumerate(columns)
    ]
    for limits in (wrapped, least):
        while sum(widths) > room:
            shrinkable = [at for at, limit in enumerate(limits) if widths[at] > limit]
            if not shrinkable:
                break
            widest = max(shrinkable, key=lambda at: widths[at])
            widths[widest] -= 1
    return widths


def _longest_piece(text: str) -> int:
    return max((columns_of(piece) for piece in _PIECE.findall(text) if not piece.isspace()), default=0)


def _cell_lines(text: str, column: TableColumn, width: int) -> list[str]:
    if columns_of(text) <= width or column.right or column.whole:
        return [text]
    return [shortened(line, width) if column.shortens else line for line in _wrapped(text, width, width)] or [""]


def _wrapped(text: str, first: int, further: int, *, smaller: bool = False) -> Iterator[str]:
    """Yield lines of at most that many columns; a piece that is longer has a line of its own."""
    room, line = first, ""
    for piece in _words(text, min(first, further), smaller=smaller):
        if piece.isspace():
            line += piece if line else ""
            continue
        if line.strip() and columns_of(line) + columns_of(piece) > room:
            yield line.rstrip()
            room, line = further, ""
        line += piece
    if line.strip():
        yield line.rstrip()


def _words(text: str, room: int, *, smaller: bool) -> Iterator[str]:
    """Yield words and the blanks between them; words that take more than a line in pieces."""
    for word in re.findall(r"\s+|\S+", text):
        for piece in [word] if columns_of(word) <= room else _PIECE.findall(word):
            yield from [piece] if not smaller or columns_of(piece) <= room else _SMALLER_PIECE.findall(piece)


def _grouped(findings: Iterable[Message], key: Callable[[Message], Hashable]) -> Iterator[list[Message]]:
    """Yield findings with the same key together, in the order of the first of each."""
    groups: dict[Hashable, list[Message]] = {}
    for finding in findings:
        groups.setdefault(key(finding), []).append(finding)
    yield from groups.values()
