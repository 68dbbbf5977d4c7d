"""Finds arguments that an engine refuses at startup (``startup.yaml``)."""

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from ...contract.problems import nearest
from ..command_line import CommandLine
from ..flags.tables import EngineFlags
from ..flags.values import is_filled_later
from ..formats.rows import is_known
from ..numbers import parse_int
from ..versions import Version, engine_title
from .rows import StartRule, StartTable, start_table

_OFF = "off"
_OFF_WORDS = ("false", _OFF, "0", "no", "disabled")


class StartFault(NamedTuple):
    """An argument that an engine refuses.

    Attributes:
        flag: The flag to change.
        position: Index of its last use among the arguments; negative in the command.
        reason: The problem and the next step.
    """

    flag: str
    position: int
    reason: str


class _Given(NamedTuple):
    """The last use of a flag: its value, which is empty for a switch that is on and ``off`` for one that is off."""

    text: str
    position: int

    @property
    def is_off(self) -> bool:
        return self.text.lower() in _OFF_WORDS

    @property
    def number(self) -> int | None:
        return parse_int(self.text)


def start_faults(line: CommandLine, variables: Container[str] = ()) -> Iterator[StartFault]:
    """Yield the arguments with which an engine does not start, in a line that it parses itself.

    Args:
        line: The command line.
        variables: Names of the environment variables of its container.
    """
    reading, table = line.reading, start_table(line.engine)
    if reading is None or table is None:
        return
    given, is_open = _given(line, reading.table), line.has_unknown_config
    faults: dict[tuple[str, str], StartFault] = {}
    highest: dict[str, int] = {}
    for rule in table.rules:
        name = _name(reading.table, rule.flag)
        use = given.get(name)
        if use is None or use.is_off or not is_known(rule.span, reading.version):
            continue
        if not _applies(rule, reading.table, given, variables):
            continue
        # A file whose content is not known may have what a rule misses.
        if is_open and (rule.needs or rule.unset or rule.default is not None):
            continue
        reason = _broken(rule, use, table=reading.table, given=given, rules=table, version=reading.version)
        if not reason:
            continue
        # The highest of several lower bounds satisfies all of them.
        bound = _bound(rule, given.get(_name(reading.table, str(rule.other)))) or 0
        if rule.relation == "least" and bound <= highest.get(rule.flag, 0):
            continue
        highest[rule.flag] = bound
        cause, _, remedy = reason.rpartition("; ")
        title = engine_title(line.engine, line.tag)
        key = rule.flag, rule.relation if rule.relation == "least" else cause
        reason = f"{title} does not start: {cause}; {rule.remedy or remedy}"
        faults[key] = StartFault(rule.flag, use.position, reason)
    yield from faults.values()


def _given(line: CommandLine, table: EngineFlags) -> Mapping[str, _Given]:
    """Return the last use of each flag by its name."""
    assert line.reading is not None  # noqa: S101  checked by the caller
    given: dict[str, _Given] = {}
    for use in line.reading.uses:
        if use.flag is None or use.dotted:
            continue
        is_off = table.dashed(use.name) in use.flag.negatives
        text = _OFF if is_off else line.first_value(use) or ""
        given[use.flag.name] = _Given(text, use.last)
    return given


def _applies(rule: StartRule, table: EngineFlags, given: Mapping[str, _Given], variables: Container[str]) -> bool:
    """Return whether the conditions of a rule hold; never if a value that they need is filled in later."""

    def find(flag: str) -> _Given | None:
        return given.get(_name(table, flag))

    def number(flag: str) -> int | None:
        use = find(flag)
        return use.number if use else None

    if any(name in variables or find(name) for name in rule.unless):
        return False
    if any((use := find(flag)) is None or use.is_off for flag in rule.enabled):
        return False
    if any((use := find(flag)) is None or not use.is_off for flag in rule.disabled):
        return False
    if any(find(flag) for flag in rule.unset):
        return False
    if any((use := find(flag)) is None or use.text not in values for flag, values in rule.values_of.items()):
        return False
    if any((value := number(flag)) is None or value > most for flag, most in rule.at_most.items()):
        return False
    return not any((value := number(flag)) is None or value <= bound for flag, bound in rule.above.items())


def _broken(
    rule: StartRule,
    use: _Given,
    table: EngineFlags,
    given: Mapping[str, _Given],
    rules: StartTable,
    version: Version | None,
) -> str:
    """Return what breaks a rule, with the next step; empty if nothing does, or if that is not known."""
    if is_filled_later(use.text):
        return ""
    missing = [flag for flag in rule.needs if _is_missing(given.get(_name(table, flag)))]
    if missing:
        return f"{rule.flag} needs {' and '.join(missing)}; remove {rule.flag}, or add {' and '.join(missing)}"
    for flag, values in rule.one_of.items():
        other = given.get(_name(table, flag))
        if other and not is_filled_later(other.text) and other.text not in values:
            return f"{rule.flag} needs {flag} {' or '.join(values)}, found {other.text}; set {flag} to {values[0]}"
    if rule.without:
        other = given.get(_name(table, rule.without))
        if other and not other.is_off:
            return f"{rule.flag} and {rule.without} exclude each other; remove {rule.without}"
        return ""
    if rule.values:
        return _wrong_value(rule, use, rules, version)
    return _wrong_number(rule, use, given.get(_name(table, str(rule.other)))) if rule.relation else ""


def _is_missing(use: _Given | None) -> bool:
    return use is None or use.is_off


def _wrong_value(rule: StartRule, use: _Given, rules: StartTable, version: Version | None) -> str:
    if not version or version > rules.read:
        return ""  # a newer version may have more values
    accepted = [choice.value for choice in rule.values if choice.span.includes(version)]
    if use.text in accepted:
        return ""
    near = nearest(use.text, accepted)
    step = f"set {rule.flag} to {near}" if near else f"use one of {', '.join(accepted)}"
    return f"{rule.flag} {use.text} is not a value that this version has; {step}"


def _wrong_number(rule: StartRule, use: _Given, other: _Given | None) -> str:
    """Compare two numbers; nothing is known if one is missing."""
    number, bound = use.number, _bound(rule, other)
    named = f"{bound}" if isinstance(rule.other, int) else f"{rule.other} ({bound})"
    if number is None or not bound:
        return ""
    match rule.relation:
        case "least":
            is_right, word, value = number >= bound, "at least", bound
        case "most":
            is_right, word, value = number <= bound, "at most", bound
        case "below":
            is_right, word, value = number < bound, "less than", bound - 1
        case "multiple":
            is_right, word = number % bound == 0, "a multiple of"
            value = max(number - number % bound, bound)
        case _:
            is_right, word = number > 0 and bound % number == 0, "a divisor of"
            value = next(divisor for divisor in range(min(max(number, 1), bound), 0, -1) if bound % divisor == 0)
    if is_right:
        return ""
    return f"{rule.flag} must be {word} {named}, found {number}; set {rule.flag} to {value}"


def _bound(rule: StartRule, other: _Given | None) -> int | None:
    """Return the number that a rule compares with; None if it is not known."""
    if isinstance(rule.other, int):
        return rule.other
    return other.number if other else rule.default


def _name(table: EngineFlags, flag: str) -> str:
    """Return the name under which the table has a flag, of which the rules may use another spelling."""
    known = table.find(flag)
    return known.name if known else flag
