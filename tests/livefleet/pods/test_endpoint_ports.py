"""Ports of endpoints: the same after a restart, and out of reach of the connections of other processes."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from livefleet.fleet import LiveFleet
from livefleet.pods.endpoints import EndpointPorts
from livefleet.pods.ports import Loopback
from tests.deploying.fleets import fleet_of, workload

EPHEMERAL = 32768
"""The first port that Linux gives to connections (ip_local_port_range, Documentation/networking/ip-sysctl.rst)."""
RUNTIME: Any = None
"""Nothing is asked here, so that no pod is looked for."""


async def ports_of(fleet: LiveFleet, file: Path) -> dict[str, int]:
    ports = EndpointPorts(Loopback(), RUNTIME, file)
    try:
        await ports.apply_fleet(fleet)
        return {title: int(url.split(":")[2].partition("/")[0]) for title, url in ports.urls().items()}
    finally:
        ports.close()


def test_ports_stay_the_same_and_are_not_ephemeral(tmp_path: Path) -> None:
    """An ephemeral port may be taken by any connection while the fleet is down."""
    fleet = fleet_of(workload("one"), workload("two"))
    first = asyncio.run(ports_of(fleet, tmp_path / "ports.json"))
    assert asyncio.run(ports_of(fleet, tmp_path / "ports.json")) == first
    assert len(set(first.values())) == 2
    assert max(first.values()) < EPHEMERAL


def test_a_port_that_was_taken_is_replaced(tmp_path: Path) -> None:
    fleet = fleet_of(workload("one"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        (tmp_path / "ports.json").write_text(json.dumps({"one": taken, "of-another-stack": 20001}))
        found = asyncio.run(ports_of(fleet, tmp_path / "ports.json"))
    assert found["one"] not in (taken, 20001)
    assert json.loads((tmp_path / "ports.json").read_text()) == {**found, "of-another-stack": 20001}
