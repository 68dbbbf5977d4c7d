"""Checks whether a connector fits the network of its nodes: RDMA, and Amazon's EFA."""

from collections.abc import Iterator, Mapping

from ...contract.problems import Severity
from .reading import Transfer
from .rows import Rdma, Stage, TransportRow

Fault = tuple[Severity, str]


def fabric_faults(
    role: Stage, transfer: Transfer, variables: Mapping[str, str], *, efa: bool | None
) -> Iterator[Fault]:
    """Yield why a side cannot transfer its cache over the network of its nodes, or only slowly.

    Args:
        role: The side.
        transfer: Its transfer settings.
        variables: The variables of its container.
        efa: Whether its nodes have EFA; None if unknown.
    """
    (need, by), name = transfer.rdma(variables), transfer.connector or transfer.table.implied
    if need is Rdma.NONE or efa is None:
        return
    if efa:
        yield from _efa_unused(role, variables, transfer)
    elif need is Rdma.REQUIRED:
        yield (
            Severity.ERROR,
            f"{name} is set up for RDMA, and the nodes of {role} have no EFA; use an instance type with EFA, or "
            f"{_without_rdma(transfer, by)}",
        )
    else:
        yield (
            Severity.WARNING,
            f"the nodes of {role} have no EFA, so {name} moves the cache over TCP: long prompts wait for it; use an "
            "instance type with EFA where that matters",
        )


def _efa_unused(role: Stage, variables: Mapping[str, str], transfer: Transfer) -> Iterator[Fault]:
    """Find connectors whose settings do not use EFA, so that the transfer fails or falls back to TCP."""
    for part in transfer.carriers:
        choice = part.known.efa if part.known else None
        if choice is None or transfer.rdma(variables)[0] is Rdma.NONE:
            continue
        given = part.config.get(choice.key) if choice.key else variables.get(choice.variable)
        values = given if isinstance(given, list) else [given] if given else []
        if choice.value not in values:
            name, place = part.connector or part.table.implied, choice.key or choice.variable
            if choice.span.includes(part.version):
                built = " and a build of its library for that" if choice.built else ""
                found = ", ".join(map(str, values)) or "none"
                reason = (
                    f"{name} reaches EFA only with {place} {choice.value}{built}, and {role} has {found}; set it on "
                    "both sides"
                )
            else:
                reason = (
                    f"{name} does not reach EFA in this version; for {role} use a newer image, with {place} "
                    f"{choice.value}"
                )
            yield Severity.WARNING, reason


def _without_rdma(transfer: Transfer, by: TransportRow | None) -> str:
    """Return the remedy that avoids RDMA: a setting of the connector, or another connector."""
    if by:
        words = [word for word, need in by.values.items() if need is Rdma.REQUIRED]
        return f"take {', '.join(words)} out of {by.key or by.variable} on both sides"
    for each in (each for part in transfer.carriers if part.known for each in part.known.transports):
        word = next((word for word, need in each.values.items() if need is Rdma.NONE), None)
        if each.key and word:
            return f"set {each.key} to {word} on both sides"
    return f"use {transfer.table.default} on both sides"
