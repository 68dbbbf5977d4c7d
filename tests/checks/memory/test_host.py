"""A second cache in host memory, and /dev/shm for the processes of several GPUs."""

from dataclasses import replace
from typing import Any

import pytest

from components.families import objects
from components.plan.plan import plan
from tests.checks.memory.fleets import inference_service, leader_worker_set, llmkube_model, pod
from tests.plan.remedies.manifests import QWEN, Spec

Object = dict[str, Any]
NODE = "g6e.12xlarge"
SGLANG = Spec("serving", "sglang", "v0.5.9", QWEN, NODE, 2, ["--context-length", "8192", "--tp-size", "2"])
VLLM = replace(SGLANG, engine="vllm", version="v0.20.0", args=["--max-model-len", "8192", "-tp", "2"])
CACHE, SHARED = "memory-host-exceeded", "memory-shared-small"


def found(documents: list[Object], rule: str) -> list[str]:
    return [each.reason for each in plan(objects(documents)).problems if each.rule == rule]


def cached(*args: str, memory: str = "", **changes: Any) -> list[Object]:
    words = [*SGLANG.args, "--enable-hierarchical-cache", *args]
    return replace(SGLANG, args=words, memory=memory, **changes).documents()


@pytest.mark.parametrize(
    ("documents", "text"),
    [
        # Each of the two ranks has 20 GB.
        (cached("--hicache-size", "20", memory="32Gi"), "18.6 GiB in host memory for each accelerator, 37.3 GiB in"),
        (cached("--hicache-size", "20", memory="32Gi"), "raise the memory limit to 54Gi, or remove --enable-hier"),
        (cached("--hicache-size", "20", memory="32Gi", family="lws", way="script"), "raise the memory limit to 54Gi"),
        # llmaz limits every server to 8 GiB.
        (cached("--hicache-size", "20", family="llmaz"), "the memory limit of container 'model-runner' is 8Gi"),
        # "Not enough host memory available": the node has 384 GiB.
        (cached("--hicache-size", "300"), "g6e.12xlarge has 351.7 GiB for pods"),
        (cached("--hicache-size", "300"), "; remove --enable-hierarchical-cache"),
        # By default twice the cache on the GPU, which takes what weights leave.
        (cached(memory="32Gi"), "the memory limit of container 'engine' is 32Gi"),
        (cached("--hicache-ratio", "4", memory="64Gi"), "the memory limit of container 'engine' is 64Gi"),
    ],
)
def test_a_cache_that_host_memory_does_not_hold(documents: list[Object], text: str) -> None:
    (reason,) = found(documents, CACHE)
    assert text in reason


@pytest.mark.parametrize(
    "documents",
    [
        cached("--hicache-size", "20", memory="64Gi"),
        cached("--hicache-size", "20"),
        cached("--hicache-size", "$(SIZE)", memory="32Gi"),
        # The default is unknown where the release sets another one.
        cached(memory="32Gi", version="v0.5.18"),
        cached(memory="32Gi", version="latest"),
        replace(SGLANG, args=[*SGLANG.args, "--hicache-size", "20"], memory="32Gi").documents(),
        # Not known to count against the limit.
        replace(VLLM, args=[*VLLM.args, "--swap-space", "64"], memory="32Gi", version="v0.9.2").documents(),
    ],
)
def test_a_cache_that_host_memory_holds_or_of_unknown_size(documents: list[Object]) -> None:
    assert found(documents, CACHE) == []


def mounted(volume: Object, path: str = "/dev/shm") -> list[Object]:
    template = pod(NODE, ["vllm", "serve", QWEN, "-tp", "2"], 2)
    template["spec"]["volumes"] = [{"name": "shm", **volume}]
    template["spec"]["containers"][0]["volumeMounts"] = [{"name": "shm", "mountPath": path}]
    return [leader_worker_set(template)]


def of_node() -> list[Object]:
    template = pod(NODE, ["vllm", "serve", QWEN, "-tp", "2"], 2)
    template["spec"]["hostIPC"] = True
    return [leader_worker_set(template)]


MEMORY: Object = {"emptyDir": {"medium": "Memory"}}
TGI_IMAGE = "ghcr.io/huggingface/text-generation-inference:3.3.6"


def tgi(*args: str) -> list[Object]:
    template = pod(NODE, ["text-generation-launcher", "--model-id", QWEN, *args], 2)
    template["spec"]["containers"][0]["image"] = TGI_IMAGE
    return [leader_worker_set(template)]


@pytest.mark.parametrize(
    ("documents", "step"),
    [
        (VLLM.documents(), "add {name: dshm, emptyDir: {medium: Memory}} to the volumes of the pod"),
        (SGLANG.documents(), "to the volumeMounts of container 'engine'"),
        (tgi(), "which the processes of 2 accelerators share"),
        (mounted(MEMORY, "/data"), "add {name: dshm"),
        (
            replace(VLLM, engine="tgi", family="llmaz", version="3.3.6", args=[]).documents(),
            "set spec.backendRuntimeConfig.sharedMemorySize to 2Gi",
        ),
    ],
)
def test_several_gpus_share_a_small_volume(documents: list[Object], step: str) -> None:
    (reason,) = found(documents, SHARED)
    assert step in reason


@pytest.mark.parametrize(
    "documents",
    [
        mounted(MEMORY),
        mounted({"hostPath": {"path": "/dev/shm"}}, "/dev/shm/"),
        of_node(),
        tgi("--num-shard", "1"),
        replace(VLLM, args=["--max-model-len", "8192"], gpus=1).documents(),
        # Copies of a model exchange nothing.
        replace(VLLM, args=["--data-parallel-size", "2"]).documents(),
        replace(VLLM, args=["-tp", "$(DEGREE)"]).documents(),
        replace(VLLM, family="llmaz").documents(),
        replace(VLLM, family="booster", args=["--tensor-parallel-size", "2"]).documents(),
        [llmkube_model(QWEN, 2), inference_service(NODE, image="vllm/vllm-openai:v0.20.0")],
    ],
)
def test_enough_shared_memory_or_no_need_of_it(documents: list[Object]) -> None:
    assert found(documents, SHARED) == []
