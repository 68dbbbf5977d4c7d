"""The files that Envoy reads: one of listeners, one of clusters, one for each other thing."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ....cluster.pki import write_private
from ....cluster.private import private_folder
from ...served import Object


@dataclass(slots=True)
class XdsFiles:
    """Discovery by files (Envoy, "xDS configuration API overview", filesystem subscriptions).

    Envoy watches for files that are moved to their place, and reads each whole. It refuses one with several resources
    where it asked for one. Everything is for the user alone: routes hold the keys of clients.
    """

    folder: Path
    _written: dict[str, bytes] = field(default_factory=dict)

    def make(self) -> None:
        """Make the folder."""
        private_folder(self.folder)

    def path(self, kind: str, name: str) -> str:
        """Return the file of a resource, or of all of a kind where the name is empty."""
        digest = f"-{hashlib.sha256(name.encode()).hexdigest()[:20]}" if name else ""
        return str(self.folder / f"{kind}{digest}.json")

    def write(self, kind: str, name: str, resources: Iterable[Object]) -> bool:
        """Write resources, and tell whether they are others than before."""
        content = list(resources)
        body = json.dumps(content, sort_keys=True).encode()
        path = self.path(kind, name)
        if self._written.get(path) == body:
            return False
        answer = {"versionInfo": _version(body), "resources": content}
        write_private(Path(path), json.dumps(answer, sort_keys=True, indent=1).encode())
        self._written[path] = body
        return True

    def version(self, kind: str) -> str:
        """Return the version that was written last of all of a kind."""
        body = self._written.get(self.path(kind, ""))
        return _version(body) if body is not None else ""

    def write_bootstrap(self, bootstrap: Object) -> None:
        """Write what Envoy is started with."""
        write_private(Path(self.path("bootstrap", "")), json.dumps(bootstrap, sort_keys=True, indent=1).encode())

    def forget_others(self) -> None:
        """Remove the files of resources that are not there any more."""
        for file in self.folder.glob("*-*.json"):
            if str(file) not in self._written:
                file.unlink(missing_ok=True)


def _version(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]
