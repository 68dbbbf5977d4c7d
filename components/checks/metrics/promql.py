"""Names of the series that a PromQL query reads, with their label matchers.

Grammar: prometheus/prometheus, promql/parser/lex.go. Queries are only read; Prometheus judges their syntax.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)
    |(?P<range>\[[^\]]*\])
    |(?P<number>\d[\w.]*)
    |(?P<name>[a-zA-Z_:][\w:]*)
    |(?P<sign>=~|!~|!=|=|[^\s])
    """,
    re.VERBOSE | re.ASCII,
)
_GROUPING = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
"""Words that may be followed by a list of labels in parentheses."""
_WORDS = _GROUPING | {"and", "or", "unless", "atan2", "offset", "bool", "inf", "nan", "start", "end"}
_AGGREGATIONS = frozenset(
    {"sum", "avg", "max", "min", "count", "group", "stddev", "stdvar", "topk", "bottomk", "quantile"}
)
_NAME_LABEL = "__name__"


class Selected(NamedTuple):
    """A vector selector.

    Attributes:
        name: Name of the series; empty if only labels select them.
        labels: The matchers with ``=``.
        others: Labels with any other matcher.
    """

    name: str
    labels: Mapping[str, str]
    others: frozenset[str]


def selectors(query: str) -> tuple[Selected, ...]:
    """Return the vector selectors of a query, in its order."""
    return tuple(_selectors(_split(query)))


def outer_aggregation(query: str) -> str:
    """Return the aggregation over the whole query, such as ``sum``; empty without one."""
    words = _split(query)
    if not words or words[0][1] not in _AGGREGATIONS:
        return ""
    depth = 0
    for position, (_, word) in enumerate(words):
        depth += (word == "(") - (word == ")")
        is_closed = word == ")" and depth == 0
        rest = [text for _, text in words[position + 1 :]]
        # A list of labels may stand before or after the aggregated expression.
        if is_closed and rest and rest[0] not in ("(", "by", "without"):
            return ""
    return words[0][1]


def _split(query: str) -> list[tuple[str, str]]:
    matches = _TOKEN.finditer(query)
    return [(str(match.lastgroup), match[0]) for match in matches if match.lastgroup != "comment"]


def _selectors(words: list[tuple[str, str]]) -> Iterator[Selected]:
    position = 0
    while position < len(words):
        kind, word = words[position]
        following = words[position + 1][1] if position + 1 < len(words) else ""
        if word in _GROUPING and following == "(":
            position = _after(words, position + 1, ")")
        elif word == "{" or (kind == "name" and following == "{"):
            start = position + (word != "{")
            end = _after(words, start, "}")
            labels, others = _matchers(words[start + 1 : end - 1])
            name = labels.pop(_NAME_LABEL, "") if word == "{" else word
            yield Selected(name, labels, others - {_NAME_LABEL})
            position = end
        else:
            if kind == "name" and following != "(" and word.lower() not in _WORDS | _AGGREGATIONS:
                yield Selected(word, {}, frozenset())
            position += 1


def _after(words: list[tuple[str, str]], start: int, closing: str) -> int:
    """Return the position after the next closing word; the end without one."""
    rest = (position + 1 for position in range(start, len(words)) if words[position][1] == closing)
    return next(rest, len(words))


def _matchers(words: list[tuple[str, str]]) -> tuple[dict[str, str], frozenset[str]]:
    """Return the labels that must equal a value, and those with any other matcher."""
    labels, others = dict[str, str](), set[str]()
    for (_, label), (_, sign), (kind, value) in zip(words, words[1:], words[2:], strict=False):
        if kind != "text" or sign not in ("=", "!=", "=~", "!~"):
            continue
        if sign == "=":
            labels[label.strip("\"'`")] = value[1:-1]
        else:
            others.add(label.strip("\"'`"))
    return labels, frozenset(others)
