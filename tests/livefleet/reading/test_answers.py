"""Every workload of the shipped local stack answers, and exports what its autoscalers read."""

import re
from typing import Any

from livefleet.fleet import LiveFleet, ServedWorkload, Speaks
from livefleet.pods.pod import SimulatedClock
from livefleet.standalone import replica_of
from tests.livefleet.apis.asking import FAST, Client, asked


def answer_and_page(workload: ServedWorkload) -> tuple[int, Any, str]:
    """Ask a pod of a workload as clients do; return status and answer, and its metrics."""
    model = workload.models[0]
    messages = [{"role": "user", "content": "Hello!"}]
    path = "/v1/chat/completions"
    body: dict[str, Any] = {"model": model, "messages": messages}
    if workload.embeds:
        path, body = "/v1/embeddings", {"model": model, "input": "Hello!"}
    elif workload.speaks is Speaks.OLLAMA:
        path, body = "/api/chat", {"model": model, "messages": messages, "stream": False}

    async def ask(client: Client) -> tuple[int, Any, str]:
        status, found = await client.post(path, body)
        return status, found, (await client.get("/metrics"))[1]

    return asked(replica_of(workload, SimulatedClock(FAST)), ask)


def test_every_workload_answers_in_its_own_api(fleet: LiveFleet) -> None:
    assert {workload.engine for workload in fleet.workloads} >= {"vllm", "sglang", "tgi", "llamacpp", "ollama"}
    found = {f"{each.namespace}/{each.name}": answer_and_page(each) for each in fleet.workloads}
    assert {place: answer for place, (status, answer, _) in found.items() if status != 200} == {}


def test_autoscalers_find_the_series_that_they_read(fleet: LiveFleet) -> None:
    pages = [answer_and_page(each)[2] for each in fleet.workloads]
    series = {name for page in pages for name in re.findall(r"^([\w:]+)(?:\{| )", page, re.MULTILINE)}
    rules = [*fleet.rules.get("custom", ()), *fleet.rules.get("external", ())]
    read = {name for rule in rules for name in re.findall(r'__name__="([\w:]+)"', rule["seriesQuery"])}
    assert read >= {"vllm:num_requests_running", "vllm:num_requests_waiting"}
    assert read - series == set()
