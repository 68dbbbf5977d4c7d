# ruff: noqa: E501 - tables of values
"""Rules of LLMKube (spec 1.1-1.4): documents that pass and that do not, what is said, stored and read back."""

from typing import Any

import pytest

from components.contract.checking import check
from components.contract.schema.narrowing import schema_graph
from components.families.llmkube.types.inference_service import InferenceService
from tests.contract.changing import REMOVED, changed, problems_of
from tests.families.llmkube.api.samples import (
    DOCUMENTS,
    GENERIC,
    LEAST,
    LLAMACPP,
    PERSONAPLEX,
    REPOSITORY,
    TGI,
    VLLM,
    WEIGHTS,
    kind_of,
)

ROPE, SCALE, VLLM_, SPEC = "spec/ropeScaling", "spec/autoscaling", "spec/vllmConfig", "spec/vllmConfig/speculative"
GPU = "spec/hardware/gpu"


def problems(base: int, changes: dict[str, Any]) -> list[tuple[str, str]]:
    document = changed(DOCUMENTS[base], changes)
    return problems_of(document, kind_of(document))


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (LEAST, {"metadata/name": "with.dots"}),
        (LEAST, {"metadata/name": "1-digit-first"}),
        (LEAST, {"metadata/name": "a" * 253}),  # what rendering makes of it is another matter
        (WEIGHTS, {"metadata/name": "with.dots"}),
        (LEAST, {"spec/replicas": 0}),
        (LEAST, {"spec/replicas": 10}),
        (LEAST, {"spec/modelRef": ""}),
        (LEAST, {"spec/image": ""}),
        (LEAST, {"spec/endpoint": {}}),
        (LEAST, {"spec/endpoint/port": 65535}),
        (LEAST, {"spec/containerPort": 1}),
        (LEAST, {"spec/resources/gpu": 0}),
        (LEAST, {"spec/resources/gpu": 8}),
        (LEAST, {"spec/resources/memory": "not a quantity"}),
        (LEAST, {"spec/vllmConfig": {}}),  # used by another runtime only, and no reason to refuse
        (LEAST, {"spec/tensorOverrides": ["no equals sign"]}),
        (GENERIC, {"spec/image": REMOVED}),
        (PERSONAPLEX, {"spec/image": REMOVED}),
        (LLAMACPP, {"spec/env": [{"name": "A"}, {"name": "A"}]}),
        (LLAMACPP, {"spec/contextSize": 128}),
        (LLAMACPP, {"spec/contextSize": 2097152}),
        (LLAMACPP, {"spec/batchSize": 16384}),
        (LLAMACPP, {"spec/uBatchSize": 2**31 - 1}),
        (LLAMACPP, {"spec/parallelSlots": 64}),
        (LLAMACPP, {"spec/moeCPULayers": 0}),
        (LLAMACPP, {f"{ROPE}/factor": REMOVED, f"{ROPE}/originalContext": REMOVED}),
        (LLAMACPP, {f"{ROPE}/factor": "29.805"}),
        (LLAMACPP, {f"{ROPE}/originalContext": 128}),
        (LLAMACPP, {"spec/cacheTypeK": "iq4_nl"}),
        (VLLM, {f"{VLLM_}/gpuMemoryUtilization": 0.1}),
        (VLLM, {f"{VLLM_}/gpuMemoryUtilization": 0.99}),
        (VLLM, {f"{VLLM_}/maxNumBatchedTokens": 512}),
        (VLLM, {f"{VLLM_}/attentionBackend": "flash_attn"}),
        (VLLM, {f"{VLLM_}/tensorParallelSize": -1}),  # no limit in the schema
        (VLLM, {f"{SPEC}/model": REMOVED}),
        (VLLM, {f"{SPEC}/numSpeculativeTokens": 16}),
        (VLLM, {f"{SCALE}/minReplicas": 10, f"{SCALE}/maxReplicas": 1}),  # not compared by the schema
        (VLLM, {f"{SCALE}/metrics": []}),
        (VLLM, {f"{SCALE}/metrics/0/targetAverageValue": REMOVED}),
        (VLLM, {f"{SCALE}/maxReplicas": 100}),
        (TGI, {"spec/tgiConfig/quantize": "awq"}),  # the server refuses it together with dtype, the schema does not
        (TGI, {"spec/tgiConfig/maxInputLength": 0}),
        (WEIGHTS, {f"{GPU}/layers": 2**31 - 1}),
        (WEIGHTS, {f"{GPU}/count": 8}),
        (WEIGHTS, {f"{GPU}/sharding/layerSplit": ["not a range"]}),
        (WEIGHTS, {"spec/hardware/memoryFraction": 7}),
        (WEIGHTS, {"spec/hardware": {}}),
    ],
)
def test_good(base: int, changes: dict[str, Any]) -> None:
    assert problems(base, changes) == []


@pytest.mark.parametrize(
    "source",
    [
        "http://",
        "https://example.com/a b",
        "file:///m.gguf",
        "pvc://claim/m.gguf",
        "/m.gguf",
        "/\x0b",  # a vertical tab is not among RE2's blanks
        "org/repo-1.5_x",
        "ab",
        "https-is-a-name",
        "8B/9",
    ],
)
@pytest.mark.parametrize("release", ["", "v0.8.7", "v0.8.18", "v0.9.19"])
def test_good_sources(source: str, release: str) -> None:
    document = changed(DOCUMENTS[REPOSITORY], {"spec/source": source})
    assert check(document, kind_of(document).at(release))[1] == []


@pytest.mark.parametrize(
    "source", ["", "a", "/", "/a b", "/a\n", "ftp://x/y", "gs://org/repo", "-a/b", "org/repo\n", "org/modèle"]
)
def test_bad_sources(source: str) -> None:
    ((path, reason),) = problems(REPOSITORY, {"spec/source": source})
    assert path == "spec/source"
    assert reason.startswith(
        "must be an http://, https://, file://, pvc://, hf:// or s3:// URL, an absolute path without whitespace"
    )
    assert "found " in reason


BAD: list[tuple[int, dict[str, Any], str, str]] = [
    (LEAST, {"metadata/name": "With.Capitals"}, "metadata/name", "must be a DNS-1123 subdomain"),
    (LEAST, {"metadata/name": "a" * 254}, "metadata/name", "at most 253"),
    (WEIGHTS, {"metadata/name": "under_score"}, "metadata/name", "must be a DNS-1123 subdomain"),
    (LEAST, {"metadata/labels": {"a b": "c"}}, "metadata/labels/a b", "must be a name"),
    (LEAST, {"spec": REMOVED}, "spec", "is required; set it"),
    (LEAST, {"spec/modelRef": REMOVED}, "spec/modelRef", "is required; set it"),
    (LEAST, {"spec/modelRef": 7}, "spec/modelRef", "must be a string, found 7; put it in quotes"),
    (LEAST, {"spec/modelref": "x"}, "spec/modelref", "unknown field; did you mean 'modelRef'?"),
    (LEAST, {"spec/gateway": {}}, "spec/gateway", "unknown field"),  # arrives in v0.8.8
    (LEAST, {"spec/runtime": "triton"}, "spec/runtime", "'personaplex', 'vllm', 'tgi', 'sglang' or 'generic'"),
    (LEAST, {"spec/runtime": "vLLM"}, "spec/runtime", "did you mean 'vllm'?"),
    (LEAST, {"spec/replicas": -1}, "spec/replicas", "must be at least 0, found -1"),
    (LEAST, {"spec/replicas": 11}, "spec/replicas", "must be at most 10, found 11"),
    (LEAST, {"spec/replicas": 3.0}, "spec/replicas", "must be an integer, found 3.0"),
    (LEAST, {"spec/priority": "urgent"}, "spec/priority", "'critical', 'high', 'normal', 'low' or 'batch'"),
    (LEAST, {"spec/containerPort": 0}, "spec/containerPort", "must be at least 1, found 0"),
    (LEAST, {"spec/containerPort": 65536}, "spec/containerPort", "must be at most 65535, found 65536"),
    (LEAST, {"spec/endpoint/port": 0}, "spec/endpoint/port", "must be at least 1"),
    (LEAST, {"spec/endpoint/type": "ExternalName"}, "spec/endpoint/type", "'ClusterIP', 'NodePort' or 'LoadBalancer'"),
    (LEAST, {"spec/endpoint/path": 1}, "spec/endpoint/path", "must be a string"),
    (LEAST, {"spec/endpoint/nodePort": 80}, "spec/endpoint/nodePort", "must be at least 30000"),
    (LEAST, {"spec/resources/gpu": 9}, "spec/resources/gpu", "must be at most 8, found 9"),
    (LEAST, {"spec/resources/gpu": -1}, "spec/resources/gpu", "must be at least 0"),
    (LEAST, {"spec/resources/cpu": 2}, "spec/resources/cpu", "must be a string, found 2; put it in quotes"),
    (LEAST, {"spec/resources/limits": {}}, "spec/resources/limits", "unknown field"),
    (LEAST, {"spec/nodeSelector": {"gpu": True}}, "spec/nodeSelector/gpu", "put it in quotes"),
    (LEAST, {"spec/command": "sh"}, "spec/command", "must be a list"),
    (LEAST, {"spec/extraArgs": ["--seed", 42]}, "spec/extraArgs/1", "put it in quotes"),
    (LLAMACPP, {"spec/contextSize": 127}, "spec/contextSize", "must be at least 128, found 127"),
    (LLAMACPP, {"spec/contextSize": 2097153}, "spec/contextSize", "must be at most 2097152, found 2097153"),
    (LLAMACPP, {"spec/contextSize": "8192"}, "spec/contextSize", "write it without quotes"),
    (LLAMACPP, {"spec/batchSize": 0}, "spec/batchSize", "must be at least 1"),
    (LLAMACPP, {"spec/batchSize": 16385}, "spec/batchSize", "must be at most 16384"),
    (LLAMACPP, {"spec/uBatchSize": 0}, "spec/uBatchSize", "must be at least 1"),
    (LLAMACPP, {"spec/parallelSlots": 65}, "spec/parallelSlots", "must be at most 64"),
    (LLAMACPP, {"spec/parallelSlots": 0}, "spec/parallelSlots", "must be at least 1"),
    (LLAMACPP, {"spec/moeCPULayers": -1}, "spec/moeCPULayers", "must be at least 0"),
    (LLAMACPP, {"spec/reasoningBudget": -1}, "spec/reasoningBudget", "must be at least 0"),
    (LLAMACPP, {"spec/cacheTypeK": "bf16"}, "spec/cacheTypeK", "found \"bf16\""),
    (LLAMACPP, {"spec/cacheTypeV": "turbo3"}, "spec/cacheTypeV", "found \"turbo3\""),
    (LLAMACPP, {"spec/flashAttention": "on"}, "spec/flashAttention", "must be true or false, found \"on\""),
    (LLAMACPP, {f"{ROPE}/type": REMOVED}, f"{ROPE}/type", "is required"),
    (LLAMACPP, {f"{ROPE}/type": "dynamic"}, f"{ROPE}/type", "'linear', 'yarn' or 'longrope'"),
    (LLAMACPP, {f"{ROPE}/factor": 2.0}, f"{ROPE}/factor", "must be a string, found 2.0; put it in quotes"),
    (LLAMACPP, {f"{ROPE}/factor": "-2"}, f"{ROPE}/factor", "must be an unsigned number in quotes, such as '2' or '1.5', found \"-2\""),
    (LLAMACPP, {f"{ROPE}/factor": "2."}, f"{ROPE}/factor", "found \"2.\""),
    (LLAMACPP, {f"{ROPE}/factor": "2\n"}, f"{ROPE}/factor", "must be an unsigned number"),
    (LLAMACPP, {f"{ROPE}/originalContext": 127}, f"{ROPE}/originalContext", "must be at least 128"),
    (LLAMACPP, {"spec/env/0/valueForm": {}}, "spec/env/0/valueForm", "did you mean 'valueFrom'?"),
    (VLLM, {f"{VLLM_}/gpuMemoryUtilization": 1}, f"{VLLM_}/gpuMemoryUtilization", "must be at most 0.99, found 1"),
    (VLLM, {f"{VLLM_}/gpuMemoryUtilization": 0}, f"{VLLM_}/gpuMemoryUtilization", "must be at least 0.1, found 0"),
    (VLLM, {f"{VLLM_}/gpuMemoryUtilization": 0.0999}, f"{VLLM_}/gpuMemoryUtilization", "must be at least 0.1, found 0.0999"),
    (VLLM, {f"{VLLM_}/gpuMemoryUtilization": "0.9"}, f"{VLLM_}/gpuMemoryUtilization", "must be a number, found \"0.9\"; write it without quotes"),
    (VLLM, {f"{VLLM_}/gpuMemoryUtilization": True}, f"{VLLM_}/gpuMemoryUtilization", "must be a number, found true"),
    (VLLM, {f"{VLLM_}/maxNumBatchedTokens": 511}, f"{VLLM_}/maxNumBatchedTokens", "must be at least 512"),
    (VLLM, {f"{VLLM_}/cpuOffloadGB": -1}, f"{VLLM_}/cpuOffloadGB", "must be at least 0"),
    (VLLM, {f"{VLLM_}/quantization": "gguf"}, f"{VLLM_}/quantization", "'awq', 'gptq', 'squeezellm', 'fp8', 'nvfp4', 'mxfp4' or 'compressed-tensors'"),
    (VLLM, {f"{VLLM_}/dtype": "float32"}, f"{VLLM_}/dtype", "'auto', 'float16' or 'bfloat16'"),
    (VLLM, {f"{VLLM_}/kvCacheDtype": "fp8"}, f"{VLLM_}/kvCacheDtype", "'auto', 'fp8_e5m2' or 'fp8_e4m3'"),
    (VLLM, {f"{VLLM_}/attentionBackend": "Flashinfer"}, f"{VLLM_}/attentionBackend", "found \"Flashinfer\""),
    (VLLM, {f"{VLLM_}/tensorParallelSize": 2**31}, f"{VLLM_}/tensorParallelSize", "must be at most 2147483647"),
    (VLLM, {f"{SPEC}/numSpeculativeTokens": 0}, f"{SPEC}/numSpeculativeTokens", "must be at least 1"),
    (VLLM, {f"{SPEC}/numSpeculativeTokens": 17}, f"{SPEC}/numSpeculativeTokens", "must be at most 16"),
    (VLLM, {f"{VLLM_}/hfTokenSecretRef/key": REMOVED}, f"{VLLM_}/hfTokenSecretRef/key", "is required"),
    (VLLM, {f"{SCALE}/maxReplicas": REMOVED}, f"{SCALE}/maxReplicas", "is required"),
    (VLLM, {f"{SCALE}/maxReplicas": 101}, f"{SCALE}/maxReplicas", "must be at most 100"),
    (VLLM, {f"{SCALE}/minReplicas": 0}, f"{SCALE}/minReplicas", "must be at least 1"),
    (VLLM, {f"{SCALE}/minReplicas": 11}, f"{SCALE}/minReplicas", "must be at most 10"),
    (VLLM, {f"{SCALE}/metrics/0/type": "External"}, f"{SCALE}/metrics/0/type", "must be 'Pods' or 'Resource'"),
    (VLLM, {f"{SCALE}/metrics/1/name": REMOVED}, f"{SCALE}/metrics/1/name", "is required"),
    (VLLM, {f"{SCALE}/metrics/0/targetAverageValue": 5}, f"{SCALE}/metrics/0/targetAverageValue", "put it in quotes"),
    (VLLM, {"spec/tolerations/0/tolerationSeconds": "60"}, "spec/tolerations/0/tolerationSeconds", "must be an integer"),
    (TGI, {"spec/tgiConfig/quantize": "marlin"}, "spec/tgiConfig/quantize", "'bitsandbytes', 'gptq', 'awq' or 'eetq'"),
    (TGI, {"spec/tgiConfig/dtype": "auto"}, "spec/tgiConfig/dtype", "must be 'float16' or 'bfloat16'"),
    (TGI, {"spec/imagePullSecrets": ["pull"]}, "spec/imagePullSecrets/0", "must be a map"),
    (PERSONAPLEX, {"spec/personaPlexConfig/quantize4bit": True}, "spec/personaPlexConfig/quantize4bit", "did you mean 'quantize4Bit'?"),
    (GENERIC, {"spec/probeOverrides/liveness/httpGet/port": REMOVED}, "spec/probeOverrides/liveness/httpGet/port", "is required"),
    (GENERIC, {"spec/probeOverrides/preStop": {}}, "spec/probeOverrides/preStop", "unknown field"),
    (GENERIC, {"spec/securityContext/fsGroup": 1}, "spec/securityContext/fsGroup", "unknown field"),
    (GENERIC, {"spec/podSecurityContext/capabilities": {}}, "spec/podSecurityContext/capabilities", "unknown field"),
    (GENERIC, {"spec/env/4/valueFrom/fileKeyRef/path": REMOVED}, "spec/env/4/valueFrom/fileKeyRef/path", "is required"),
    (WEIGHTS, {"spec/source": REMOVED}, "spec/source", "is required"),
    (WEIGHTS, {"spec/sha256": "abc"}, "spec/sha256", "must be 64 hexadecimal digits, found \"abc\""),
    (WEIGHTS, {"spec/refreshPolicy": "Always"}, "spec/refreshPolicy", "must be 'IfNotPresent' or 'OnChange'"),
    (WEIGHTS, {"spec/format": "onnx"}, "spec/format", "'gguf', 'mlx', 'safetensors', 'pytorch' or 'custom'"),
    (WEIGHTS, {"spec/hardware/accelerator": "tpu"}, "spec/hardware/accelerator", "'cpu', 'metal', 'cuda', 'rocm', 'intel' or 'vulkan'"),
    (WEIGHTS, {f"{GPU}/count": 9}, f"{GPU}/count", "must be at most 8"),
    (WEIGHTS, {f"{GPU}/layers": -2}, f"{GPU}/layers", "must be at least -1"),
    (WEIGHTS, {f"{GPU}/vendor": "NVIDIA"}, f"{GPU}/vendor", "did you mean 'nvidia'?"),
    (WEIGHTS, {f"{GPU}/sharding/strategy": "auto"}, f"{GPU}/sharding/strategy", "'layer', 'tensor', 'row', 'pipeline' or 'none'"),
    (WEIGHTS, {f"{GPU}/sharding/layerSplit": [20]}, f"{GPU}/sharding/layerSplit/0", "put it in quotes"),
    (WEIGHTS, {"spec/hardware/memoryFraction": "half"}, "spec/hardware/memoryFraction", "must be a number, found \"half\""),
]  # fmt: skip


@pytest.mark.parametrize(("base", "changes", "path", "reason"), BAD)
def test_bad(base: int, changes: dict[str, Any], path: str, reason: str) -> None:
    (problem,) = problems(base, changes)
    assert problem[0] == path
    assert reason in problem[1]


def test_the_server_is_told_that_no_share_of_a_gpu_is_none() -> None:
    """It cuts a bound of 0.1 to 0 before it compares an integer with it."""
    found = schema_graph(kind_of(DOCUMENTS[VLLM])).defs["VLLMConfig"]["x-kubernetes-validations"]
    assert [rule["message"] for rule in found] == ["gpuMemoryUtilization must be at least 0.1 and at most 0.99"]
    assert "self.gpuMemoryUtilization >= 0.1 && self.gpuMemoryUtilization <= 0.99" in found[0]["rule"]


def test_all_problems_at_once() -> None:
    found = problems(
        VLLM,
        {
            "metadata/name": "With.Capitals",
            "spec/replicas": 11,
            f"{VLLM_}/dtyp": "auto",
            f"{VLLM_}/gpuMemoryUtilization": 2,
            f"{SCALE}/metrics/0/type": "pods",
        },
    )
    assert {path for path, _ in found} == {
        "metadata/name",
        "spec/replicas",
        f"{VLLM_}/dtyp",
        f"{VLLM_}/gpuMemoryUtilization",
        f"{SCALE}/metrics/0/type",
    }
    assert len(found) == 5


def test_whole_floats_are_integers_but_not_for_replicas() -> None:
    document = changed(DOCUMENTS[LLAMACPP], {"spec/contextSize": 4096.0, f"{ROPE}/originalContext": 128.0})
    resource, found = check(document, kind_of(document))
    assert found == []
    assert isinstance(resource, InferenceService)
    assert repr(resource.spec.context_size) == "4096"
    assert problems(LEAST, {"spec/contextSize": 4096.5}) == [("spec/contextSize", "must be an integer, found 4096.5")]


@pytest.mark.parametrize("number", [1, 0.5, 7])
def test_numbers_stay_as_written(number: float) -> None:
    document = changed(DOCUMENTS[WEIGHTS], {"spec/hardware/memoryFraction": number})
    resource, _ = check(document, kind_of(document))
    assert resource is not None
    assert repr(resource.wire()["spec"]["hardware"]["memoryFraction"]) == repr(number)


def test_null_is_absent_in_fields_and_maps_and_refused_in_lists() -> None:
    document = changed(
        DOCUMENTS[LLAMACPP],
        {"spec/jinja": None, "spec/nodeSelector": {"a": None, "b": "c"}, "spec/ropeScaling": None},
    )
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    spec = resource.wire()["spec"]
    assert not {"jinja", "ropeScaling"} & set(spec)
    assert spec["nodeSelector"] == {"b": "c"}
    assert problems(LEAST, {"spec/args": [None]}) == [("spec/args/0", "must be a string, found null")]
    assert problems(LEAST, {"spec/modelRef": None}) == [("spec/modelRef", "is required; set it")]
