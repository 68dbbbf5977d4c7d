"""Says in the words of whoever writes a file why it is not YAML: libyaml names the state of its parser instead."""

import re

_TAB = re.compile(r"[ ]*\t")
_KEY = re.compile(r" *(?:- +)*[^\s#\[{-][^:#]*:(?:\s|$)")
_QUOTED = re.compile(r":\s+(['\"])(?:(?!\1).)*\1[^\s#,}\]]")
_MOST_LINES = 200


def fault_reason(problem: str, lines: list[str], line: int, column: int, opened: int | None = None) -> str:
    """Return why a file is not YAML and what to do; empty where the parser's own words are clear enough.

    Args:
        problem: What libyaml says.
        lines: The lines of the file.
        line: Where it says so, from 1.
        column: The column there, from 0.
        opened: The line with the start of what is not complete, if there is one.
    """
    text = lines[line - 1] if line <= len(lines) else ""
    # What is missing at the end of a file is marked after its last line.
    opened = min(opened, line) if opened else None
    if _TAB.match(text):
        return "is indented with a tab, but YAML allows only spaces there; replace each tab by two spaces"
    if "cannot start any token" in problem and (mark := text[column : column + 1]):
        if mark == "\t":
            return "contains a tab where YAML allows only spaces; replace it by spaces"
        return f"a value cannot start with {mark!r}; put it in quotes"
    if "undefined alias" in problem:
        return "a value that starts with * refers to an anchor, and there is none; put it in quotes"
    if "document start" in problem:
        return f"starts at column {_column(text) + 1}, left of the first line; let all keys of a map start alike"
    if "did not find expected key" in problem and _QUOTED.search(text):
        return "a quote ends the value before its end; double the quote inside of it, or use the other kind of quotes"
    if "mapping values are not allowed" in problem or "did not find expected key" in problem:
        return _indentation(lines, line) or _colon(text)
    if "expected '-' indicator" in problem:
        return _indentation(lines, line) or "the items of a list must start at the same column, each with '- '"
    if "could not find expected ':'" in problem:
        start = opened or line
        return f"line {start} is neither 'key: value' nor an item '- value'; add the colon, or put the text in quotes"
    if "while parsing a flow" in problem and opened:
        closing = "}" if "mapping" in problem else "]"
        return f"the bracket opened in line {opened} is not closed; add {closing!r}, or the comma between two values"
    if "unexpected end of stream" in problem and opened:
        return f"the quote opened in line {opened} is not closed; add it"
    return ""


def _indentation(lines: list[str], line: int) -> str:
    """Return which column the keys above a wrongly indented one have; empty if its indentation is not the fault."""
    text = lines[line - 1] if line <= len(lines) else ""
    if _KEY.match(text) is None:
        return ""
    own, columns = _column(text), list[int]()
    for above in reversed(lines[max(0, line - 1 - _MOST_LINES) : line - 1]):
        if not above.strip() or above.lstrip().startswith("#"):
            continue
        if _KEY.match(above) is None:
            break
        # Below a key without a value, a map may begin at any column.
        if own == _column(above) or (not columns and own > _column(above) and above.rstrip().endswith(":")):
            return ""
        columns.append(_column(above))
        if columns[-1] < own:
            break
    if not columns:
        return ""
    wanted = min(columns, key=lambda column: abs(column - own))
    return (
        f"is indented to column {own + 1}, but the key above it starts at column {wanted + 1}; indent the keys of "
        "one map alike, with spaces"
    )


def _column(line: str) -> int:
    """Return the column of the key in a line, after the marks of lists."""
    rest = line.lstrip(" ")
    column = len(line) - len(rest)
    while rest.startswith("- "):
        inner = rest[2:].lstrip(" ")
        column += len(rest) - len(inner)
        rest = inner
    return column


def _colon(text: str) -> str:
    if text.count(": ") > 1 or (": " in text and text.rstrip().endswith(":")):
        return "a value with ': ' in it must be in quotes"
    return ""
