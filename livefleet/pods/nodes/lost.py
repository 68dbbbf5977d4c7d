"""Nodes that a fault has taken: the cloud gives others in their place, after a while, into the reserve."""

import copy
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolkit.private import write_private

from ...kwok_stages import SEEN
from .autoscaler import CORDON
from .node_state import REMADE, SINCE, NodeStage

Json = dict[str, Any]
_KEPT = ("name", "labels", "annotations")


class LostNodes:
    """What the cluster cannot remember, since it is not there: kept in a file between runs.

    Args:
        file: Where.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lost: list[Json] = _read(file)

    def add(self, nodes: Iterable[tuple[Json, float]]) -> None:
        """Remember nodes that are about to go, each with the simulated seconds after which an equal one comes."""
        self._lost += [{"node": _anew(node), "at": time.time(), "seconds": seconds} for node, seconds in nodes]
        self._write()

    def due(self, speed: float) -> Iterator[Json]:
        """Yield the nodes that come back now, and forget them."""
        now = time.time()
        due = [each for each in self._lost if (now - each["at"]) * speed >= each["seconds"]]
        if due:
            self._lost = [each for each in self._lost if each not in due]
            self._write()
        return (each["node"] for each in due)

    def _write(self) -> None:
        write_private(self._file, json.dumps(self._lost).encode())


def _read(file: Path) -> list[Json]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _anew(node: Json) -> Json:
    """Return a new node like one that was there, held in reserve."""
    meta = {key: copy.deepcopy(node["metadata"][key]) for key in _KEPT if key in node["metadata"]}
    annotations = meta.setdefault("annotations", {})
    annotations.pop(SINCE, None)
    annotations |= {SEEN: NodeStage.RESERVE.value, REMADE: "true"}
    taints = [each for each in node.get("spec", {}).get("taints") or () if not each["key"].startswith("node.kubern")]
    offered = {key: node["status"][key] for key in ("capacity", "allocatable")}
    taints.append({"key": CORDON, "effect": "NoSchedule"})
    spec = {"unschedulable": True, "taints": taints}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": offered}
