"""From flags and files to what is asked about memory."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.shapes import Layers, Shape
from components.checks.memory.workloads.known import OwnShape
from tests.checks.memory.fleets import (
    GIB,
    QWEN,
    SMALL,
    Object,
    case,
    inference_service,
    leader_worker_set,
    llmkube_model,
    only,
    open_model,
    playground,
    pod,
)


def serving(*flags: str, node: str = "g6e.12xlarge", gpus: int = 4, model: str = QWEN) -> MemoryCase:
    return case(leader_worker_set(pod(node, ["vllm", "serve", model, *flags], gpus)))


def test_accelerators_that_an_engine_does_not_use_do_not_count() -> None:
    assert serving().parallel == Parallel()
    assert serving("-tp", "4").parallel == Parallel(4)


def test_tgi_uses_all_accelerators_by_itself() -> None:
    found = case(open_model(gpus=4, types=("g6.12xlarge",)), playground(backend="tgi"))
    assert found.parallel == Parallel(4)


def test_the_cache_and_the_share_are_those_of_the_flags() -> None:
    assert serving("--kv-cache-dtype", "fp8").cache_bytes == 1
    assert serving("--gpu-memory-utilization", "0.8").share == Decimal("0.8")
    assert serving().cache_bytes == 2
    assert serving().share is None


def test_weights_are_converted_unless_they_are_quantized_already() -> None:
    assert serving("-q", "fp8").weights_dtype == "fp8"
    assert serving().weights_dtype == ""
    assert serving("-q", "fp8", "-tp", "4", model="Qwen/Qwen3-32B-FP8").weights_dtype == ""


def test_weights_that_stay_with_the_host() -> None:
    assert serving("--cpu-offload-gb", "2").offloaded_bytes == 2 * GIB
    assert serving().offloaded_bytes == 0


def test_a_draft_model_shares_the_accelerators() -> None:
    found = serving("-tp", "4", "--speculative-config", '{"model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 3}')
    assert found.draft
    assert (found.draft.name, found.draft_tensor) == ("Qwen/Qwen3-0.6B", 4)
    text = only(
        leader_worker_set(pod("g6e.2xlarge", ["vllm", "serve", QWEN, "--speculative-config", '{"model": "a/b"}']))
    ).text
    assert text == "not checked: unknown model a/b; describe it in modelShapes"


def test_adapters_are_counted() -> None:
    found = serving("--enable-lora", "--max-loras", "2", "--max-lora-rank", "32")
    assert (found.adapters, found.adapter_rank) == (2, 32)


def test_a_server_that_decides_about_the_context_reserves_none() -> None:
    assert serving("--max-model-len", "auto").budget.reserves_context is False
    assert serving().budget.reserves_context is True


GGUF = "https://huggingface.co/org/small-GGUF/resolve/main/small.Q4_K_M.gguf"
FILE_NAMES = ("small.Q4_K_M.gguf", "org/small-GGUF/small.Q4_K_M.gguf", "org/small-GGUF")
SIZED = OwnShape(SMALL, is_sized=True)


def gguf(
    own: str = "small.Q4_K_M.gguf", count: int = 1, node: str = "g6.2xlarge", gpu: Object | None = None, **spec: Any
) -> MemoryCase:
    documents = (
        llmkube_model(GGUF, count, **(gpu or {})),
        inference_service(node, "llamacpp", **{"endpoint": {}, "contextSize": 8192, **spec}),
    )
    return case(*documents, own={own: SIZED})


@pytest.mark.parametrize(
    ("build", "flags", "fit"),
    [(7407, [], Fit.TIGHT), (7407, ["-ngl", "99"], Fit.EXCEEDED), (7406, [], Fit.EXCEEDED)],
)
def test_new_builds_of_llama_cpp_keep_what_does_not_fit_on_the_host(build: int, flags: list[str], fit: Fit) -> None:
    template = pod("g6.2xlarge", ["/app/llama-server", "-m", "/models/big.gguf", "-c", "8192", *flags])
    template["spec"]["containers"][0]["image"] = f"ghcr.io/ggml-org/llama.cpp:server-cuda-b{build}"
    big = OwnShape(replace(SMALL, weights_bytes=40 * GIB), is_sized=True)
    verdict = only(leader_worker_set(template), own={"/models/big.gguf": big}).verdict
    assert verdict.fit is fit
    assert ("in host memory, which is slow" in verdict.reason) is (fit is Fit.TIGHT)


@pytest.mark.parametrize(
    ("name", "skip"),
    [
        (GGUF, True),  # else an init container puts the file somewhere else
        *((name, skip) for name in FILE_NAMES for skip in (True, False)),
    ],
)
def test_a_file_is_known_by_each_of_its_names(name: str, skip: bool) -> None:
    assert gguf(name, skipModelInit=skip).shape.weights_bytes == 4 * GIB


def test_a_shape_alone_does_not_say_how_large_a_file_is() -> None:
    documents = (llmkube_model(GGUF), inference_service("g6.2xlarge", "llamacpp", endpoint={}))
    found = only(*documents, own={"small.Q4_K_M.gguf": OwnShape(SMALL)})
    assert "the size of the file small.Q4_K_M.gguf is unknown" in found.text


def test_layers_are_divided_among_gpus_and_slots_share_the_context() -> None:
    found = gguf(count=4, node="g6.12xlarge", parallelSlots=4)
    assert found.parallel == Parallel(1, 4)
    assert (found.context, found.sequences) == (2048, 4)


def test_the_fullest_of_unequal_gpus_counts() -> None:
    layers = {"sharding": {"strategy": "layer", "layerSplit": ["0-23", "24-31"]}}
    found = gguf(count=2, node="g6.12xlarge", gpu=layers)
    # 24 of 32 layers are on the first one.
    assert (found.parallel, found.shape.weights_bytes) == (Parallel(), 3 * GIB)
    assert found.shape.layers == (Layers(24, 8, 128, 128),)


def test_layers_that_stay_with_the_host_do_not_count() -> None:
    found = gguf(gpu={"layers": 8})
    assert (found.shape.weights_bytes, found.shape.layers) == (GIB, (Layers(8, 8, 128, 128),))
    assert gguf(gpu={"layers": -1}).shape == gguf().shape == SMALL


def test_keys_and_values_of_two_types() -> None:
    # 34 and 18 bytes of 32 numbers each.
    assert gguf(cacheTypeK="q8_0", cacheTypeV="q4_0", flashAttention=True).cache_bytes == Decimal("0.8125")
    assert gguf(noKvOffload=True).cache_bytes == 0


def test_experts_that_stay_with_the_host() -> None:
    documents = (llmkube_model(GGUF), inference_service("g6.2xlarge", "llamacpp", endpoint={}, moeCPUOffload=True))
    shape = Shape("x", weights_bytes=16 * GIB, layers=SMALL.layers, expert_share=Decimal("0.75"), max_context=8192)
    found = case(*documents, own={"org/small-GGUF": OwnShape(shape, is_sized=True)})
    assert found.offloaded_bytes == 12 * GIB
    half = documents[0], inference_service("g6.2xlarge", "llamacpp", endpoint={}, moeCPULayers=16)
    assert case(*half, own={"org/small-GGUF": OwnShape(shape, is_sized=True)}).offloaded_bytes == 6 * GIB
    assert "experts" in only(*documents, own={"org/small-GGUF": SIZED}).text
