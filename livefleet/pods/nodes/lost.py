"""Nodes that a fault removed. The cloud registers their replacements after a delay, held in reserve."""

import copy
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolkit.private import write_private

from ...kwok_stages import SEEN
from .autoscaler import CORDON
from .node_state import REPLACEMENT, SINCE, NodeStage

Json = dict[str, Any]
_COPIED = ("name", "labels", "annotations")


class LostNodes:
    """Lost nodes, stored in a file because the cluster no longer has them.

    Args:
        file: The file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            stored = json.loads(file.read_text())
        except (OSError, ValueError):
            stored = []
        self._lost: list[Json] = stored if isinstance(stored, list) else []

    def add(self, nodes: Iterable[tuple[Json, float]]) -> None:
        """Record nodes that are about to be deleted, with the simulated seconds until their replacement."""
        self._lost += [{"node": _replacement(node), "at": time.time(), "seconds": seconds} for node, seconds in nodes]
        self._write()

    def due(self, speed: float) -> Iterator[Json]:
        """Remove and return the replacements that are due."""
        now = time.time()
        due = [entry for entry in self._lost if (now - entry["at"]) * speed >= entry["seconds"]]
        if due:
            self._lost = [entry for entry in self._lost if entry not in due]
            self._write()
        return (entry["node"] for entry in due)

    def _write(self) -> None:
        write_private(self._file, json.dumps(self._lost).encode())


def _replacement(node: Json) -> Json:
    """Return a new node with the properties of a lost one, held in reserve."""
    meta = {key: copy.deepcopy(node["metadata"][key]) for key in _COPIED if key in node["metadata"]}
    annotations = meta.setdefault("annotations", {})
    annotations.pop(SINCE, None)
    annotations |= {SEEN: NodeStage.RESERVE.value, REPLACEMENT: "true"}
    # Taints of the node controller describe the lost node, not its replacement.
    taints = [
        taint
        for taint in node.get("spec", {}).get("taints") or ()
        if not taint["key"].startswith("node.kubernetes.io/")
    ]
    taints.append({"key": CORDON, "effect": "NoSchedule"})
    status = {key: node["status"][key] for key in ("capacity", "allocatable")}
    spec = {"unschedulable": True, "taints": taints}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}
