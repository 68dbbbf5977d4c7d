"""Servers of Text Embeddings Inference in the manifests of each family."""

from typing import Any

import pytest

from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.checks.memory.fleets import inference_service, leader_worker_set, llmkube_model, pod

QWEN = "Qwen/Qwen3-Embedding-0.6B"
IMAGE = "ghcr.io/huggingface/text-embeddings-inference"
Object = dict[str, Any]


def found(documents: list[Object]) -> dict[str, str]:
    planned = plan(objects(documents), Environment())
    rules = ("format-", "gpus-", "start-", "architecture-", "flags-")
    return {each.rule: each.reason for each in planned.problems if each.rule.startswith(rules)}


def group(
    tag: str, *args: str, node: str = "g6.2xlarge", gpus: int = 1, model: str = QWEN, **env: str
) -> list[Object]:
    template = pod(node, [], gpus)
    container = template["spec"]["containers"][0]
    del container["command"]
    container |= {"image": f"{IMAGE}:{tag}", "args": ["--model-id", model, *args]}
    container["env"] = [{"name": name, "value": value} for name, value in env.items()]
    return [leader_worker_set(template)]


def service(tag: str, *args: str, gpus: int = 1) -> list[Object]:
    fields: Object = {"runtime": "generic", "image": f"{IMAGE}:{tag}", "args": ["--model-id", QWEN, *args]}
    return [llmkube_model(QWEN, gpus), inference_service("g6.2xlarge", containerPort=80, **fields)]


@pytest.mark.parametrize("of", [group, service])
def test_an_image_for_another_gpu_does_not_start(of: Any) -> None:
    assert found(of("89-1.9")) == {}
    reason = found(of("hopper-1.9"))["format-unsupported"]
    assert "on g6.2xlarge (L4), the image of tei hopper-1.9 has no code for GPUs of compute capability 8.9" in reason
    assert reason.endswith(f"to {IMAGE}:89-1.9")


@pytest.mark.parametrize("of", [group, service])
def test_flags_of_every_release(of: Any) -> None:
    assert "use an image of 89-1.9.0 or later" in found(of("89-1.8", "--served-model-name", "m"))["flags-unsupported"]
    assert "does not take a value" in found(of("89-1.8", "--auto-truncate", "true"))["flags-malformed"]
    assert found(of("89-1.9", "--served-model-name", "m", "--auto-truncate", "true")) == {}


def test_models_that_a_release_does_not_have() -> None:
    reason = found(group("89-1.6"))["architecture-unsupported"]
    assert "the first release that can is 1.7.2" in reason
    assert reason.endswith(f"to {IMAGE}:89-1.7.2")
    # Also one that a variable names; images for CPUs run others with ONNX files.
    named = group("89-1.6", MODEL_ID=QWEN)
    named[0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["args"] = []
    assert "architecture-unsupported" in found(named)
    assert "architecture-unsupported" not in found(group("cpu-1.6"))


def test_only_the_first_gpu_is_used() -> None:
    reason = found(group("89-1.9", node="g6.12xlarge", gpus=4))["gpus-unused"]
    assert "uses only 1 of the 4 accelerators" in reason
    assert "request 1 accelerator" in reason


def test_an_image_for_cpus_uses_no_gpu() -> None:
    reason = found(group("cpu-1.9"))["gpus-unused"]
    assert "uses only 0 of the 1 accelerators" in reason
    assert f"to {IMAGE}:89-1.9, or request no accelerators" in reason


def test_batches_have_room_for_the_longest_input() -> None:
    reason = found(group("89-1.8"))["start-refused"]
    assert f"{QWEN} reads inputs of 32,768 tokens" in reason
    assert "found 16,384" in reason
    for args in (("--auto-truncate",), ("--max-batch-tokens", "32768")):
        assert found(group("89-1.8", *args)) == {}
    assert found(group("89-1.8", AUTO_TRUNCATE="true")) == {}
    # Inputs are cut by default since 1.9, and releases before 1.8.3 start.
    assert found(group("89-1.9")) == {}
    assert found(group("89-1.8.2")) == {}
    assert "start-refused" in found(group("89-1.9", "--auto-truncate", "false"))


def test_memory_is_not_checked_and_the_reason_is_given() -> None:
    (verdict,) = plan(objects(group("89-1.9")), Environment()).verdicts
    assert verdict.text == "not checked: no figures on the memory use of tei"
