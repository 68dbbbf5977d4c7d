"""Free ports on loopback."""

import random
import socket
from collections.abc import Container

from .errors import UserError

LOOPBACK = "127.0.0.1"
_PORT_RANGE = range(20000, 30000)
"""Above well-known ports, below NodePorts (30000) and the ephemeral ports of Linux (32768)."""


def free_ports(count: int, excluded: Container[int] = ()) -> list[int]:
    """Return free ports on loopback, outside of the ephemeral range.

    An ephemeral port could be assigned to a client that keeps connecting to it while its server is stopped.

    Args:
        count: Number of ports.
        excluded: Ports that are reserved, although nothing listens on them.

    Raises:
        UserError: too few ports are free.
    """
    ports: list[int] = []
    for port in random.SystemRandom().sample(_PORT_RANGE, len(_PORT_RANGE)):
        if port in excluded:
            continue
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise UserError(f"fewer than {count} ports are free between {_PORT_RANGE.start} and {_PORT_RANGE.stop - 1}")
