"""Finds out whether a connector and the network of its nodes fit: RDMA, and EFA, which is Amazon's."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...contract.problems import Severity
from ..versions import Version
from .reading import Transfer
from .rows import EfaChoice, Rdma, Stage, TransportRow

Fault = tuple[Severity, str]


def fabric_faults(
    role: Stage, transfer: Transfer, variables: Mapping[str, str], *, efa: bool | None
) -> Iterator[Fault]:
    """Yield why a side cannot hand over its cache by the network of its nodes, or hardly.

    Args:
        role: Which side it is.
        transfer: By what it hands over.
        variables: The variables of its container.
        efa: Whether its nodes have EFA; None where that is not known.
    """
    (need, by), name = transfer.rdma(variables), transfer.connector or transfer.table.implied
    if need is Rdma.NONE or efa is None:
        return
    if efa:
        yield from _of_another_kind(role, variables, transfer)
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


def _of_another_kind(role: Stage, variables: Mapping[str, str], transfer: Transfer) -> Iterator[Fault]:
    """Find what does not reach EFA by what it is set to, so that it fails, or goes over TCP."""
    for part in transfer.carriers:
        choice = part.known.efa if part.known else None
        if choice is None or transfer.rdma(variables)[0] is Rdma.NONE:
            continue
        given = part.config.get(choice.key) if choice.key else variables.get(choice.variable)
        values = given if isinstance(given, list) else [given] if given else []
        if choice.value not in values:
            name, place = part.connector or part.table.implied, choice.key or choice.variable
            yield Severity.WARNING, f"{name} {_reaches(choice, place, part.version, _joined(values), role)}"


def _reaches(choice: EfaChoice, place: str, version: Version | None, given: str, role: Stage) -> str:
    if not choice.span.includes(version):
        return f"does not reach EFA in this version; for {role} use a newer image, with {place} {choice.value}"
    built = " and a build of its library for that" if choice.built else ""
    return f"reaches EFA only with {place} {choice.value}{built}, and {role} has {given}; set it on both sides"


def _joined(values: list[Any]) -> str:
    return ", ".join(map(str, values)) or "none"


def _without_rdma(transfer: Transfer, by: TransportRow | None) -> str:
    """Say how to do without RDMA: by a setting of the connector, or by another one."""
    if by:
        words = [word for word, need in by.values.items() if need is Rdma.REQUIRED]
        return f"take {', '.join(words)} out of {by.key or by.variable} on both sides"
    for each in (each for part in transfer.carriers if part.known for each in part.known.transports):
        word = next((word for word, need in each.values.items() if need is Rdma.NONE), None)
        if each.key and word:
            return f"set {each.key} to {word} on both sides"
    return f"use {transfer.table.default} on both sides"
