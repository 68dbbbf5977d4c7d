"""An autoscaler that one resource adds to another's workload counts like the workload's own."""

from typing import Any

import pytest

from components.fleet.rendered import Fleet
from components.fleet.shapes import shape_of
from tests.families.llmd import support
from tests.families.llmd.support import Object, per_minute, variant
from tests.fleets import errors

PODS: Object = {
    "metrics": [
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": "vllm:num_requests_waiting"},
                "target": {"type": "AverageValue", "averageValue": "5"},
            },
        }
    ]
}
BOUNDS: Any = {"minReplicas": 2, "maxReplicas": 8}
"""What the variant below needs, too: 40 and 200 requests a minute (WVA spec 8.10)."""
SURGING: Any = {"rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": "50%"}}


def contributed(*documents: Object) -> Fleet:
    found = support.fleet(*documents, variant(), levels=support.levels(per_minute(200, 40)))
    assert [str(each) for each in errors(found)] == []
    return found


def demand(found: Fleet) -> list[tuple[int, int | None, int, int]]:
    return [
        (each.pods, each.max_pods, each.surge_pods, each.most)
        for _, workload in found.workloads
        for each in workload.pods
    ]


def test_pods_are_those_of_an_own_autoscaler_with_the_same_bounds() -> None:
    own = {**BOUNDS, "scaleTrigger": {"hpa": PODS}}
    alone = support.fleet(*support.of_llmaz(elasticConfig=own))
    assert errors(alone) == []
    assert demand(contributed(*support.of_llmaz())) == demand(alone) == [(2, 8, 0, 8)]


def test_deployments_on_accelerators_of_another_family() -> None:
    alone = support.fleet(*support.of_llmkube(autoscaling={**BOUNDS, "metrics": []}))
    assert errors(alone) == []
    assert demand(contributed(*support.of_llmkube())) == demand(alone) == [(2, 8, 0, 8)]


def test_what_an_update_adds_grows_with_the_bounds() -> None:
    """Half of eight groups, where the manifest has one at rest."""
    groups = support.of_lws(rolloutStrategy={"type": "RollingUpdate", **SURGING})
    assert demand(support.fleet(*groups)) == [(1, None, 1, 2)]
    assert demand(contributed(*groups)) == [(2, 8, 4, 12)]


@pytest.mark.parametrize(
    ("kind", "spec", "replicas", "expected"),
    [
        # Kubernetes documentation, Deployments: maxSurge is 25 % by default, rounded up; Recreate adds none.
        ("Deployment", {}, 1, 1),
        ("Deployment", {}, 8, 2),
        ("Deployment", {"strategy": {"type": "Recreate"}}, 8, 0),
        ("Deployment", {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3}}}, 8, 3),
        ("Deployment", {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0}}}, 8, 0),
        # LeaderWorkerSet: none by default.
        ("LeaderWorkerSet", {}, 8, 0),
        ("LeaderWorkerSet", {"rolloutStrategy": SURGING}, 5, 3),
    ],
)
def test_what_an_update_adds(kind: str, spec: Object, replicas: int, expected: int) -> None:
    shape = shape_of({"kind": kind})
    assert shape is not None
    assert shape.update_of({"kind": kind, "spec": spec}).added(replicas) == expected
