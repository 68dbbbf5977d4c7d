"""What resources refer to by name: what is written, else what a booster becomes."""

from typing import Any

import pytest

from components.families import objects as read
from components.families.kthena import lookup
from components.families.kthena.booster.expansion import expand
from components.fleet.library import Library
from tests.families.kthena.booster.support import POLICY, Object, backend, booster

DOCUMENTS = [
    booster("m", backend("b", maxReplicas=2, autoscalingPolicy=POLICY), backend("c")),
    booster("m-b", backend("x")),
    booster("shared", backend(scalingCost=1, maxReplicas=2), autoscalingPolicy=POLICY),
    booster("wrong", backend(type="MindIE")),
]


def library(*documents: Object) -> Library:
    return Library(read(documents).resources, "ns")


@pytest.mark.parametrize(
    ("find", "name", "found"),
    [
        (lookup.serving, "m-b", True),
        (lookup.serving, "m-c", True),
        (lookup.serving, "m-b-x", True),
        (lookup.serving, "m", False),
        (lookup.serving, "m-", False),
        (lookup.serving, "m-d", False),
        (lookup.serving, "", False),
        (lookup.serving, "wrong-b", False),
        (lookup.server, "m-c", True),
        (lookup.server, "m", False),
        (lookup.policy, "m-b", True),
        (lookup.policy, "m-c", False),
        (lookup.policy, "shared", True),
        (lookup.policy, "shared-b", False),
    ],
)
def test_children_of_boosters(find: Any, name: str, found: bool) -> None:
    child = find(library(*DOCUMENTS), "ns", name)
    assert (child is not None) is found
    if found:
        assert (child.metadata.name, child.metadata.namespace) == (name, "ns")


def test_other_namespaces_have_their_own() -> None:
    assert lookup.serving(library(*DOCUMENTS), "other", "m-b") is None


def test_what_is_written_comes_first() -> None:
    role = {"name": "own", "workerReplicas": 0, "entryTemplate": {"spec": {"containers": [{"name": "x"}]}}}
    written = {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "m-b", "namespace": "ns"},
        "spec": {"schedulerName": "volcano", "template": {"roles": [role]}},
    }
    serving = lookup.serving(library(*DOCUMENTS, written), "ns", "m-b")
    assert serving is not None
    assert [each.name for each in serving.spec.template.roles] == ["own"]


def test_a_thousand_boosters_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    known = library(*(booster(f"m{place}") for place in range(1000)))
    calls: list[int] = []

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return expand(*given, **named)

    monkeypatch.setattr("components.families.kthena.lookup.expand", counted)
    assert lookup.serving(known, "ns", "m999-b") is not None
    assert len(calls) == 1
