"""Checks whether prefill and decode servers can transfer the KV cache to each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...contract.problems import Severity
from ..command_line import CommandLine
from ..scripts.commands import engine_line
from ..settings import Setting
from ..versions import ANY, engine_title
from .checks import document_faults
from .reading import Transfer, transfer_of
from .rows import Rdma, Stage, TransportRow, transfer_table

_UNREACHABLE = ("0.0.0.0", "::", "localhost", "127.0.0.1", "::1")  # noqa: S104  addresses that other pods cannot reach
_OTHER = {Stage.PREFILL: Stage.DECODE, Stage.DECODE: Stage.PREFILL}
_SIZE_RULES = {
    "equal": "the same size on both sides",
    "multiple": "one of them to be a multiple of the other",
    "decode_multiple": "that of decode to be a multiple of that of prefill",
}


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
    engine, other_engine = prefill.line.engine, decode.line.engine
    if engine != other_engine:
        # Any image may contain the same engine, so a pair with an unknown one may work.
        severity = Severity.ERROR if engine and other_engine else Severity.WARNING
        reason = (
            f"decode runs {other_engine or 'an unknown engine'} and prefill {engine or 'an unknown engine'}, and the "
            "KV caches of different engines are incompatible; use the same engine for both"
        )
        yield PairFault(Stage.DECODE, severity, reason)
        return
    if transfer_table(engine) is None:
        return
    first, second = transfer_of(prefill.line), transfer_of(decode.line)
    yield from _side_faults(Stage.PREFILL, prefill, first, second)
    yield from _side_faults(Stage.DECODE, decode, second, first)
    if first and second and not (first.is_open or second.is_open):
        yield from _mismatches(prefill, first, decode, second)


def _side_faults(role: Stage, side: Side, transfer: Transfer | None, other: Transfer | None) -> Iterator[PairFault]:
    table, title = transfer_table(side.line.engine), engine_title(side.line.engine, side.line.tag)
    if transfer is None:
        # If the other side is invalid, its settings could not be copied to this one; only that problem is reported.
        if table is None or (other and any(document_faults(other, ""))):
            return
        setting = Setting.TRANSFER if table.json else Setting.TRANSFER_ROLE
        flag = table.engine.flag(setting) or setting
        if engine_line(side.line):
            yield PairFault(role, Severity.ERROR, f"{role} has no KV cache transfer settings; add {flag}")
        else:
            reason = (
                f"{role} runs a program that is not known to start {side.line.engine}; make sure that it sets {flag}"
            )
            yield PairFault(role, Severity.WARNING, reason)
        return
    if transfer.is_open:
        return
    if side.line.reading is None:  # otherwise the lint of the arguments reports them
        for severity, reason in document_faults(transfer, title):
            yield PairFault(role, severity, reason)
    yield from _role_faults(role, transfer)
    for carrier in transfer.carriers:
        yield from _connector_faults(role, side, carrier, title)
    if not transfer.carriers:
        default = transfer.table.default
        reason = f"{role} uses {transfer.connector}, which keeps the cache of its own pod; use {default}"
        yield PairFault(role, Severity.ERROR, reason)
    if side.efa is not None:
        yield from _network_faults(role, transfer, side.variables, efa=side.efa)


def _role_faults(role: Stage, transfer: Transfer) -> Iterator[PairFault]:
    """Yield the problem of a side without its role, or with another one."""
    table, actual = transfer.table, transfer.role
    if actual is role:
        return
    key, word = table.json.get("role") or table.engine.flag(Setting.TRANSFER_ROLE), table.word(role)
    connector = transfer.carriers[0].known if transfer.carriers else None
    if actual is Stage.BOTH:
        both = connector.both if connector else None
        if both and not both.includes(transfer.version):
            reason = f"{transfer.connector} does not support {key} {transfer.word}; set {key} of {role} to {word}"
            yield PairFault(role, Severity.ERROR, reason)
        elif both and both.is_deprecated(transfer.version):
            reason = f"{key} {transfer.word} is deprecated with {transfer.connector}; set it to {word} for {role}"
            yield PairFault(role, Severity.WARNING, reason)
    elif actual is _OTHER[role]:
        span = connector.undirected if connector else None
        ignores_roles = span is not None and span.includes(transfer.version)
        reason = f"{role} has {key} {transfer.word}, the role of {_OTHER[role]}; set it to {word}"
        yield PairFault(role, Severity.WARNING if ignores_roles else Severity.ERROR, reason)
    elif not table.json:  # document_faults reports a JSON document without a valid role
        actual_text = f"found {transfer.word!r}" if transfer.word else "and has none"
        yield PairFault(role, Severity.ERROR, f"{role} needs {key} {word}, {actual_text}; set it")


def _connector_faults(role: Stage, side: Side, carrier: Transfer, title: str) -> Iterator[PairFault]:
    """Yield what a known connector lacks in the version, image, or configuration; unknown ones are linted."""
    connector, version = carrier.known, carrier.version
    if connector is None:
        return
    shipped = connector.shipped
    lacks_library = shipped and connector.span.includes(version) and not shipped.includes(version)
    # Custom images may name the library in their tag.
    if lacks_library and version != ANY and connector.library not in side.line.tag:
        reason = (
            f"{connector.name} needs {connector.library}, which the image of {title} does not have; use a newer one, "
            "or one that has it"
        )
        yield PairFault(role, Severity.WARNING, reason)

    # Prefill sends the variable to decode as the address to fetch the cache from; vLLM's default is localhost
    # (vllm/envs.py).
    for name in (variable.name for _, variable in connector.variables if variable.field and role is Stage.PREFILL):
        address = side.variables.get(name)
        if address in _UNREACHABLE:
            problem = f"is {address}, which decode cannot reach"
        elif address is None and side.is_whole:
            problem = "is not set, so decode looks for prefill at localhost"
        else:
            continue
        reason = f"variable {name} {problem}; set it to the address of the pod (valueFrom fieldRef status.podIP)"
        yield PairFault(role, Severity.ERROR, reason)

    prefix = connector.caution_unless
    if connector.caution and not (prefix and any(name.startswith(prefix) for name in side.variables)):
        yield PairFault(role, Severity.WARNING, f"{connector.name} {connector.caution}; check it for {role}")


def _network_faults(
    role: Stage, transfer: Transfer, variables: Mapping[str, str], *, efa: bool
) -> Iterator[PairFault]:
    """Yield why the nodes' network, with or without EFA, does not fit the connectors."""
    need, row = transfer.rdma(variables)
    if need is Rdma.NONE:
        return
    name = transfer.connector or transfer.table.implied
    if not efa:
        if need is Rdma.REQUIRED:
            reason = (
                f"{name} is set up for RDMA, and the nodes of {role} have no EFA; use an instance type with EFA, or "
                f"{_without_rdma(transfer, row)}"
            )
            yield PairFault(role, Severity.ERROR, reason)
        else:
            reason = (
                f"the nodes of {role} have no EFA, so {name} moves the cache over TCP: long prompts wait for it; use "
                "an instance type with EFA where that matters"
            )
            yield PairFault(role, Severity.WARNING, reason)
        return

    # The nodes have EFA. A connector that does not use it fails or falls back to TCP.
    for carrier in transfer.carriers:
        choice = carrier.known.efa if carrier.known else None
        if choice is None:
            continue
        given = carrier.config.get(choice.key) if choice.key else variables.get(choice.variable)
        values = given if isinstance(given, list) else [given] if given else []
        if choice.value in values:
            continue
        name, setting = carrier.connector or carrier.table.implied, choice.key or choice.variable
        if choice.span.includes(carrier.version):
            build = " and a build of its library for that" if choice.built else ""
            actual = ", ".join(map(str, values)) or "none"
            reason = (
                f"{name} reaches EFA only with {setting} {choice.value}{build}, and {role} has {actual}; set it on "
                "both sides"
            )
        else:
            reason = (
                f"{name} does not reach EFA in this version; for {role} use a newer image, with {setting} "
                f"{choice.value}"
            )
        yield PairFault(role, Severity.WARNING, reason)


def _without_rdma(transfer: Transfer, row: TransportRow | None) -> str:
    """Return the remedy that avoids RDMA: a setting of the connector, or another connector."""
    if row:
        words = [word for word, need in row.values.items() if need is Rdma.REQUIRED]
        return f"remove {', '.join(words)} from {row.key or row.variable} on both sides"
    for carrier in transfer.carriers:
        for transport in carrier.known.transports if carrier.known else ():
            word = next((word for word, need in transport.values.items() if need is Rdma.NONE), None)
            if transport.key and word:
                return f"set {transport.key} to {word} on both sides"
    return f"use {transfer.table.default} on both sides"


def _mismatches(prefill: Side, first: Transfer, decode: Side, second: Transfer) -> Iterator[PairFault]:
    """Yield the settings that do not match between the two sides."""
    sending, receiving = (
        tuple(carrier.connector or transfer.table.implied for carrier in transfer.carriers)
        for transfer in (first, second)
    )
    if sending and receiving and set(sending).isdisjoint(receiving):
        reason = (
            f"decode receives the cache with {', '.join(receiving)} and prefill sends it with {', '.join(sending)}; "
            "use the same connector"
        )
        yield PairFault(Stage.DECODE, Severity.ERROR, reason)
        return

    sizes = _tensor_parallel_size(prefill.line), _tensor_parallel_size(decode.line)
    fits: dict[str, bool] = {}
    if all(sizes):
        decode_is_multiple = sizes[1] % sizes[0] == 0
        fits["equal"] = sizes[0] == sizes[1]
        fits["decode_multiple"] = decode_is_multiple
        fits["multiple"] = decode_is_multiple or sizes[0] % sizes[1] == 0
    for carrier in first.carriers if fits else ():
        rows = carrier.known.tensor_parallel if carrier.known else ()
        # The bounds of two rows may both leave a version open; it is enough that one of them fits.
        rules = [rule for span, rule in rows if span.includes(first.version)]
        if rules and not any(fits[rule] for rule in rules):
            reason = (
                f"decode has tensor parallel size {sizes[1]} and prefill {sizes[0]}; in this version "
                f"{carrier.connector or first.table.implied} needs {_SIZE_RULES[rules[-1]]}"
            )
            yield PairFault(Stage.DECODE, Severity.ERROR, reason)

    for carrier in first.carriers:
        other = next((other for other in second.carriers if other.connector == carrier.connector), None)
        for key in carrier.known.shared if carrier.known and other else ():
            if other and carrier.config.get(key) != other.config.get(key):
                reason = f"{key} of {carrier.connector} differs between prefill and decode; use the same value"
                yield PairFault(Stage.DECODE, Severity.ERROR, reason)

    if first.version == second.version and prefill.line.tag == decode.line.tag:
        return
    if any(_compares_versions(carrier, first, second) for carrier in second.carriers):
        known = first.version and second.version and first.version != second.version
        tags = [engine_title("", side.line.tag).strip() for side in (prefill, decode)]
        reason = (
            f"{first.connector} transfers the cache to the same version only, and prefill runs {tags[0]} and decode "
            f"{tags[1]}; use the same image for both"
        )
        yield PairFault(Stage.DECODE, Severity.ERROR if known else Severity.WARNING, reason)


def _tensor_parallel_size(line: CommandLine) -> int:
    """Return the tensor parallel size: 1 if it is not set, 0 if it is filled in later."""
    line, setting = engine_line(line) or line, Setting.TENSOR_PARALLEL
    return line.number_of(setting) or (0 if line.holds(setting) else 1)


def _compares_versions(carrier: Transfer, *sides: Transfer) -> bool:
    """Return whether a connector accepts only caches of its own version; a setting may turn that check off."""
    span = carrier.known.same_version if carrier.known else None
    if carrier.known is None or span is None or not any(span.includes(side.version) for side in sides):
        return False
    unless = carrier.known.same_version_unless
    return not (unless and carrier.config.get(unless) is False)
