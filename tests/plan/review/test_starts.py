"""How long a replica takes to start, from the figures of kaito-project/kaito issue 2325 (aws-gpu spec 17)."""

import pytest

from components.plan.review.starts import grace_seconds, source, start_estimate
from tests.plan.review.revisions import GIB, changed, deployment

MEASURED = round(51.75 * GIB)
"""The weights of that measurement: 62 s."""
CONTAINER = "spec.template.spec.containers.0"


@pytest.mark.parametrize(
    ("weights", "new_node", "new_image", "seconds"),
    [
        (MEASURED, False, False, 74 + 21 + 62 + 195),
        (MEASURED, False, True, 101 + 74 + 21 + 62 + 195),
        (MEASURED, True, False, 284 + 126 + 101 + 74 + 21 + 62 + 195),
        (MEASURED, True, True, 284 + 126 + 101 + 74 + 21 + 62 + 195),
        (2 * MEASURED, False, False, 74 + 21 + 124 + 195),
        (0, False, False, 74 + 21 + 195),
    ],
)
def test_what_takes_time(weights: int, *, new_node: bool, new_image: bool, seconds: int) -> None:
    found = start_estimate(deployment(), weights, new_node=new_node, new_image=new_image)
    assert found.seconds == seconds == sum(part for _, part in found.parts)


def test_without_the_size_of_the_weights_nothing_is_guessed() -> None:
    found = start_estimate(deployment(), None, new_node=False, new_image=False)
    assert found.seconds is None
    assert "weights" in found.text


@pytest.mark.parametrize(
    ("probe", "further"),
    [
        ({"periodSeconds": 5}, 5),
        ({}, 0),
        ({"initialDelaySeconds": 30}, 10),  # it has passed long before the server answers
        ({"initialDelaySeconds": 400, "periodSeconds": 3}, 400 - (74 + 21 + 62 + 195) + 3),
    ],
)
def test_probes_add_what_the_server_waits_for_them(probe: dict[str, int], further: int) -> None:
    body = changed(deployment(), f"{CONTAINER}.readinessProbe", probe)
    found = start_estimate(body, MEASURED, new_node=False, new_image=False)
    assert found.seconds == 74 + 21 + 62 + 195 + further


def test_how_long_old_pods_may_take_to_end() -> None:
    assert grace_seconds(deployment()) == 30
    assert grace_seconds(changed(deployment(), "spec.template.spec.terminationGracePeriodSeconds", 120)) == 120


def test_the_source_is_named() -> None:
    assert "kaito issue 2325" in source()
