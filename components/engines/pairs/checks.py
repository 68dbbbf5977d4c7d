"""Checks the cache transfer settings of one command line: connector and role, by engine version."""

from collections.abc import Iterator
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Severity, did_you_mean
from ..command_line import CommandLine
from ..settings import Setting
from ..versions import ANY, engine_title, format_version
from .reading import Transfer, transfer_of
from .rows import transfer_table


class TransferFault(NamedTuple):
    """A problem with the transfer settings, at one of the arguments."""

    position: int
    severity: Severity
    reason: str


def handover_rule(severity: Severity) -> RuleId:
    """Return the rule for a transfer that fails (error) or may fail (warning)."""
    return RuleId.HANDOVER_BROKEN if severity is Severity.ERROR else RuleId.HANDOVER_DOUBTFUL


def transfer_faults(line: CommandLine) -> Iterator[TransferFault]:
    """Yield the problems of the transfer JSON in a command line that the engine parses itself."""
    table = transfer_table(line.engine)
    if table is None or not table.json or line.reading is None:
        return
    uses = [use for use, _ in line.json_uses(Setting.TRANSFER)]
    transfer = transfer_of(line) if uses else None
    if transfer and not transfer.is_open:
        position = uses[-1].last
        for severity, reason in document_faults(transfer, engine_title(line.engine, line.tag)):
            yield TransferFault(position, severity, reason)


def document_faults(transfer: Transfer, title: str) -> Iterator[tuple[Severity, str]]:
    """Yield the problems of one transfer JSON by itself; ``title`` names the engine in messages."""
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
    """Return the problem of a connector that the version does not have, or None."""
    known, version, name = transfer.known, transfer.version, transfer.connector
    if not name:
        return None
    if known is None:
        hint = did_you_mean(name, transfer.table.names_in(version)) or "; check its spelling"
        return Severity.WARNING, f"{name} is not a known connector of {title}{hint}"
    if known.plugin and version != ANY:
        reason = f"{name} comes with the plugin {known.plugin}, which {title} does not have"
        return Severity.ERROR, f"{reason}; use {transfer.table.default}, or an image with the plugin"
    if known.span.includes(version):
        return None
    if known.instead and known.instead in transfer.table.names_in(version):
        remedy = f"; use {known.instead}"
    elif known.span.is_after(version):
        remedy = f" any more; use {transfer.table.default}"
    else:
        since = known.span.since
        remedy = f" yet{f' (available in {format_version(since)})' if since else ''}; use a newer image"
    return Severity.ERROR, f"{title} does not have {name}{remedy}"
