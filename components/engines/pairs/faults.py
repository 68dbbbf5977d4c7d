"""Checks whether prefill and decode servers can transfer the KV cache to each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...contract.problems import Severity
from ..command_line import CommandLine
from ..scripts.commands import engine_line
from ..settings import Setting
from ..versions import ANY, engine_title
from .checks import document_faults
from .fabric import fabric_faults
from .reading import Transfer, transfer_of
from .rows import Connector, Stage, transfer_table

_NOWHERE = ("0.0.0.0", "::", "localhost", "127.0.0.1", "::1")  # noqa: S104  addresses that other pods cannot reach
_OTHER = {Stage.PREFILL: Stage.DECODE, Stage.DECODE: Stage.PREFILL}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair.

    Attributes:
        line: The command line of its container.
        efa: Whether its nodes have EFA, Amazon's RDMA; None if unknown.
        variables: The variables of the container; empty for values from ``valueFrom``.
        is_whole: Whether these are all of its variables.
    """

    line: CommandLine
    efa: bool | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class PairFault:
    """A problem of a pair.

    Attributes:
        role: The side to change.
        severity: ``error`` if the transfer fails, else ``warning``.
        reason: The problem and the remedy.
    """

    role: Stage
    severity: Severity
    reason: str


def pair_faults(prefill: Side, decode: Side) -> Iterator[PairFault]:
    """Yield why prefill cannot transfer its cache to decode, or may fail to.

    Engines without a transfer table are not checked, and problems that the lint of the arguments reports are omitted.
    """
    if prefill.line.engine != decode.line.engine:
        yield _strangers(prefill, decode)
        return
    if transfer_table(prefill.line.engine) is None:
        return
    first, second = transfer_of(prefill.line), transfer_of(decode.line)
    yield from _side(Stage.PREFILL, prefill, first, second)
    yield from _side(Stage.DECODE, decode, second, first)
    if first and second and not (first.is_open or second.is_open):
        yield from _both(prefill, first, decode, second)


def _strangers(prefill: Side, decode: Side) -> PairFault:
    """Return the problem of two different engines; a warning if one is unknown, because any image may contain it."""
    both = bool(prefill.line.engine and decode.line.engine)
    reason = (
        f"decode runs {decode.line.engine or 'an unknown engine'} and prefill "
        f"{prefill.line.engine or 'an unknown engine'}, and engines do not understand each other's cache; use the "
        "same engine for both"
    )
    return PairFault(Stage.DECODE, Severity.ERROR if both else Severity.WARNING, reason)


def _side(role: Stage, side: Side, transfer: Transfer | None, other: Transfer | None) -> Iterator[PairFault]:
    if transfer is None:
        # If the other side is invalid, its settings could not be copied here; only that problem is reported then.
        if not (other and any(document_faults(other, ""))):
            yield from _silent(role, side)
    elif not transfer.is_open:
        if side.line.reading is None:  # otherwise the lint of the arguments reports them
            for severity, reason in document_faults(transfer, engine_title(side.line.engine, side.line.tag)):
                yield PairFault(role, severity, reason)
        yield from _role(role, side, transfer)
        for part in transfer.carriers:
            yield from _carrier(role, side, part)
        if not transfer.carriers:
            reason = f"{role} uses {transfer.connector}, which keeps the cache of its own pod; use {_default(side)}"
            yield PairFault(role, Severity.ERROR, reason)
        for severity, reason in fabric_faults(role, transfer, side.variables, efa=side.efa):
            yield PairFault(role, severity, reason)


def _silent(role: Stage, side: Side) -> Iterator[PairFault]:
    flag = _flag(side)
    if engine_line(side.line):
        reason = f"{role} is not told how to hand over the cache; add {flag}"
        yield PairFault(role, Severity.ERROR, reason)
        return
    reason = f"{role} runs a program that is not known to start {side.line.engine}; make sure that it sets {flag}"
    yield PairFault(role, Severity.WARNING, reason)


def _role(role: Stage, side: Side, transfer: Transfer) -> Iterator[PairFault]:
    """Find a missing role, or the role of the other side."""
    table, found = transfer.table, transfer.role
    key, word = table.json.get("role") or _flag(side), table.word(role)
    if found is role:
        return
    known = transfer.carriers[0].known if transfer.carriers else None
    undirected = known is not None and known.undirected is not None and known.undirected.includes(transfer.version)
    if found is Stage.BOTH:
        both = known.both if known else None
        if both and not both.includes(transfer.version):
            reason = f"{transfer.connector} cannot be {transfer.word} at once; set {key} of {role} to {word}"
            yield PairFault(role, Severity.ERROR, reason)
        elif both and both.is_deprecated(transfer.version):
            reason = f"{key} {transfer.word} is deprecated with {transfer.connector}; set it to {word} for {role}"
            yield PairFault(role, Severity.WARNING, reason)
    elif found is _OTHER[role]:
        severity = Severity.WARNING if undirected else Severity.ERROR
        reason = f"{role} has {key} {transfer.word}, the one of {_OTHER[role]}; set it to {word}"
        yield PairFault(role, severity, reason)
    elif not table.json:
        given = f"found {transfer.word!r}" if transfer.word else "and has none"
        yield PairFault(role, Severity.ERROR, f"{role} needs {key} {word}, {given}; set it")


def _carrier(role: Stage, side: Side, part: Transfer) -> Iterator[PairFault]:
    """Find what a connector lacks in the version, image, or configuration; the lint reports unknown connectors."""
    known, title = part.known, engine_title(side.line.engine, side.line.tag)
    if known is None:
        return
    if _lacks_library(known, part, side.line.tag):
        reason = (
            f"{known.name} needs {known.library}, which the image of {title} does not have; use a newer one, or one "
            "that has it"
        )
        yield PairFault(role, Severity.WARNING, reason)
    for name in (variable.name for _, variable in known.variables if variable.field and role is Stage.PREFILL):
        yield from _address(name, side)
    settles = known.caution_unless
    if known.caution and not (settles and any(name.startswith(settles) for name in side.variables)):
        yield PairFault(role, Severity.WARNING, f"{known.name} {known.caution}; check it for {role}")


def _address(name: str, side: Side) -> Iterator[PairFault]:
    """Find an address at which decode cannot reach prefill."""
    address = side.variables.get(name)
    if address in _NOWHERE:
        found = f"is {address}, where decode does not find prefill"
    elif address is None and side.is_whole:
        found = "is not set, so prefill tells decode that it is at localhost"
    else:
        return
    reason = f"variable {name} {found}; set it to the address of the pod (valueFrom fieldRef status.podIP)"
    yield PairFault(Stage.PREFILL, Severity.ERROR, reason)


def _lacks_library(known: Connector, part: Transfer, tag: str) -> bool:
    """Return whether the official image lacks the library of a connector; custom images may name it in their tag."""
    if known.shipped is None or part.version == ANY or known.library in tag:
        return False
    return known.span.includes(part.version) and not known.shipped.includes(part.version)


def _both(prefill: Side, first: Transfer, decode: Side, second: Transfer) -> Iterator[PairFault]:
    """Find settings that do not match between the two sides."""
    gives, takes = (
        tuple(part.connector or transfer.table.implied for part in transfer.carriers) for transfer in (first, second)
    )
    if gives and takes and set(gives).isdisjoint(takes):
        reason = (
            f"decode takes the cache by {', '.join(takes)} and prefill gives it by {', '.join(gives)}; use the same"
        )
        yield PairFault(Stage.DECODE, Severity.ERROR, reason)
        return
    yield from _sizes(prefill, first, decode)
    yield from _shared(first, second)
    yield from _versions(prefill, first, decode, second)


def _sizes(prefill: Side, first: Transfer, decode: Side) -> Iterator[PairFault]:
    gives, takes = (_size(engine_line(side.line) or side.line, Setting.TENSOR_PARALLEL) for side in (prefill, decode))
    if not gives or not takes:
        return
    for part in first.carriers:
        rules = (
            [rule for span, rule in part.known.tensor_parallel if span.includes(first.version)] if part.known else []
        )
        if rules and not any(_fits(rule, gives, takes) for rule in rules):
            name = part.connector or first.table.implied
            reason = (
                f"decode has tensor parallel size {takes} and prefill {gives}; in this version {name} needs "
                f"{_RULES[rules[-1]]}"
            )
            yield PairFault(Stage.DECODE, Severity.ERROR, reason)


_RULES = {
    "equal": "the same size on both sides",
    "multiple": "one of them to be a multiple of the other",
    "decode_multiple": "that of decode to be a multiple of that of prefill",
}


def _fits(rule: str, gives: int, takes: int) -> bool:
    if rule == "equal":
        return gives == takes
    return takes % gives == 0 or (rule == "multiple" and gives % takes == 0)


def _size(line: CommandLine, setting: Setting) -> int:
    """Return a parallel size: 1 if it is not set, 0 if it is filled in later."""
    return line.number_of(setting) or (0 if line.holds(setting) else 1)


def _shared(first: Transfer, second: Transfer) -> Iterator[PairFault]:
    """Find settings that must be equal on both sides but differ."""
    for part in first.carriers:
        other = next((each for each in second.carriers if each.connector == part.connector), None)
        for key in part.known.shared if part.known and other else ():
            if other and part.config.get(key) != other.config.get(key):
                reason = f"{key} of {part.connector} differs between prefill and decode; set it alike"
                yield PairFault(Stage.DECODE, Severity.ERROR, reason)


def _versions(prefill: Side, first: Transfer, decode: Side, second: Transfer) -> Iterator[PairFault]:
    if first.version == second.version and prefill.line.tag == decode.line.tag:
        return
    if not any(part.known and _is_strict(part.known, part, first, second) for part in second.carriers):
        return
    known = first.version and second.version and first.version != second.version
    versions = [engine_title("", side.line.tag).strip() for side in (prefill, decode)]
    tags = f"prefill runs {versions[0]} and decode {versions[1]}"
    reason = f"{first.connector} hands over to the same version only, and {tags}; use the same image for both"
    yield PairFault(Stage.DECODE, Severity.ERROR if known else Severity.WARNING, reason)


def _is_strict(known: Connector, part: Transfer, *sides: Transfer) -> bool:
    """Return whether a connector accepts only caches of its own version, unless that check is turned off."""
    span, unless = known.same_version, known.same_version_unless
    strict = span is not None and any(span.includes(side.version) for side in sides)
    return strict and not (unless and part.config.get(unless) is False)


def _flag(side: Side) -> str:
    transfers = transfer_table(side.line.engine)
    setting = Setting.TRANSFER if transfers and transfers.json else Setting.TRANSFER_ROLE
    return (transfers.engine.flag(setting) if transfers else None) or setting


def _default(side: Side) -> str:
    transfers = transfer_table(side.line.engine)
    return transfers.default if transfers else ""
