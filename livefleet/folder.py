"""Where the live fleet keeps its files, and the addresses that it listens on."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from toolkit.private import private_folder, write_private

from .fleet import LiveFleet


@dataclass(frozen=True, slots=True)
class Addresses:
    """Loopback addresses, for people and for commands.

    Attributes:
        control: Of the process behind the pods (:mod:`.control`); empty where it does not run.
        token: Bearer token of ``control``; nobody but the user can read the file that it is in.
        endpoints: URL by name of the endpoint in the outputs.
        door: URL of the gateway; empty without one.
        prometheus: URL of Prometheus; empty where it does not run.
    """

    control: str = ""
    token: str = field(default="", repr=False)
    endpoints: dict[str, str] = field(default_factory=dict)
    door: str = ""
    prometheus: str = ""

    @property
    def door_api(self) -> str:
        """The base of OpenAI's API at the gateway, as clients are given it; empty without one."""
        return f"{self.door.rstrip('/').removesuffix('/v1')}/v1" if self.door else ""


@dataclass(frozen=True, slots=True)
class LiveFolder:
    """``.workbench/live`` of a project: a part writes its own files there, under its own name."""

    state_dir: Path

    @property
    def path(self) -> Path:
        """The folder."""
        return self.state_dir / "live"

    @property
    def kubeconfig(self) -> Path:
        """The cluster's, with every right."""
        return self.state_dir / "kubeconfig"

    @property
    def door_key(self) -> Path:
        """A key that the gateway takes; nobody but the user can read it. Absent where the gateway wants none."""
        return self.path / "key"

    @property
    def door_authority(self) -> Path:
        """The certificate that signed the gateway's. Absent without TLS."""
        return self.path / "door" / "ca.crt"

    def make(self) -> None:
        """Make the folder, for the user alone."""
        private_folder(self.path)

    def log(self, part: str) -> Path:
        """Return where a part logs."""
        return self.path / "logs" / f"{part}.log"

    def pid_file(self, part: str) -> Path:
        """Return where the process of a part is remembered (``toolkit.process.save``)."""
        return self.path / f"{part}.pid"

    def write_fleet(self, fleet: LiveFleet) -> None:
        """Remember what is played."""
        write_private(self.path / "fleet.json", TypeAdapter(LiveFleet).dump_json(fleet, indent=1))

    def read_fleet(self) -> LiveFleet | None:
        """Return what is played; nothing before the first ``up``."""
        try:
            return TypeAdapter(LiveFleet).validate_json((self.path / "fleet.json").read_bytes())
        except (OSError, ValueError):
            return None

    def running_fleet(self, stack: str) -> LiveFleet | None:
        """Return what is played of a stack now; None where nothing runs, or another stack does."""
        if not self.path.exists():
            return None
        fleet = self.read_fleet()
        return fleet if fleet and fleet.stack == stack and self.addresses().control else None

    def addresses(self) -> Addresses:
        """Return where everything listens, as the parts have written it last."""
        found: dict[str, object] = {}
        for file in sorted(self.path.glob("addresses-*.json")):
            found |= TypeAdapter(dict[str, object]).validate_json(file.read_bytes())
        return TypeAdapter(Addresses).validate_python(found)

    def write_addresses(self, part: str, **addresses: object) -> None:
        """Write the addresses of one part: fields of :class:`Addresses`."""
        write_private(self.path / f"addresses-{part}.json", TypeAdapter(dict[str, object]).dump_json(addresses))

    def forget_addresses(self, part: str) -> None:
        """Forget the addresses of a part that does not run any more."""
        (self.path / f"addresses-{part}.json").unlink(missing_ok=True)
