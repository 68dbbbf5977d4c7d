"""Ports on loopback."""

import random
import socket

from .errors import UserError

LOOPBACK = "127.0.0.1"
_PORT_RANGE = range(20000, 30000)
"""Above the well-known, below NodePorts (30000) and what Linux uses for outgoing connections (32768)."""


def free_ports(count: int) -> list[int]:
    """Return free ports on loopback, below those that systems give to outgoing connections.

    A client that keeps connecting to the port of a stopped program would otherwise be given that very port.

    Raises:
        UserError: there are not as many.
    """
    ports: list[int] = []
    for port in random.SystemRandom().sample(_PORT_RANGE, len(_PORT_RANGE)):
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise UserError(f"fewer than {count} ports are free between {_PORT_RANGE.start} and {_PORT_RANGE.stop - 1}")
