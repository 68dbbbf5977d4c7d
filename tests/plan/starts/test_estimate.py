"""How long a replica takes to start, from the terms of docs/cold-starts.md."""

import pytest

from components.plan.starts.estimate import grace_seconds, source, start_estimate
from tests.plan.review.revisions import GIB, changed, deployment

SIZE = round(51.75 * GIB)
WARM = 32 + 101 + 39 + 106
"""Libraries, download at 0.51 GiB/s, loading at 1.34 GiB/s, engine with 64 layers."""
COLD = 160 + 88 + 101 + 39 + 106
CONTAINER = "spec.template.spec.containers.0"


@pytest.mark.parametrize(
    ("weights", "new_node", "new_image", "seconds"),
    [
        (SIZE, False, False, WARM),
        (SIZE, False, True, COLD),
        (SIZE, True, False, 417 + COLD),
        (SIZE, True, True, 417 + COLD),
        (2 * SIZE, False, False, 32 + 203 + 77 + 106),
        (0, False, False, 32 + 106),
    ],
)
def test_what_takes_time(weights: int, *, new_node: bool, new_image: bool, seconds: int) -> None:
    found = start_estimate(deployment(), weights, new_node=new_node, new_image=new_image)
    assert found.seconds == seconds == sum(part for _, part in found.parts)


def test_devices_load_their_shares_at_once() -> None:
    found = start_estimate(deployment(), SIZE, new_node=False, new_image=False, devices=4, layers=80)
    assert found.seconds == 32 + 101 + 10 + 115


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
        ({"initialDelaySeconds": 400, "periodSeconds": 3}, 400 - WARM + 3),
    ],
)
def test_probes_add_what_the_server_waits_for_them(probe: dict[str, int], further: int) -> None:
    body = changed(deployment(), f"{CONTAINER}.readinessProbe", probe)
    found = start_estimate(body, SIZE, new_node=False, new_image=False)
    assert found.seconds == WARM + further


def test_how_long_old_pods_may_take_to_end() -> None:
    assert grace_seconds(deployment()) == 30
    assert grace_seconds(changed(deployment(), "spec.template.spec.terminationGracePeriodSeconds", 120)) == 120


def test_the_source_is_named() -> None:
    assert "docs/cold-starts.md" in source()
