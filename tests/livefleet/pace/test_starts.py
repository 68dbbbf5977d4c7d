"""How long pods and nodes take to start, from the terms of docs/cold-starts.md."""

import pytest

from livefleet.reading.paces import startup_of
from tests.plan.review.revisions import GIB, changed, deployment

MEASURED = round(51.75 * GIB)
IMAGE, NODE = 160 + 88, 417
"""Pulling an image and reading its libraries for the first time; a new node."""


@pytest.mark.parametrize(
    ("weights", "pod"),
    [
        (MEASURED, IMAGE + 101 + 39 + 106),
        (2 * MEASURED, IMAGE + 203 + 77 + 106),
        (0, IMAGE + 106),
        (None, IMAGE + 31 + 12 + 106),  # 16 GiB
    ],
)
def test_a_pod_pulls_its_image_and_loads_its_weights(weights: int | None, pod: int) -> None:
    found = startup_of(deployment(), weights)
    assert found.pod == pod
    assert found.node == NODE


def test_a_probe_that_waits_makes_it_longer_and_the_node_not() -> None:
    probe = {"initialDelaySeconds": 1000, "periodSeconds": 5}
    slow = changed(deployment(), "spec.template.spec.containers.0.readinessProbe", probe)
    found = startup_of(slow, MEASURED)
    assert found.pod == 160 + 1000 + 5
    assert found.node == NODE
