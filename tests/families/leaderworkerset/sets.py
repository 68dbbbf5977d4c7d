"""A short way to write LeaderWorkerSets."""

from typing import Any

from tests.fleets import runner

TEMPLATE: dict[str, Any] = {"spec": {"containers": [runner()]}}


def group(name: str = "g", annotations: dict[str, str] | None = None, **template: Any) -> dict[str, Any]:
    """A LeaderWorkerSet; further fields of its template by their wire names."""
    metadata: dict[str, Any] = {"name": name, **({"annotations": annotations} if annotations else {})}
    spec: dict[str, Any] = {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE, **template}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata,
        "spec": spec,
    }
