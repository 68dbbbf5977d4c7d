"""Tells whether Go's regular expressions accept a pattern.

Go, and Envoy by the library RE2, have another syntax than Python: no lookaround, no back references, no possessive
repetition. Source: https://pkg.go.dev/regexp/syntax. Not checked: names of Unicode scripts, and the size of programs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_MOST = 1000
"""The most repetitions, also of a repetition within another one (``maxRepeat`` in regexp/syntax)."""
_DEEPEST = 1000
"""The most groups within each other (``maxHeight`` in regexp/syntax)."""
_COUNT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAMED_GROUP = re.compile(r"\(\?P?<([^>]*)>")
_FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
_NAMED_CLASS = re.compile(r"\[:(\^?[^\]:]*):\]")
_HEX = re.compile(r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})")
_OCTAL = re.compile(r"\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})")
_UNICODE = re.compile(r"\\[pP](?:\{\^?([^}]*)\}|(.))", re.DOTALL)
_CATEGORIES = "CLMNPSZ"
_ASSERTIONS = ("(?=", "(?!", "(?<=", "(?<!")
_CLASSES = (
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "word", "xdigit",
)  # fmt: skip


class _PatternError(ValueError):
    """What Go rejects in a pattern."""


@dataclass
class _Item:
    """Part of an expression that a repetition can follow.

    Attributes:
        count: The most times that it is repeated, the least without a bound; 1 if it is not repeated by a count.
        parts: The parts that it repeats or groups.
    """

    count: int = 1
    parts: list["_Item"] = field(default_factory=list)


def pattern_error(pattern: str) -> str | None:
    """Return why Go rejects a pattern, for a message; None if it accepts it, as far as it is checked.

    The message repeats the syntax only, no literal text: a pattern for a header may contain a secret.
    """
    try:
        _parse(pattern)
    except _PatternError as error:
        return str(error)
    return None


def _parse(pattern: str) -> None:
    groups: list[list[_Item]] = [[]]
    # The items of the alternatives of each open group before the last one: they count for nested repetitions.
    earlier: list[list[_Item]] = [[]]
    names: set[str] = set()
    position, repeated = 0, ""
    while position < len(pattern):
        rest = pattern[position:]
        last, repeated = repeated, ""
        if rest[0] == "(":
            position += _open_group(rest, groups, earlier, names)
        elif rest[0] == "|":
            earlier[-1] += groups[-1]
            groups[-1] = []
            position += 1
        elif rest[0] == ")":
            if len(groups) == 1:
                raise _PatternError("has a ')' without its '('")
            item = _Item(parts=[*earlier.pop(), *groups.pop()])
            groups[-1].append(item)
            position += 1
        elif rest[0] in "*+?" or (rest[0] == "{" and _COUNT.match(rest)):
            repeated = _repetition(rest)
            if not groups[-1]:
                raise _PatternError(f"has nothing before {repeated!r} to repeat")
            if last:
                raise _PatternError(f"has a repetition of a repetition, {last + repeated!r}")
            _repeat(groups[-1], repeated)
            position += len(repeated)
        elif rest.startswith("\\Q"):
            literal, _, _ = rest[2:].partition("\\E")
            groups[-1] += [_Item() for _ in literal]
            position += 2 + len(literal) + (2 if rest[2 + len(literal) :] else 0)
        else:
            groups[-1].append(_Item())
            position += _character(rest)
    if len(groups) > 1:
        raise _PatternError("has a '(' without its ')'")


def _open_group(rest: str, groups: list[list[_Item]], earlier: list[list[_Item]], names: set[str]) -> int:
    """Open a group, or set flags; return the length of what opens it."""
    length = 1
    if rest.startswith("(?"):
        named, flags = _NAMED_GROUP.match(rest), _FLAGS.match(rest)
        assertion = next((text for text in _ASSERTIONS if rest.startswith(text)), None)
        if assertion:
            raise _PatternError(f"has the assertion {assertion!r}, which Go does not know")
        if named:
            name = named[1]
            if not re.fullmatch(r"\w+", name, re.ASCII):
                raise _PatternError("has a group whose name is not letters, digits and '_'")
            if name in names:
                raise _PatternError("has two groups of the same name")
            names.add(name)
            length = named.end()
        elif flags:
            if flags[3] == ")":
                return flags.end()
            length = flags.end()
        else:
            raise _PatternError(f"has an unknown group {rest[:3]!r}")
    groups.append([])
    earlier.append([])
    if len(groups) > _DEEPEST:
        raise _PatternError(f"has more than {_DEEPEST} groups within each other")
    return length


def _repetition(rest: str) -> str:
    """Return the repetition at the start, with the ``?`` behind it that makes it lazy."""
    count = _COUNT.match(rest)
    length = count.end() if count else 1
    if count:
        least, most = int(count[1]), int(count[3] or count[1])
        if least > _MOST or most > _MOST or most < least:
            raise _PatternError(f"repeats by {count[0]}, where numbers are ascending and at most {_MOST}")
    return rest[: length + 1] if rest[length : length + 1] == "?" else rest[:length]


def _repeat(items: list[_Item], repetition: str) -> None:
    count = _COUNT.match(repetition)
    item = _Item(parts=[items.pop()])
    if count:
        item.count = int(count[3] or count[1])
        if item.count > 1 and not _fits(item, _MOST):
            raise _PatternError(f"repeats more than {_MOST} times, by repetitions within each other")
    items.append(item)


def _fits(item: _Item, most: int) -> bool:
    """Return whether the counts within each other are at most this in product."""
    pending = [(item, most)]
    while pending:
        part, left = pending.pop()
        if part.count == 0:
            continue
        if part.count > left:
            return False
        pending += [(inner, left // part.count) for inner in part.parts]
    return True


def _character(rest: str) -> int:
    """Return the length of a character, class or assertion at the start."""
    if rest[0] == "[":
        return _class(rest)
    if rest[0] == "\\":
        if rest[1:2] and rest[1] in "AbBz":
            return 2
        return _escaped(rest)[0]
    return 1


def _escaped(rest: str) -> tuple[int, int | None]:
    """Return the length of an escape at the start, and its code point; None for that of a class of characters."""
    if len(rest) == 1:
        raise _PatternError("ends in a backslash")
    letter = rest[1]
    if letter in "dDsSwW":
        return 2, None
    if letter in "pP":
        return _unicode_class(rest), None
    return _code_point(rest)


def _code_point(rest: str) -> tuple[int, int]:
    """Return the length of an escape for one character, and its code point."""
    letter = rest[1:2]
    simple = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
    if letter in simple:
        return 2, simple[letter]
    if letter.isascii() and letter and not letter.isalnum():
        return 2, ord(letter)
    octal, hexadecimal = _OCTAL.match(rest), _HEX.match(rest)
    if octal:
        return octal.end(), int(octal[0][1:], 8)
    if hexadecimal:
        code = int(hexadecimal[1] or hexadecimal[2], 16)
        if code <= 0x10FFFF:
            return hexadecimal.end(), code
    if letter in ("1", "2", "3", "4", "5", "6", "7", "8", "9"):
        raise _PatternError(f"refers to an earlier group by \\{letter}, which Go does not know")
    raise _PatternError(f"has the unknown escape {rest[:2]!r}")


def _unicode_class(rest: str) -> int:
    found = _UNICODE.match(rest)
    if not found:
        raise _PatternError(f"has a class {rest[:2]} without a name")
    # Since Go 1.25 the case of names does not matter, and more of them are known, so those of scripts are left out.
    is_known = found[2].upper() in _CATEGORIES if found[2] else bool(re.search("[A-Za-z]", found[1]))
    if not is_known:
        raise _PatternError(f"has an unknown class {rest[:2]}")
    return found.end()


def _class(rest: str) -> int:
    """Return the length of a class in brackets."""
    position = 2 if rest.startswith("[^") else 1
    is_first = True
    while position >= len(rest) or rest[position] != "]" or is_first:
        if position >= len(rest):
            raise _PatternError("has a '[' without its ']'")
        is_first = False
        inner = rest[position:]
        named = _NAMED_CLASS.match(inner)
        if named:
            if named[1].removeprefix("^") not in _CLASSES:
                raise _PatternError("has an unknown class between '[:' and ':]'")
            position += named.end()
            continue
        if inner[0] == "\\" and inner[1:2] and inner[1] in "dDsSwWpP":
            position += _escaped(inner)[0]
            continue
        position += _range(inner)
    return position + 1


def _range(inner: str) -> int:
    """Return the length of a character in a class, or of a range of characters."""
    ends = []
    position = 0
    for length, code in _ends(inner):
        position += length
        ends.append(code)
    if ends[-1] < ends[0]:
        raise _PatternError("has a range whose last character is before its first one")
    return position


def _ends(inner: str) -> Iterator[tuple[int, int]]:
    """Yield the length and code point of the first character of a range, then those of its last one with its dash."""
    length, code = _code_point(inner) if inner[0] == "\\" else (1, ord(inner[0]))
    yield length, code
    after = inner[length:]
    if len(after) >= 2 and after[0] == "-" and after[1] != "]":
        last = after[1:]
        length, code = _code_point(last) if last[0] == "\\" else (1, ord(last[0]))
        yield length + 1, code
