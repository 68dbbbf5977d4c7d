"""Whatever is in a body, every path answers or refuses, and nothing is left in the batch."""

import asyncio
import json
import logging
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from livefleet.apis.dispatch import _handlers
from livefleet.pods.pod import LivePod
from livefleet.standalone import serve_pod
from tests.livefleet.pods_by_hand import pod_by_hand

FASTEST = 1e6
ENGINES = ["vllm", "sglang", "tgi", "llamacpp", "ollama"]
EXPECTED = {200, 400, 404, 413, 422, 501}
NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 40, 10**6, 2**31, 2**70, -(2**63), 1.5, 1e308, 2.0])
LEAVES = (
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.sampled_from(["demo", "float", "base64", "\ud800"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=6,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({}, optional={"role": st.just("user") | VALUES, "content": st.text(max_size=9) | VALUES}),
    max_size=3,
)
FIELDS: dict[str, Any] = {
    "model": st.sampled_from(["demo", "other"]) | VALUES,
    "messages": MESSAGES | VALUES,
    **dict.fromkeys(("prompt", "inputs", "text", "content", "input"), st.text(max_size=9) | VALUES),
    **dict.fromkeys(("max_tokens", "n", "min_tokens", "n_predict", "seed", "dimensions"), NUMBERS | VALUES),
    **dict.fromkeys(("stream", "ignore_eos", "raw"), st.booleans() | VALUES),
    **dict.fromkeys(("stop", "tokens", "context", "images", "tools", "encoding_format", "input_ids"), VALUES),
    "options": st.dictionaries(st.sampled_from(["num_predict", "stop", "seed"]), VALUES, max_size=2) | VALUES,
    "parameters": st.dictionaries(st.sampled_from(["max_new_tokens", "stop", "details"]), VALUES, max_size=2)
    | VALUES,
    "sampling_params": st.dictionaries(st.sampled_from(["max_new_tokens", "stop"]), VALUES, max_size=2) | VALUES,
    "stream_options": st.dictionaries(st.just("include_usage"), VALUES, max_size=1) | VALUES,
}
GOOD: dict[str, Any] = {
    "messages": [{"role": "user", "content": "x"}],
    "model": "demo",
    **dict.fromkeys(("prompt", "inputs", "text", "content", "input"), "x"),
}
BODIES = st.lists(st.sampled_from(sorted(FIELDS)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in names}).map(lambda changed: GOOD | changed)
)
"""A request that every path answers, with up to three fields changed."""


def paths(engine: str) -> list[str]:
    return sorted(path for path, handlers in _handlers(engine).items() if "POST" in handlers)


async def ask_all(pod: LivePod, body: dict[str, Any]) -> dict[str, int]:
    found = {}
    async with serve_pod(pod) as url, aiohttp.ClientSession() as session:
        for path in paths(pod.workload.engine):
            async with session.post(url + path, data=json.dumps(body).encode()) as response:
                await response.read()
                found[path] = response.status
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("embeds", [False, True], ids=["texts", "embeddings"])
@given(body=BODIES)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_path_answers_or_refuses(
    engine: str, embeds: bool, body: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    pod = pod_by_hand(engine, speed=FASTEST, context=512, embeds=embeds)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        found = asyncio.run(ask_all(pod, body))
    assert {path: status for path, status in found.items() if status not in EXPECTED} == {}
    assert caplog.records == []
    assert (pod.replica.running, pod.replica.waiting, pod.meter.open) == (0, 0, set())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_path_answers_what_nobody_changed(engine: str) -> None:
    found = asyncio.run(ask_all(pod_by_hand(engine, speed=FASTEST), GOOD))
    assert len(found) >= 4
    # Those for embeddings refuse a model that makes texts.
    assert {path for path, status in found.items() if status != 200} <= {"/v1/embeddings"}
