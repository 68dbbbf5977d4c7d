"""Unified diffs in time proportional to the texts, also of documents whose lines are all alike."""

import difflib
import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

_CONTEXT = 3
"""Lines around a change, as in ``diff -u``."""
_MOST_PAIRS = 10_000
"""Pairs of lines that are compared one by one, where no line occurs only once."""

_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
_Block = tuple[int, int, int]
"""Equal lines: where they start in both texts, and how many they are."""


def unified_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the hunks of a unified diff, as ``difflib.unified_diff`` writes them.

    ``difflib`` takes a minute for two texts of a megabyte. Here lines that occur once in both texts are anchors
    ("patience diff"), and only the lines between two of them are compared.
    """
    for group in _Matched(before, after).get_grouped_opcodes(_CONTEXT):
        (_, old, _, new, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_range(old, old_end)} +{_range(new, new_end)} @@\n"
        for tag, start, end, first, last in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[start:end])
                continue
            yield from (f"-{line}" for line in before[start:end])
            yield from (f"+{line}" for line in after[first:last])


class _Matched(difflib.SequenceMatcher[str]):
    """Two texts whose differences are found here, and grouped by ``difflib``."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, (), (), autojunk=False)
        self._found = list(_opcodes(before, after))

    def get_opcodes(self) -> list[_Opcode]:
        return self._found


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + bool(length)},{length}"


def _opcodes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Opcode]:
    old = new = 0
    for start, first, length in [*_joined(_blocks(before, after)), (len(before), len(after), 0)]:
        if old < start or new < first:
            if old == start:
                yield "insert", old, start, new, first
            elif new == first:
                yield "delete", old, start, new, first
            else:
                yield "replace", old, start, new, first
        if length:
            yield "equal", start, start + length, first, first + length
        old, new = start + length, first + length


def _joined(blocks: Iterator[_Block]) -> list[_Block]:
    joined: list[_Block] = []
    for block in blocks:
        last = joined[-1] if joined else (0, 0, 0)
        if joined and (last[0] + last[2], last[1] + last[2]) == block[:2]:
            joined[-1] = last[0], last[1], last[2] + block[2]
        else:
            joined.append(block)
    return joined


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    """Yield equal lines, in order."""
    open_ranges = [(0, len(before), 0, len(after))]
    while open_ranges:
        start, end, first, last = open_ranges.pop()
        length = 0
        while start + length < end and first + length < last and before[start + length] == after[first + length]:
            length += 1
        if length:
            yield start, first, length
        start, first, ends = start + length, first + length, 0
        while start < end - ends and first < last - ends and before[end - ends - 1] == after[last - ends - 1]:
            ends += 1
        if ends:
            end, last = end - ends, last - ends
            open_ranges.append((end, end + ends, last, last + ends))
        if start == end or first == last:
            continue
        anchors = _anchors(before, after, (start, end, first, last))
        if anchors:
            # The last range is taken first.
            bounds = [(start, first), *anchors, (end, last)]
            ranges = [(one[0], two[0], one[1], two[1]) for one, two in itertools.pairwise(bounds)]
            open_ranges += reversed(ranges)
        elif (end - start) * (last - first) <= _MOST_PAIRS:
            matcher = difflib.SequenceMatcher(None, before[start:end], after[first:last], autojunk=False)
            for block in matcher.get_matching_blocks():
                if block.size:
                    yield start + block.a, first + block.b, block.size


def _anchors(before: Sequence[str], after: Sequence[str], bounds: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Return where lines are that occur once in both ranges: the longest run of them that is in the same order."""
    start, end, first, last = bounds
    once = [
        {line for line, count in Counter(lines).items() if count == 1}
        for lines in (before[start:end], after[first:last])
    ]
    common = once[0] & once[1]
    places = {after[place]: place for place in range(first, last) if after[place] in common}
    pairs = [(place, places[before[place]]) for place in range(start, end) if before[place] in common]
    # The longest increasing subsequence: the smallest end of a run of each length, and the pair before each pair.
    ends: list[int] = []
    heads: list[int] = []
    previous: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        heads[length : length + 1] = [number]
        previous.append(heads[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    number = heads[-1] if heads else -1
    while number >= 0:
        found.append(pairs[number])
        number = previous[number]
    return found[::-1]
