"""One simulated engine without a cluster."""

import json
import urllib.request

import pytest

from components.families import objects
from components.plan.plan import plan
from livefleet import fleet_of, simulated_engine
from livefleet.fleet import LiveFleet
from tests.fleets import open_model, playground
from toolkit.errors import UserError


@pytest.fixture(scope="module")
def fleet() -> LiveFleet:
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
    return fleet_of("demo", plan(objects([open_model(flavors=[flavor]), playground("chat")])))


def test_it_answers_until_the_context_ends(fleet: LiveFleet) -> None:
    with simulated_engine(fleet, "chat", speed=1000) as (url, model):
        body = {"model": model, "max_tokens": 3, "messages": [{"role": "user", "content": "x"}]}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            found = json.load(response)
            assert "x-simulated" in response.headers
        assert found["usage"]["completion_tokens"] == 3
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{url}/v1/models")


def test_an_unknown_endpoint_is_a_message(fleet: LiveFleet) -> None:
    with (
        pytest.raises(UserError, match=r"stack 'demo' has no endpoint 'other'; available: chat"),
        simulated_engine(fleet, "other"),
    ):
        pass
