"""Replacing the proxies of a gateway under load: nothing is lost, and each part is needed for that."""

from pathlib import Path

import httpx
import pytest

from livefleet.door.programs import DoorPrograms
from tests.checks.front_door.doors import BALANCERS, made, one
from tests.livefleet.door.requests.doors import chat
from tests.livefleet.door.requests.engines import engines_of
from tests.livefleet.door.rolling.balancer import FASTER, NLB, balancer_of
from tests.livefleet.door.rolling.figures import after, before, rolled, without


def test_before_streams_are_cut_and_no_target_is_healthy(door_tools: DoorPrograms, tmp_path: Path) -> None:
    """Envoy Gateway's defaults are a drain of 60 s and no gates: new proxies are Ready before they are reached."""
    found = rolled(before(), door_tools, tmp_path)
    assert found.cut > 0
    assert found.refused > 0
    assert found.without > 60


def test_after_no_stream_that_ends_within_the_drain_is_lost(door_tools: DoorPrograms, tmp_path: Path) -> None:
    rendered = after()
    assert rendered.gated
    found = rolled(rendered, door_tools, tmp_path)
    assert (found.cut, found.refused, found.without) == (0, 0, 0)


def test_without_gates_no_target_is_healthy_for_minutes(door_tools: DoorPrograms, tmp_path: Path) -> None:
    assert rolled(without("gates"), door_tools, tmp_path).without > 60


def test_without_the_drain_streams_are_cut(door_tools: DoorPrograms, tmp_path: Path) -> None:
    found = rolled(without("drain"), door_tools, tmp_path)
    assert found.cut > 0
    assert found.without == 0


@pytest.mark.parametrize("is_set", [True, False], ids=["as rendered", "before"])
def test_a_silence_of_six_and_a_half_minutes_before_a_model(*, is_set: bool) -> None:
    """An engine sends no keepalives while it computes an answer that is not streamed."""
    annotations = one(made(BALANCERS), "Service")["metadata"]["annotations"]
    if not is_set:
        annotations = {key: text for key, text in annotations.items() if not key.startswith(f"{NLB}-listener")}
    with engines_of(["m"]) as engines, balancer_of(annotations, 8080) as balancer:
        balancer.register(("127.0.0.1", engines.ports["m"]), at_once=True)
        url = f"http://127.0.0.1:{balancer.port}/v1/chat/completions"
        with httpx.Client(timeout=60, trust_env=False) as client:
            if is_set:
                assert client.post(url, json=chat("m", wait=390 / FASTER)).status_code == 200
            else:
                with pytest.raises(httpx.TransportError):
                    client.post(url, json=chat("m", wait=390 / FASTER))
        assert balancer.silent == (0 if is_set else 1)
