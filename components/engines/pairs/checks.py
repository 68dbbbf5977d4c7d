"""Checks what one command line says of handing over the cache: connector and role, by the engine's version."""

from collections.abc import Iterator
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Severity, did_you_mean
from ..command_line import CommandLine
from ..versions import ANY, engine_title, format_version
from .reading import Transfer, transfer_json_uses, transfer_of
from .rows import Connector, transfer_table


class TransferFault(NamedTuple):
    """Something wrong with what is said, at one of the arguments."""

    position: int
    severity: Severity
    reason: str


def handover_rule(severity: Severity) -> RuleId:
    """Return the rule of what is wrong with handing over the cache: whether it fails, or may fail."""
    return RuleId.HANDOVER_BROKEN if severity is Severity.ERROR else RuleId.HANDOVER_DOUBTFUL


def transfer_faults(line: CommandLine) -> Iterator[TransferFault]:
    """Yield what is wrong with the JSON of a line that the engine reads."""
    table = transfer_table(line.engine)
    if table is None or not table.json or line.reading is None:
        return
    uses = [use for use, _ in transfer_json_uses(line)]
    transfer = transfer_of(line) if uses else None
    if transfer and not transfer.is_open:
        position = uses[-1].last
        for severity, reason in document_faults(transfer, engine_title(line.engine, line.tag)):
            yield TransferFault(position, severity, reason)


def document_faults(transfer: Transfer, title: str) -> Iterator[tuple[Severity, str]]:
    """Yield what is wrong with JSON by itself; ``title`` is what messages call the engine."""
    keys, roles = transfer.table.json, transfer.table.roles
    if not keys:
        return
    if not transfer.connector and not transfer.parts:
        yield Severity.ERROR, f"no {keys['connector']} is named; add one, such as {transfer.table.default}"
        return
    if transfer.role is None:
        hint = did_you_mean(transfer.word, roles) if transfer.word else ""
        found = f"found {transfer.word!r}{hint}" if transfer.word else "and none is set"
        yield Severity.ERROR, f"{keys['role']} must be one of {', '.join(roles)}, {found}"
    for part in (transfer, *transfer.parts):
        fault = None if part.is_plugin else _connector(part, title)
        if fault:
            yield fault


def _connector(transfer: Transfer, title: str) -> tuple[Severity, str] | None:
    """Find a connector that a version does not have."""
    known, version, name = transfer.known, transfer.version, transfer.connector
    if not name:
        return None
    if known is None:
        hint = did_you_mean(name, transfer.table.names_in(version)) or "; check its spelling"
        return Severity.WARNING, f"{name} is not a known connector of {title}{hint}"
    if known.plugin and version != ANY:
        reason = f"{name} comes with the plugin {known.plugin}, which {title} does not have"
        return Severity.ERROR, f"{reason}; use {transfer.table.default}, or an image with the plugin"
    if not known.span.includes(version):
        return Severity.ERROR, f"{title} does not have {name}{_remedy(known, transfer)}"
    return None


def _remedy(known: Connector, transfer: Transfer) -> str:
    if known.instead and known.instead in transfer.table.names_in(transfer.version):
        return f"; use {known.instead}"
    if known.span.is_after(transfer.version):
        return f" any more; use {transfer.table.default}"
    since = known.span.since
    return f" yet{f' (available in {format_version(since)})' if since else ''}; use a newer image"
