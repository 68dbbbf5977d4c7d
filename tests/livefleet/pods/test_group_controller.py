"""Which groups of a set have lost a pod, by the changes of its pods that a watch reports."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from livefleet.pods.groups.controller import GROUP, GroupController
from livefleet.pods.groups.pods import LABEL

Pod = dict[str, Any]


def pod(uid: str, group: str = "first", **metadata: object) -> Pod:
    labels, annotations = {f"{LABEL}/name": "set"}, {GROUP: group}
    named = {"name": "set-0", "namespace": "ns", "uid": uid, "labels": labels, "annotations": annotations}
    return {"metadata": {**named, **metadata}}


@pytest.mark.parametrize(
    ("before", "after", "ended"),
    [
        (None, pod("a"), set()),
        (pod("a"), pod("a", resourceVersion="2"), set()),
        (pod("a"), None, {"first"}),
        (pod("a"), pod("a", deletionTimestamp="2026-01-01T00:00:00Z"), {"first"}),
        # After a gap in the watch, another pod has the name.
        (pod("a"), pod("b", "second"), {"first"}),
    ],
)
def test_which_groups_lost_a_pod(before: Pod | None, after: Pod | None, ended: set[str]) -> None:
    calls: list[tuple[str, Collection[str]]] = []

    async def reconcile(value: Pod, groups: Collection[str]) -> None:
        calls.append((f"{value['metadata']['namespace']}/{value['metadata']['name']}", groups))

    async def play() -> None:
        controller = GroupController(reconcile)
        controller.pod_changed(before, after)
        await asyncio.gather(*controller._tasks.values())

    asyncio.run(play())
    assert calls == [("ns/set", ended)]
