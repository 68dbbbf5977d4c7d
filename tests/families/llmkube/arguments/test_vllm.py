"""Each field for vLLM, by version (LLMKube spec 2.2, 8)."""

import json

import pytest

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import FILE, VLLM, vllm, vllm_own


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ""),
        ({"maxModelLen": 100}, "--max-model-len 100"),
        ({"quantization": "compressed-tensors"}, "--quantization compressed-tensors"),
        ({"quantization": "awq"}, "--quantization awq"),
        ({"dtype": "bfloat16"}, "--dtype bfloat16"),
        ({"kvCacheDtype": "fp8_e5m2"}, "--kv-cache-dtype fp8_e5m2"),
        ({"kvCacheDtype": "auto"}, ""),
        ({"kvCacheCustomDtype": "turboquant_k8v4"}, "--kv-cache-dtype turboquant_k8v4"),
        ({"enablePrefixCaching": True}, "--enable-prefix-caching"),
        ({"enableChunkedPrefill": True}, "--enable-chunked-prefill"),
        ({"enableExpertParallel": True}, "--enable-expert-parallel"),
        ({"enableExpertParallel": False}, ""),
        ({"maxNumBatchedTokens": 512}, "--max-num-batched-tokens 512"),
        ({"attentionBackend": "flash_attn"}, "--attention-backend flash_attn"),
        ({"attentionBackend": "flashinfer"}, "--attention-backend flashinfer"),
        ({"cpuOffloadGB": 4}, "--cpu-offload-gb 4"),
        ({"gpuMemoryUtilization": 0.95}, "--gpu-memory-utilization 0.95"),
        ({"speculative": {"enabled": False, "model": "draft"}}, ""),
        ({"tensorParallelSize": 1}, ""),
    ],
)
def test_each_field_of_vllm(config: Document, expected: str) -> None:
    started = vllm(config)
    assert vllm_own(started) == expected.split()
    assert not started.problems


def test_slots_of_vllm_and_extra_args() -> None:
    assert vllm_own(vllm(spec={"parallelSlots": 3})) == ["--max-num-seqs", "3"]
    started = vllm(spec={"parallelSlots": 3, "extraArgs": ["--max_num_seqs=9"]})
    assert vllm_own(started) == ["--max_num_seqs=9"]
    assert set(started.warnings) == {"spec.parallelSlots"}


@pytest.mark.parametrize(
    ("size", "gpus", "expected", "error"),
    [
        (None, 1, [], False),
        (None, 4, ["4"], False),
        (4, 4, ["4"], False),
        (2, 4, ["2"], False),
        (1, 2, [], False),
        (1, 1, [], False),
        (1, 0, [], False),
        # The plan compares it with the GPUs of the pod.
        (8, 2, ["8"], False),
        (2, 0, ["2"], True),
        (0, 1, [], True),
    ],
)
def test_tensor_parallelism_and_gpus(size: int | None, gpus: int, expected: list[str], error: bool) -> None:
    started = vllm({} if size is None else {"tensorParallelSize": size}, gpus=gpus)
    assert vllm_own(started) == (["--tensor-parallel-size", *expected] if expected else [])
    assert set(started.errors) == ({"spec.vllmConfig.tensorParallelSize"} if error else set())
    assert not started.warnings


@pytest.mark.parametrize(
    "extra", [["-tp", "2"], ["--tensor-parallel-size=2"], ["-pp=2"], ["--data-parallel-size", "2"]]
)
def test_gpus_that_extra_args_distribute(extra: list[str]) -> None:
    """Deviation: upstream adds all GPUs as tensor parallelism beside it."""
    assert vllm_own(vllm(gpus=2, spec={"extraArgs": extra})) == extra


@pytest.mark.parametrize(
    ("field", "flag"),
    [("enablePrefixCaching", "--no-enable-prefix-caching"), ("enableChunkedPrefill", "--no-enable-chunked-prefill")],
)
def test_false_is_the_default_of_vllm_and_said_to_be_on(field: str, flag: str) -> None:
    """The contract: with false, vLLM's own default is used, and no flag is emitted."""
    started = vllm({field: False})
    assert vllm_own(started) == []
    assert flag in started.warnings[f"spec.vllmConfig.{field}"]
    assert not vllm({field: False}, image=f"{VLLM}v0.7.3").problems
    assert vllm_own(vllm({field: False}, spec={"extraArgs": [flag]})) == [flag]
    assert not vllm({field: False}, spec={"extraArgs": [flag]}).problems


@pytest.mark.parametrize(
    ("tag", "flag", "variable"),
    [("v0.13.0", True, False), ("latest", True, False), ("v0.12.0", False, True), ("v0.11.0", False, True)],
)
def test_the_attention_backend_is_a_flag_or_a_variable(tag: str, flag: bool, variable: bool) -> None:
    started = vllm({"attentionBackend": "flashinfer"}, image=f"{VLLM}{tag}")
    assert vllm_own(started) == (["--attention-backend", "flashinfer"] if flag else [])
    expected = [{"name": "VLLM_ATTENTION_BACKEND", "value": "FLASHINFER"}] if variable else []
    assert started.result.env == expected


def test_experts_in_parallel_need_a_version_that_knows_them() -> None:
    """The flag came with vLLM 0.8.0 (pull request 14305)."""
    path = "spec.vllmConfig.enableExpertParallel"
    assert set(vllm({"enableExpertParallel": True}, image=f"{VLLM}v0.7.3").errors) == {path}
    assert not vllm({"enableExpertParallel": True}, image=f"{VLLM}v0.8.0").problems


@pytest.mark.parametrize("backend", ["XFORMERS", "xformers", "torch_sdpa"])
def test_attention_backends_that_are_gone(backend: str) -> None:
    started = vllm({"attentionBackend": backend})
    assert "FLASH_ATTN" in started.errors["spec.vllmConfig.attentionBackend"]
    assert not vllm({"attentionBackend": backend}, image=f"{VLLM}v0.8.0").problems


@pytest.mark.parametrize(
    ("field", "value", "successor", "flag"),
    [
        ("quantization", "squeezellm", "awq", "--quantization"),
        ("quantization", "nvfp4", "modelopt_fp4", "--quantization"),
        ("kvCacheCustomDtype", "turbo2", "turboquant_k8v4", "--kv-cache-dtype"),
    ],
)
def test_values_that_vllm_does_not_know_name_their_successor(
    field: str, value: str, successor: str, flag: str
) -> None:
    started = vllm({field: value})
    assert vllm_own(started) == [flag, value]
    assert successor in started.warnings[f"spec.vllmConfig.{field}"]
    assert not started.errors


def test_a_custom_type_of_the_cache_wins() -> None:
    started = vllm({"kvCacheDtype": "fp8_e4m3", "kvCacheCustomDtype": "turboquant_k8v4"})
    assert vllm_own(started) == ["--kv-cache-dtype", "turboquant_k8v4"]
    assert set(started.warnings) == {"spec.vllmConfig.kvCacheDtype"}


@pytest.mark.parametrize(("length", "wrong"), [(-1, False), (1, False), (0, True), (-2, True)])
def test_length_of_the_context(length: int, wrong: bool) -> None:
    assert ("spec.vllmConfig.maxModelLen" in vllm({"maxModelLen": length}).errors) == wrong


def test_a_draft_for_a_version_with_single_flags() -> None:
    config = {"speculative": {"enabled": True, "model": "draft", "numSpeculativeTokens": 3}}
    started = vllm(config, image=f"{VLLM}v0.7.3", drafts={"draft": "org/small"})
    assert vllm_own(started) == ["--speculative-model", "org/small", "--num-speculative-tokens", "3"]
    assert not started.problems


@pytest.mark.parametrize(
    ("served", "path", "source", "expected"),
    [
        ("org/repo", "", "org/small", "org/small"),
        ("org/repo", "", "/baked/small", "/baked/small"),
        ("org/repo", "", "file:///baked/small", "/baked/small"),
        ("pvc://claim/big", "/model-source/big", "pvc://claim/dir/small", "/model-source/dir/small"),
    ],
)
def test_a_draft_is_its_source_or_its_path(served: str, path: str, source: str, expected: str) -> None:
    config = {"speculative": {"enabled": True, "model": "draft"}}
    started = vllm(config, source=served, path=path, drafts={"draft": source})
    assert json.loads(started.args[-1])["model"] == expected
    assert not started.problems


@pytest.mark.parametrize(
    ("model", "drafts"),
    [
        ("other", {"draft": "org/small"}),
        ("draft", {"draft": "https://example.com/small.gguf"}),
        ("draft", {"draft": "pvc://claim/small"}),
        ("draft", {"draft": "pvc://"}),
    ],
)
def test_a_draft_that_is_not_there(model: str, drafts: dict[str, str]) -> None:
    started = vllm({"speculative": {"enabled": True, "model": model}}, drafts=drafts)
    assert vllm_own(started) == []
    assert set(started.errors) == {"spec.vllmConfig.speculative.model"}


def test_a_draft_in_a_claim_that_is_not_mounted() -> None:
    config = {"speculative": {"enabled": True, "model": "draft"}}
    started = vllm(config, source="pvc://claim/big", drafts={"draft": "pvc://claim/small"})
    assert set(started.errors) == {"spec.vllmConfig.speculative.model"}


@pytest.mark.parametrize("speculative", [{"enabled": True}, {"enabled": True, "model": ""}, {"model": "draft"}])
def test_speculative_decoding_that_is_left_out(speculative: Document) -> None:
    started = vllm({"speculative": speculative}, drafts={"draft": "org/small"})
    assert vllm_own(started) == []
    assert not started.errors
    assert set(started.warnings) == {"spec.vllmConfig.speculative.model"}


@pytest.mark.parametrize(
    ("source", "path", "first", "wrong"),
    [
        ("org/repo", "", "org/repo", False),
        ("/baked", "", "/baked", False),
        ("file:///baked", "", "/baked", False),
        ("https://example.com/m.gguf", FILE, FILE, False),
        ("https://example.com/m.gguf", "", "https://example.com/m.gguf", True),
    ],
)
def test_what_vllm_loads(source: str, path: str, first: str, wrong: bool) -> None:
    started = vllm(spec={"skipModelInit": True}, source=source, path=path)
    assert started.args[0] == first
    assert set(started.errors) == ({"spec.skipModelInit"} if wrong else set())
