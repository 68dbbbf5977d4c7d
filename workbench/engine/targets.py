"""The clusters of the Kubernetes providers in a program or a state."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolkit.kube import Kube, KubeError, NoSuchKindError

from ..cluster.cluster import repair
from ..errors import WorkbenchError
from .values import Secret, reveal

_RETRY_SECONDS = 60.0
"""Seconds to wait for a cluster that stops responding: enough to restart its control plane."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reachable cluster."""

    kube: Kube
    uid: str
    namespace: str = ""
    """The provider's namespace, for objects without one."""


@dataclass(slots=True)
class Targets:
    """Clusters by the URN of their provider, connected on first use."""

    folder: Path
    """Base of relative kubeconfig paths."""
    kubeconfig: str = ""
    """Kubeconfig from the command line, which replaces that of providers in the state."""
    waiting: Callable[[str], None] = lambda _: None
    """Called while a cluster does not respond."""
    _inputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _connected: dict[str, Target] = field(default_factory=dict)
    _sources: list[str | Path] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, urn: str, inputs: Mapping[str, Any]) -> None:
        """Add a provider; the first one with a URN is used."""
        self._inputs.setdefault(urn, inputs)

    def connect(self, urn: str) -> Target:
        """Return the cluster of a provider.

        Raises:
            WorkbenchError: the provider has no kubeconfig, or the cluster is unreachable.
        """
        if urn in self._connected:
            return self._connected[urn]
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
        kube.retry_seconds, kube.on_retry = _RETRY_SECONDS, self.waiting
        self._sources.append(source)
        self._connected[urn] = Target(kube, uid, _text(inputs.get("namespace")))
        return self._connected[urn]

    def try_connect(self, urn: str) -> Target | None:
        """Return the cluster of a provider; None if it is unreachable (see ``problems``)."""
        if urn in self.problems:
            return None
        try:
            return self.connect(urn)
        except WorkbenchError as error:
            self.problems[urn] = str(error)
            return None

    def _source(self, name: str, inputs: Mapping[str, Any]) -> str | Path:
        """Return the path or the content of a provider's kubeconfig."""
        value = inputs.get("kubeconfig")
        source = reveal(value) if isinstance(value, Secret) else value
        if self.kubeconfig and not isinstance(source, str):
            return Path(self.kubeconfig)
        if isinstance(source, dict):
            raise WorkbenchError(f"the state does not contain the kubeconfig of provider {name!r}; use --kubeconfig")
        if not source:
            raise WorkbenchError(
                f"provider {name!r} has no kubeconfig, and the local engine does not use KUBECONFIG. Set it in the "
                "program, or use --kubeconfig."
            )
        text = str(source)
        is_path = "\n" not in text.strip() and not text.lstrip().startswith("{")
        return self.folder / Path(text).expanduser() if is_path else text

    def repairs(self) -> list[str]:
        """Return advice for connected simulated clusters with stopped members."""
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
    revealed = reveal(value)
    return revealed if isinstance(revealed, str) else json.dumps(revealed) if revealed else ""


def identity(obj: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return apiVersion, kind, namespace and name of an object."""
    meta = reveal(obj["metadata"])
    return obj["apiVersion"], obj["kind"], meta.get("namespace") or "", meta["name"]


class ObjectKey(NamedTuple):
    """The identity of an object, independent of the API version."""

    cluster: str
    group: str
    kind: str
    namespace: str
    name: str


def object_key(obj: Mapping[str, Any], cluster: str) -> ObjectKey:
    api_version, kind, namespace, name = identity(obj)
    group = api_version.rpartition("/")[0]
    return ObjectKey(cluster, group, kind, namespace or "default", name)


def live_uids(target: Target, kinds: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str, bool]]:
    """Return by kind the uids of all objects, and whether each is being deleted."""
    uids = {}
    for api_version, kind in kinds:
        try:
            items = target.kube.list(api_version, kind, metadata_only=True)
        except NoSuchKindError:
            items = []
        # An object that cannot be read is an error: without it, its row would be taken for a deleted object.
        uids[api_version, kind] = {
            target.kube.uid_of(item, kind): "deletionTimestamp" in item["metadata"] for item in items
        }
    return uids
