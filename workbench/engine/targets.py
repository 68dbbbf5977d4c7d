"""The clusters behind the providers of a program or of a state."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolkit.kube import Kube, KubeError, NoSuchKindError

from ..cluster.cluster import repair
from ..errors import WorkbenchError
from .values import Secret, reveal

_PATIENCE = 60.0
"""Seconds for which a cluster that has answered may be away: long enough to start its control plane again."""


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster that answers."""

    kube: Kube
    uid: str
    namespace: str = ""
    """The provider's namespace, for namespaced objects that name none."""


@dataclass(slots=True)
class Targets:
    """Providers by URN, connected when first needed."""

    folder: Path
    """Relative kubeconfig paths start here."""
    kubeconfig: str = ""
    """Given by hand: used instead of what providers in the state say."""
    waiting: Callable[[str], None] = lambda _: None
    """Told while a cluster does not answer."""
    _inputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _connected: dict[str, Target] = field(default_factory=dict)
    _sources: list[str | Path] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, urn: str, inputs: Mapping[str, Any]) -> None:
        """Take in a provider; the program's come before the state's."""
        self._inputs.setdefault(urn, inputs)

    def connect(self, urn: str) -> Target:
        """Return the cluster of a provider.

        Raises:
            WorkbenchError: it has no kubeconfig, or the cluster does not answer.
        """
        if urn not in self._connected:
            self._connected[urn] = self._open(urn)
        return self._connected[urn]

    def reach(self, urn: str) -> Target | None:
        """Return the cluster of a provider, or None (see ``problems``)."""
        if urn in self.problems:
            return None
        try:
            return self.connect(urn)
        except WorkbenchError as error:
            self.problems[urn] = str(error)
            return None

    def _open(self, urn: str) -> Target:
        inputs = self._inputs.get(urn)
        name = urn.rsplit("::", 1)[-1]
        if inputs is None:
            raise WorkbenchError(f"provider {name!r} is neither in the program nor in the state")
        source = self._source(name, inputs)
        if advice := repair(source, needed=True):
            raise WorkbenchError(f"provider {name!r}: {advice}")
        kube = Kube.from_kubeconfig(source, _text(inputs.get("context")) or None)
        try:
            uid = kube.uid()
        except KubeError as error:
            kube.close()
            raise WorkbenchError(
                f"provider {name!r}: {error.message}\n"
                "Start the simulated cluster with `workbench cluster start`, or use --kubeconfig."
            ) from None
        kube.retry_seconds, kube.on_retry = _PATIENCE, self.waiting
        self._sources.append(source)
        return Target(kube, uid, _text(inputs.get("namespace")))

    def _source(self, name: str, inputs: Mapping[str, Any]) -> str | Path:
        given = inputs.get("kubeconfig")
        source = reveal(given) if isinstance(given, Secret) else given
        if self.kubeconfig and not isinstance(source, str):
            return Path(self.kubeconfig)
        if isinstance(source, dict):
            raise WorkbenchError(f"the kubeconfig of provider {name!r} is not stored; pass it with --kubeconfig")
        if not source:
            raise WorkbenchError(
                f"provider {name!r} has no kubeconfig, and the local engine does not read one from the environment. "
                "Set it in the program, or use --kubeconfig."
            )
        text = str(source)
        is_path = "\n" not in text.strip() and not text.lstrip().startswith("{")
        return self.folder / Path(text).expanduser() if is_path else text

    def repairs(self) -> list[str]:
        """Say what does not run of the simulated clusters among those that are connected, and how to start it."""
        return [advice for source in dict.fromkeys(self._sources) if (advice := repair(source))]

    def by_cluster(self, uid: str) -> Target | None:
        """Return a connected cluster by its uid."""
        return next((target for target in self._connected.values() if target.uid == uid), None)

    def __enter__(self) -> "Targets":
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections."""
        for target in self._connected.values():
            target.kube.close()


def _text(value: object) -> str:
    plain = reveal(value)
    return plain if isinstance(plain, str) else json.dumps(plain) if plain else ""


def identity(obj: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return apiVersion, kind, namespace and name of an object."""
    meta = reveal(obj["metadata"])
    return obj["apiVersion"], obj["kind"], meta.get("namespace") or "", meta["name"]


class ObjectPlace(NamedTuple):
    """What tells an object from all others, whatever version of its kind it is written in."""

    cluster: str
    group: str
    kind: str
    namespace: str
    name: str


def place_of(obj: Mapping[str, Any], cluster: str) -> ObjectPlace:
    """Return where an object of a cluster is."""
    api_version, kind, namespace, name = identity(obj)
    group = api_version.rpartition("/")[0]
    return ObjectPlace(cluster, group, kind, namespace or "default", name)


def living(target: Target, kinds: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str, bool]]:
    """Return, by kind, the uids of all objects there are and whether each is being deleted."""
    found = {}
    for api_version, kind in kinds:
        try:
            items = target.kube.list(api_version, kind, metadata_only=True)
        except NoSuchKindError:
            items = []
        found[api_version, kind] = {
            item["metadata"]["uid"]: "deletionTimestamp" in item["metadata"] for item in items
        }
    return found
