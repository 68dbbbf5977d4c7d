"""What is asked of the members of a running cluster, and done to them."""

import socket
import ssl
import time

from toolkit.process import start_time
from workbench.cluster.cluster import SimulatedCluster


def pids(cluster: SimulatedCluster) -> dict[str, int | None]:
    return {member.name: member.pid for member in cluster.status()}


def ended(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while start_time(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return start_time(pid) is None


def take(taken: socket.socket, port: int) -> None:
    """Listen where a member did; a killed one holds its port until its last thread has ended."""
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    deadline = time.monotonic() + 30
    while True:
        try:
            taken.bind(("127.0.0.1", port))
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    taken.listen()


def config_map(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"kept": "yes"},
    }


def talk(context: ssl.SSLContext, raw: socket.socket) -> None:
    """TLS 1.3 refuses a client without a certificate only after the handshake."""
    with context.wrap_socket(raw, server_hostname="127.0.0.1") as connection:
        connection.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.recv(1)
