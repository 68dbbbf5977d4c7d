"""How long pods and nodes take to start, from the figures of kaito-project/kaito issue 2325."""

import pytest

from livefleet.reading.paces import startup_of
from tests.plan.review.revisions import GIB, changed, deployment

MEASURED = round(51.75 * GIB)


@pytest.mark.parametrize(
    ("weights", "pod"),
    [
        (MEASURED, 101 + 74 + 21 + 62 + 195),
        (2 * MEASURED, 101 + 74 + 21 + 124 + 195),
        (0, 101 + 74 + 21 + 195),
        (None, 101 + 74 + 21 + 19 + 195),  # 16 GiB
    ],
)
def test_a_pod_pulls_its_image_and_loads_its_weights(weights: int | None, pod: int) -> None:
    found = startup_of(deployment(), weights)
    assert found.pod == pod
    assert found.node == 284 + 126


def test_a_probe_that_waits_makes_it_longer_and_the_node_not() -> None:
    probe = {"initialDelaySeconds": 1000, "periodSeconds": 5}
    slow = changed(deployment(), "spec.template.spec.containers.0.readinessProbe", probe)
    found = startup_of(slow, MEASURED)
    assert found.pod == 101 + 1000 + 5
    assert found.node == 284 + 126
