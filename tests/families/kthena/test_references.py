"""References by name lead to resources that the user wrote, else to those generated from boosters."""

from typing import Any

import pytest

from components.contract.meta import Resource
from components.families import objects as read
from components.families.kthena.booster.expansion import expand
from components.families.kthena.references import find
from components.families.kthena.types import AutoscalingPolicy, ModelServer, ModelServing
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
    ("kind", "name", "found"),
    [
        (ModelServing, "m-b", True),
        (ModelServing, "m-c", True),
        (ModelServing, "m-b-x", True),
        (ModelServing, "m", False),
        (ModelServing, "m-", False),
        (ModelServing, "m-d", False),
        (ModelServing, "", False),
        (ModelServing, "wrong-b", False),
        (ModelServer, "m-c", True),
        (ModelServer, "m", False),
        (AutoscalingPolicy, "m-b", True),
        (AutoscalingPolicy, "m-c", False),
        (AutoscalingPolicy, "shared", True),
        (AutoscalingPolicy, "shared-b", False),
    ],
)
def test_resources_generated_from_boosters(kind: type[Resource], name: str, found: bool) -> None:
    source = find(kind, library(*DOCUMENTS), "ns", name)
    assert (source is not None) is found
    if source is not None:
        metadata = source.resource.metadata
        assert (metadata.name, metadata.namespace) == (name, "ns")


def test_other_namespaces_have_their_own() -> None:
    assert find(ModelServing, library(*DOCUMENTS), "other", "m-b") is None


def test_what_is_written_comes_first() -> None:
    role = {"name": "own", "workerReplicas": 0, "entryTemplate": {"spec": {"containers": [{"name": "x"}]}}}
    written = {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "m-b", "namespace": "ns"},
        "spec": {"schedulerName": "volcano", "template": {"roles": [role]}},
    }
    source = find(ModelServing, library(*DOCUMENTS, written), "ns", "m-b")
    assert source is not None
    assert isinstance(source.resource, ModelServing)
    assert [role.name for role in source.resource.spec.template.roles] == ["own"]


def test_a_thousand_boosters_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    known = library(*(booster(f"m{place}") for place in range(1000)))
    calls: list[int] = []

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return expand(*given, **named)

    monkeypatch.setattr("components.families.kthena.references.expand", counted)
    assert find(ModelServing, known, "ns", "m999-b") is not None
    assert len(calls) == 1
