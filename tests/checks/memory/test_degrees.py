"""Accelerators that engines are configured to use, by every way to pass arguments, and those that their pods have."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from components.families import objects
from components.fleet.prices import Quote
from components.plan.costs.prices import OwnPrices
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.checks.memory.fleets import inference_service, leader_worker_set, llmkube_model, pod
from tests.plan.remedies.manifests import QWEN, Spec

Object = dict[str, Any]
NODE = "g6e.12xlarge"
VLLM = Spec("serving", "vllm", "v0.20.0", QWEN, NODE, 2, ["--max-model-len", "8192"])
SGLANG = replace(VLLM, engine="sglang", version="v0.5.9", args=["--context-length", "8192"])
GGUF = "bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M"


def found(documents: list[Object], environment: Environment | None = None) -> list[tuple[str, str, str]]:
    problems = plan(objects(documents), environment or Environment()).problems
    return [(each.rule, each.path, each.reason) for each in problems if each.rule.startswith("gpus-")]


def of(spec: Spec, *args: str, **changes: Any) -> list[Object]:
    return replace(spec, args=[*spec.args, *args], **changes).documents()


def container(image: str, command: list[str], **env: str) -> list[Object]:
    template = pod("g6.12xlarge", command, 2)
    variables = [{"name": name, "value": value} for name, value in env.items()]
    template["spec"]["containers"][0].update(image=image, env=variables)
    return [leader_worker_set(template)]


def llama(*args: str, **env: str) -> list[Object]:
    image = "ghcr.io/ggml-org/llama.cpp:server-cuda-b8500"
    return container(image, ["llama-server", "-hf", GGUF, "-c", "8192", *args], **env)


def tgi(*args: str, **env: str) -> list[Object]:
    image = "ghcr.io/huggingface/text-generation-inference:3.3.6"
    return container(image, ["text-generation-launcher", "--model-id", QWEN, *args], **env)


def llmkube(gpus: int = 2, **fields: Any) -> list[Object]:
    return [llmkube_model(QWEN, gpus), inference_service(NODE, image="vllm/vllm-openai:v0.20.0", **fields)]


TENSOR = ("--tensor-parallel-size", "4")
TOO_MANY = [
    (of(VLLM, *TENSOR), "set --tensor-parallel-size to 2, or request 4 accelerators"),
    (of(VLLM, *TENSOR, way="command"), "set --tensor-parallel-size to 2"),
    (of(VLLM, *TENSOR, way="script"), "set --tensor-parallel-size to 2"),
    (of(VLLM, *TENSOR, family="lws"), "set --tensor-parallel-size to 2"),
    (of(VLLM, *TENSOR, family="llmaz"), "set --tensor-parallel-size to 2 in spec.backendRuntimeConfig.args"),
    (of(VLLM, *TENSOR, family="booster"), "set config: {tensor-parallel-size: 2}"),
    (of(VLLM, *TENSOR, family="llmkube"), "set --tensor-parallel-size to 2 in spec.extraArgs"),
    (llmkube(vllmConfig={"tensorParallelSize": 4}), "set spec.vllmConfig.tensorParallelSize to 2"),
    (of(VLLM, "--data-parallel-size", "4"), "set --data-parallel-size to 2, or request 4 accelerators"),
    (of(VLLM, "--data-parallel-size", "8", "--data-parallel-size-local", "4"), "needs 4 accelerators"),
    (of(VLLM, "--pipeline-parallel-size", "4"), "needs 4 accelerators (--pipeline-parallel-size 4)"),
    (of(VLLM, "--pipeline-parallel-size", "8"), "lower it, or request more accelerators"),
    # "--kv-cache-memory-bytes gives the cache a size of its own": memory is not known, but degrees are.
    (of(VLLM, *TENSOR, "--kv-cache-memory-bytes", "1G"), "set --tensor-parallel-size to 2"),
    (of(VLLM, "--tensor-parallel-size", "$(DEGREE)", env={"DEGREE": "4"}), "set --tensor-parallel-size to 2"),
    (of(VLLM, "--tensor-parallel-size", "$DEGREE", way="script", env={"DEGREE": "4"}), "needs 4 accelerators"),
    (of(VLLM, "-tp", "${DEGREE}", family="lws", way="script", env={"DEGREE": "4"}), "needs 4 accelerators"),
    (of(SGLANG, "--tp", "4"), "set --tp-size to 2, or request 4 accelerators"),
    (of(SGLANG, "--tp", "2", "--dp", "2"), "set --dp-size to 1, or request 4 accelerators"),
    (of(SGLANG, "--tp", "4", "--dp", "2", "--enable-dp-attention"), "set --tp-size to 2, or request 4 accelerators"),
    # The ranks of attention divide those of the model.
    (of(SGLANG, "--tp", "4", "--dp", "4", "--enable-dp-attention"), "request 4 accelerators"),
    (tgi("--num-shard", "4"), "set --num-shard to 2, or request 4 accelerators"),
    (tgi(NUM_SHARD="4"), "add --num-shard 2, or request 4 accelerators"),
    (llama("--device", "CUDA0,CUDA2"), "--device names device 2, but a pod has 2 accelerators, so that"),
    (llama("--split-mode", "none", "--main-gpu", "2"), "--main-gpu is 2, but a pod has 2 accelerators, so that"),
    (llama("-sm", "none", LLAMA_ARG_MAIN_GPU="3"), "add --main-gpu 0"),
    (llama("--tensor-split", "3,1,1"), "has 3 shares, and those after number 2 are ignored, but a pod has 2"),
    (llama(LLAMA_ARG_TENSOR_SPLIT="1,1,1,1"), "add --tensor-split 1,1"),
]
IDLE = [
    (of(VLLM), 1, "add --tensor-parallel-size 2, or request 1 accelerator"),
    (of(VLLM, gpus=4), 1, "only 1 of the 4"),
    (
        of(VLLM, "--tensor-parallel-size", "2", gpus=4),
        2,
        "set --tensor-parallel-size to 4",
    ),
    (of(VLLM, family="llmaz"), 1, "add params: {TP: '2'}, or request 1 accelerator"),
    (of(VLLM, family="booster"), 1, "set config: {tensor-parallel-size: 2}, or request 1 accelerator"),
    (
        of(VLLM, "--tensor-parallel-size", "1", family="llmkube"),
        1,
        "set --tensor-parallel-size to 2 in spec.extraArgs",
    ),
    (llmkube(vllmConfig={"tensorParallelSize": 1}), 1, "set spec.vllmConfig.tensorParallelSize to 2"),
    (of(SGLANG), 1, "add --tp-size 2, or request 1 accelerator"),
    (tgi("--num-shard", "1"), 1, "set --num-shard to 2"),
    (tgi("--sharded", "false"), 1, "add --num-shard 2"),
    (llama("--split-mode", "none"), 1, "remove --split-mode, or request 1 accelerator"),
    (llama("--device", "CUDA1"), 1, "remove --device, or request 1 accelerator"),
    (llama("--tensor-split", "1,0"), 1, "remove --tensor-split, or request 1 accelerator"),
    (llama("-ts", "1"), 1, "remove --tensor-split"),
]
RIGHT = [
    of(VLLM, "--tensor-parallel-size", "2"),
    of(VLLM, "--data-parallel-size", "2"),
    of(VLLM, "--pipeline-parallel-size", "2"),
    of(VLLM, gpus=1),
    # Copies in other pods, and degrees in a file or a variable.
    of(VLLM, "--data-parallel-size", "8", "--data-parallel-rank", "3", "--tensor-parallel-size", "2"),
    of(VLLM, "--data-parallel-size", "8", "--data-parallel-size-local", "2"),
    of(VLLM, "--data-parallel-size", "8", "--data-parallel-size-local", "0"),
    of(VLLM, "--config", "/config/vllm.yaml"),
    of(VLLM, "--tensor-parallel-size", "$(DEGREE)"),
    of(VLLM, "--tensor-parallel-size", "$(DEGREE)", env={"DEGREE": "2"}),
    of(VLLM, "--tensor-parallel-size", "$DEGREE", env={"DEGREE": "4"}),
    of(VLLM, "--prefill-context-parallel-size", "2"),
    of(VLLM, "--own-flag", "2"),
    of(SGLANG, "--tp", "2", "--dp", "2", "--enable-dp-attention"),
    of(SGLANG, "--dp", "2"),
    tgi(),
    llama(),
    llama("--tensor-split", "3,1"),
    llama("--split-mode", "none", "--rpc", "host:50052"),
    llama("--device", "CUDA0,CUDA1"),
    llmkube(),
]


@pytest.mark.parametrize(("documents", "text"), TOO_MANY)
def test_more_accelerators_than_a_pod_has(documents: list[Object], text: str) -> None:
    ((rule, _, reason),) = found(documents)
    assert rule == "gpus-mismatch"
    assert text in reason


@pytest.mark.parametrize(("documents", "used", "text"), IDLE)
def test_accelerators_that_stay_idle(documents: list[Object], used: int, text: str) -> None:
    ((rule, _, reason),) = found(documents)
    assert rule == "gpus-unused"
    assert f"uses only {used} of the " in reason
    assert text in reason


@pytest.mark.parametrize("documents", RIGHT)
def test_degrees_that_fit_or_are_not_known(documents: list[Object]) -> None:
    assert found(documents) == []


def test_what_idle_accelerators_cost_has_the_price_of_the_plan() -> None:
    """Three of the four accelerators of a node, 730 hours a month."""
    documents = of(VLLM, gpus=4)
    assert "so that $5,745 a month are wasted" in found(documents)[0][2]
    quote = Quote(Decimal(4), Decimal(4), Decimal(4), "2026-01-01", "a contract")
    own = OwnPrices(instances={("us-east-1", NODE, "on-demand"): quote})
    assert "so that $2,190 a month are wasted" in found(documents, Environment(prices=own))[0][2]
    # A type without a price.
    documents[0]["spec"]["template"]["roles"][0]["entryTemplate"]["spec"].pop("nodeSelector")
    assert "wasted" not in found(documents)[0][2]


EXPERTS = "--enable-expert-parallel"
MIXTURE = "Qwen/Qwen3-30B-A3B"


@pytest.mark.parametrize(
    ("documents", "count"),
    [
        # "Number of experts in the model must be greater than 0 when expert parallelism is enabled."
        (of(VLLM, "-tp", "2", EXPERTS), 1),
        (of(VLLM, "-tp", "2", EXPERTS, way="script"), 1),
        (of(VLLM, "-tp", "2", f"--no-{EXPERTS[2:]}"), 0),
        (of(VLLM, "-tp", "2", EXPERTS, model=MIXTURE), 0),
        (of(SGLANG, "--tp", "2", "--ep-size", "2"), 0),
    ],
)
def test_expert_parallelism_of_a_model_without_experts(documents: list[Object], count: int) -> None:
    problems = plan(objects(documents), Environment()).problems
    assert sum("has no experts" in problem.reason for problem in problems) == count


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["vllm", "serve", QWEN, "--no-such-flag", "1"], "command[3]"),
        (["vllm", "serve", QWEN, "--max-model-len", "8192", "--calculate-kv-scales"], "command[5]"),
        (["vllm", "serve", QWEN, "--max-model-len", "8192"], ""),
    ],
)
def test_flags_in_the_command_are_checked_as_those_in_args(words: list[str], path: str) -> None:
    problems = plan(objects(container("vllm/vllm-openai:v0.28.0", words)), Environment()).problems
    found = [problem.path.rpartition(".")[2] for problem in problems if problem.rule.startswith("flags-")]
    assert found == ([path] if path else [])
