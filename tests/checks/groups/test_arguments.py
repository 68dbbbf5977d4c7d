"""The arguments of engines on several nodes, and the group that runs them."""

from typing import Any

import pytest

from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.kthena.serving.support import engine, model_serving, pods, role

Object = dict[str, Any]
VLLM, SGLANG, TENSORRT = (
    "vllm/vllm-openai:v0.20.0",
    "lmsysorg/sglang:v0.5.9",
    "nvcr.io/nvidia/tensorrt-llm:1.0.0",
)
SERVE = ["vllm", "serve", "Qwen/Qwen2.5-72B-Instruct"]
SGLANG_SERVE = ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen2.5-72B-Instruct"]
MODULE = ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "Qwen/Qwen2.5-72B-Instruct"]
DEGREES = ["--tensor-parallel-size", "4", "--pipeline-parallel-size", "2"]
INDEX = "$(LWS_WORKER_INDEX)"


def container(*args: str, command: list[str] | None = None, image: str = VLLM, gpus: int = 4) -> Object:
    limits = {"limits": {"nvidia.com/gpu": gpus}} if gpus else {}
    name = {"name": "engine", "image": image, "command": command or SERVE, "args": list(args)}
    return {**name, "resources": limits, "ports": [{"containerPort": 8000}]}


def group(leader: Object, worker: Object | None, size: int = 2) -> Object:
    template: Object = {"size": size, "workerTemplate": {"spec": {"containers": [worker or leader]}}}
    if worker is not None:
        template["leaderTemplate"] = {"spec": {"containers": [leader]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": template},
    }


def found(document: Object, rule: str = "groups-mismatch", **options: Any) -> list[tuple[str, str]]:
    planned = plan(objects([document]), Environment(options=Options(**options)))
    return [(each.path.removeprefix("spec."), each.reason) for each in planned.problems if each.rule == rule]


def nodes(count: int | str, rank: int | str, *more: str) -> list[str]:
    address = "$(LWS_LEADER_ADDRESS)"
    return [*DEGREES, "--nnodes", str(count), "--node-rank", str(rank), "--master-addr", address, *more]


RIGHT = [
    (container(*nodes(2, 0)), container(*nodes(2, INDEX, "--headless")), 2),
    (container(*nodes(2, INDEX)), container(*nodes(2, 1, "--headless")), 2),
    (container(*nodes("$(LWS_GROUP_SIZE)", 0)), container(*nodes("$(LWS_GROUP_SIZE)", INDEX, "--headless")), 2),
    (container(*DEGREES), container(*DEGREES), 2),  # joined by other means
    (container("--tensor-parallel-size", "4"), None, 1),
]


@pytest.mark.parametrize(("leader", "worker", "size"), RIGHT)
def test_a_group_that_its_arguments_describe(leader: Object, worker: Object | None, size: int) -> None:
    document = group(leader, worker, size)
    assert found(document) == found(document, "gpus-mismatch") == []


WORKER = container(*nodes(2, INDEX, "--headless"))
WRONG = [
    (container(*nodes(3, 0)), WORKER, 2, "leaderTemplate", "--nnodes is 3, but a replica has 2 pods"),
    (container(*nodes(2, 0)), None, 1, "workerTemplate", "--nnodes is 2, but a replica has 1 pod,"),
    (container(*nodes(2, 1)), WORKER, 2, "leaderTemplate", "--node-rank is 1 in the leader"),
    (container(*nodes(2, 0, "--headless")), WORKER, 2, "leaderTemplate", "starts no API server"),
    (container(*nodes(2, 0)), container(*nodes(2, 0, "--headless")), 2, "workerTemplate", "--node-rank is 0"),
    (
        container(*nodes(3, 0)),
        container(*nodes(3, 1, "--headless")),
        3,
        "workerTemplate",
        "--node-rank is 1 in every",
    ),
    (container(*nodes(2, 0)), container(*nodes(2, INDEX)), 2, "workerTemplate", "--headless is missing"),
    (
        container(*nodes(2, 0), command=MODULE),
        container(*nodes(2, INDEX, "--headless"), command=MODULE),
        2,
        "workerTemplate",
        "is ignored by vllm.entrypoints.openai.api_server",
    ),
    (container(*nodes(2, INDEX)), None, 2, "workerTemplate", "in a template of their own"),
]


@pytest.mark.parametrize(("leader", "worker", "size", "place", "text"), WRONG)
def test_a_group_that_its_arguments_do_not_describe(
    leader: Object, worker: Object | None, size: int, place: str, text: str
) -> None:
    problems = found(group(leader, worker, size))
    assert [place in path for path, reason in problems if text in reason] == [True]


def test_followers_of_sglang_need_ranks_and_no_switch() -> None:
    def server(count: int, rank: str) -> Object:
        args = ["--tp", "4", "--pp-size", "2", "--nnodes", str(count), "--node-rank", rank]
        args += ["--dist-init-addr", "$(LWS_LEADER_ADDRESS):20000"]
        return container(*args, command=SGLANG_SERVE, image=SGLANG)

    assert found(group(server(2, INDEX), None)) == []
    ((_, ranks),) = found(group(server(2, "0"), None))
    assert "--node-rank is 0 in every pod" in ranks
    assert "--nnodes is 3" in found(group(server(3, INDEX), None))[0][1]


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (container("--tensor-parallel-size", "8"), "needs 8 accelerators (--tensor-parallel-size 8)"),
        (container("--tensor-parallel-size", "4"), ""),
        (container("--tensor-parallel-size", "2"), ""),
        (container("--tensor-parallel-size", "8", gpus=0), ""),
        (container(*DEGREES), "--pipeline-parallel-size 2"),
        (container("--tp", "8", command=SGLANG_SERVE, image=SGLANG), "needs 8 accelerators"),
        (container("--tp", "4", "--dp", "4", "--enable-dp-attention", command=SGLANG_SERVE, image=SGLANG), ""),
        (container("m", "--tp_size", "8", command=["trtllm-serve"], image=TENSORRT), "needs 8 accelerators"),
        (container("m", "--tp_size", "4", command=["trtllm-serve"], image=TENSORRT), ""),
    ],
)
def test_the_world_of_an_engine_is_at_most_the_accelerators(server: Object, expected: str) -> None:
    problems = found(group(server, None, 1), "gpus-mismatch")
    assert [expected in reason for _, reason in problems] == [True] * bool(expected)


def test_each_node_has_its_share_of_the_world() -> None:
    uneven = ["--tensor-parallel-size", "3", "--pipeline-parallel-size", "1", "--nnodes", "2", "--node-rank"]
    document = group(container(*uneven, "0"), container(*uneven, "1", "--headless"))
    ((_, reason),) = found(document, "gpus-mismatch")
    assert "on 2 nodes" in reason


@pytest.mark.parametrize(
    ("realization", "expected"),
    [(Realization.NATIVE, []), (Realization.OPERATOR, ["Kthena's controller sets $(ENTRY_ADDRESS)"])],
)
def test_variables_of_another_controller_stay_as_they_are(realization: Realization, expected: list[str]) -> None:
    address = engine("--x", "$(LWS_LEADER_ADDRESS)", image="example.com/own:1")
    document = model_serving("ms", role("a", 1, workerTemplate=pods(address)))
    reasons = [reason for _, reason in found(document, "reference-elsewhere", realization=realization)]
    assert [text in reason for reason, text in zip(reasons, expected, strict=True)] == [True] * len(expected)
