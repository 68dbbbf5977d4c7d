"""Servers with keys of their own behind a gateway that authenticates clients."""

from dataclasses import replace
from typing import Any

import pytest

from components.checks.front_door.door import Door, front_door
from components.contract.findings.ids import RuleId
from tests.checks.front_door.doors import BALANCERS, KEYS, PRIVATE, PUBLIC, TOKENS
from tests.fleets import fleet_of, open_model, playground

FROM_SECRET = {"valueFrom": {"secretKeyRef": {"name": "key", "key": "key"}}}
WITH_FLAG = {"args": ["--api-key", "$(KEY)"]}
WITH_VARIABLE = {"envs": [{"name": "VLLM_API_KEY", **FROM_SECRET}]}


def found(door: Door, **runtime: Any) -> list[tuple[str, str]]:
    fleet = fleet_of(open_model("m"), playground("chat", "m", backendRuntimeConfig=runtime))
    problems = front_door(fleet, door).problems
    return [(each.path, each.reason) for each in problems if each.rule == RuleId.ACCESS_ENGINE_KEY]


@pytest.mark.parametrize("door", [PUBLIC, replace(PUBLIC, auth=TOKENS)], ids=["keys", "tokens"])
@pytest.mark.parametrize(
    ("runtime", "named"),
    [
        (WITH_FLAG, "--api-key"),
        (WITH_VARIABLE, "VLLM_API_KEY"),
        ({"backendName": "sglang", **WITH_FLAG}, "--api-key"),
        ({"backendName": "tgi", "envs": [{"name": "API_KEY", **FROM_SECRET}]}, "API_KEY"),
        ({"backendName": "llamacpp", "args": ["--api-key-file", "/keys"]}, "--api-key-file"),
        ({"backendName": "llamacpp", "envs": [{"name": "LLAMA_API_KEY", **FROM_SECRET}]}, "LLAMA_API_KEY"),
    ],
)
def test_every_client_would_be_rejected(door: Door, runtime: dict[str, Any], named: str) -> None:
    ((path, reason),) = found(door, **runtime)
    assert path.startswith("spec.backendRuntimeConfig")
    assert f"({named})" in reason
    assert "401" in reason


@pytest.mark.parametrize("door", [PRIVATE, BALANCERS, Door()], ids=["anonymous", "load balancers", "none"])
def test_where_nobody_takes_the_key_away_clients_send_it(door: Door) -> None:
    assert found(door, **WITH_FLAG) == []


@pytest.mark.parametrize("runtime", [{}, {"envs": [{"name": "VLLM_API_KEY", "value": ""}]}])
def test_servers_without_a_key_serve(runtime: dict[str, Any]) -> None:
    assert found(replace(PUBLIC, auth=KEYS), **runtime) == []
