"""How long the pods of a booster may take to start (Kthena spec 2.5)."""

import pytest

from tests.families.kthena.booster.support import booster, engine_of, expanded, literal, pair


@pytest.mark.parametrize("place", [0, 1])
def test_a_pair_has_an_hour_to_load_before_liveness_counts(place: int) -> None:
    probes = engine_of(expanded(booster("m", pair()))["ModelServing", "m-b"], place)
    startup, liveness = probes["startupProbe"], probes["livenessProbe"]
    assert startup["httpGet"] == liveness["httpGet"]
    assert startup["periodSeconds"] * startup["failureThreshold"] == 3600


@pytest.mark.parametrize("place", [0, 1])
def test_the_controllers_let_liveness_count_after_ninety_seconds(place: int) -> None:
    serving = next(body for body in literal(booster("m", pair())).objects if body["kind"] == "ModelServing")
    probes = engine_of(serving, place)
    assert "startupProbe" not in probes
    assert probes["livenessProbe"]["initialDelaySeconds"] == 90
