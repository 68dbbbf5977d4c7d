"""Files of the live fleet, and the addresses that its processes listen on."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from toolkit.private import private_folder, write_private

from .fleet import LiveFleet


@dataclass(frozen=True, slots=True)
class Addresses:
    """Loopback addresses.

    Attributes:
        control: Control API of the process behind the pods (:mod:`.control_api`); empty if it does not run.
        token: Bearer token of ``control``; only the user can read its file.
        endpoints: URL by name of the endpoint in the outputs.
        door: URL of the gateway; empty without one.
        prometheus: URL of Prometheus; empty if it does not run.
    """

    control: str = ""
    token: str = field(default="", repr=False)
    endpoints: dict[str, str] = field(default_factory=dict)
    door: str = ""
    prometheus: str = ""

    @property
    def door_api(self) -> str:
        """Base URL of the OpenAI API at the gateway; empty without one."""
        return f"{self.door.rstrip('/').removesuffix('/v1')}/v1" if self.door else ""


@dataclass(frozen=True, slots=True)
class LiveFolder:
    """``.workbench/live`` of a project. Each part writes files under its own name there."""

    state_dir: Path

    @property
    def path(self) -> Path:
        return self.state_dir / "live"

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig of the cluster's administrator."""
        return self.state_dir / "kubeconfig"

    @property
    def door_key(self) -> Path:
        """File with a client key for the gateway, readable by the user only. Missing if the gateway needs none."""
        return self.path / "key"

    @property
    def door_authority(self) -> Path:
        """CA certificate of the gateway. Missing without TLS."""
        return self.path / "door" / "ca.crt"

    def make(self) -> None:
        """Create the folder, accessible to the user only."""
        private_folder(self.path)

    def log(self, part: str) -> Path:
        return self.path / "logs" / f"{part}.log"

    def pid_file(self, part: str) -> Path:
        """Return the file that identifies the process of a part (``toolkit.process.save``)."""
        return self.path / f"{part}.pid"

    def write_fleet(self, fleet: LiveFleet) -> None:
        write_private(self.path / "fleet.json", TypeAdapter(LiveFleet).dump_json(fleet, indent=1))

    def read_fleet(self) -> LiveFleet | None:
        """Return the fleet; None before the first ``up``."""
        try:
            return TypeAdapter(LiveFleet).validate_json((self.path / "fleet.json").read_bytes())
        except (OSError, ValueError):
            return None

    def running_fleet(self, stack: str) -> LiveFleet | None:
        """Return the running fleet of a stack; None if nothing runs, or another stack."""
        if not self.path.exists():
            return None
        fleet = self.read_fleet()
        return fleet if fleet and fleet.stack == stack and self.addresses().control else None

    def addresses(self) -> Addresses:
        """Return the addresses that the parts wrote last; a damaged file is the same as none."""
        addresses: dict[str, object] = {}
        for file in sorted(self.path.glob("addresses-*.json")):
            with contextlib.suppress(OSError, ValueError):
                addresses |= TypeAdapter(dict[str, object]).validate_json(file.read_bytes())
        try:
            return TypeAdapter(Addresses).validate_python(addresses)
        except ValueError:
            return Addresses()

    def write_addresses(self, part: str, **addresses: object) -> None:
        """Write the addresses of a part: fields of :class:`Addresses`."""
        write_private(self.path / f"addresses-{part}.json", TypeAdapter(dict[str, object]).dump_json(addresses))

    def forget_addresses(self, part: str) -> None:
        (self.path / f"addresses-{part}.json").unlink(missing_ok=True)
