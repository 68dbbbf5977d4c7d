"""Golden vectors of LLMKube spec 10: whole command lines."""

import json

import pytest

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import FILE, llama, start, tgi, tgi_own, vllm, vllm_own

EVERY_LLAMA_FIELD: Document = {
    "contextSize": 8192,
    "ropeScaling": {"type": "yarn", "factor": "2.0", "originalContext": 131072},
    "parallelSlots": 4,
    "flashAttention": True,
    "jinja": True,
    "cacheTypeK": "q8_0",
    "cacheTypeV": "q4_0",
    "cacheTypeCustomV": "turbo3",
    "moeCPUOffload": True,
    "moeCPULayers": 10,
    "noKvOffload": True,
    "tensorOverrides": ["exps=CPU", "token_embd=CUDA0"],
    "batchSize": 2048,
    "uBatchSize": 512,
    "noWarmup": True,
    "reasoningBudget": 0,
    "reasoningBudgetMessage": "wrap up",
    "metadataOverrides": ["a.b=int:1"],
    "extraArgs": ["--seed", "42"],
    "resources": {"gpu": 1, "cpu": "2", "memory": "4Gi", "hostMemory": "48Gi"},
}


def test_vector_a_every_field_of_llamacpp_on_three_gpus() -> None:
    gpu = {"count": 3, "layers": -1, "sharding": {"strategy": "tensor", "layerSplit": ["0-19", "20-29", "30-39"]}}
    started = llama(EVERY_LLAMA_FIELD, gpus=3, gpu=gpu)
    expected = (
        "--n-gpu-layers 99 --split-mode row --tensor-split 2,1,1 --ctx-size 8192 --rope-scaling yarn "
        "--rope-scale 2.0 --yarn-orig-ctx 131072 --parallel 4 --flash-attn on --jinja --cache-type-k q8_0 "
        "--cache-type-v turbo3 --cpu-moe --n-cpu-moe 10 --no-kv-offload --override-tensor exps=CPU "
        "--override-tensor token_embd=CUDA0 --batch-size 2048 --ubatch-size 512 --no-warmup --reasoning-budget 0 "
        "--reasoning-budget-message"
    )
    assert started.own == [*expected.split(), "wrap up", "--override-kv", "a.b=int:1", "--seed", "42"]
    assert not started.errors
    assert set(started.warnings) == {"spec.cacheTypeV", "spec.cacheTypeCustomV", "spec.moeCPULayers"}
    assert started.command is None
    assert started.result.env == []


def test_vector_b_llamacpp_without_gpu_where_extra_args_say_more() -> None:
    """Deviation: the server knows no ``=``, so the vector's own argument is refused."""
    spec = {
        "flashAttention": True,
        "ropeScaling": {"type": "longrope"},
        "parallelSlots": 2,
        "containerPort": 9000,
        "endpoint": {"port": 8080, "type": "NodePort", "path": "/x"},
        "extraArgs": ["--parallel=8", "--rope-scaling", "none"],
    }
    started = llama(spec)
    args = ["--model", FILE, "--host", "0.0.0.0", "--port", "9000", "--parallel=8", "--rope-scaling", "none"]
    assert started.args == [*args, "--metrics"]
    assert set(started.errors) == {"spec.extraArgs[0]"}
    assert set(started.warnings) == {"spec.flashAttention", "spec.ropeScaling", "spec.parallelSlots"}


def test_vector_c_llamacpp_that_fetches_its_model() -> None:
    started = start("llamacpp", {"skipModelInit": True, "extraArgs": ["-hf", "org/repo:Q4_K_M"]})
    listening = ["--host", "0.0.0.0", "--port", "8080"]
    assert started.args == ["--model", "", *listening, "-hf", "org/repo:Q4_K_M", "--metrics"]
    assert not started.problems


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param("pvc://claim/dir/m.gguf", "/model-source/dir/m.gguf", id="D"),
        pytest.param("file:///mnt/m.gguf", "/models/696c7215e958c40d/m1.gguf", id="E"),
    ],
)
def test_vectors_d_and_e_llamacpp_reads_the_file_that_is_there(source: str, path: str) -> None:
    started = start("llamacpp", source=source, path=path)
    assert started.args == ["--model", path, "--host", "0.0.0.0", "--port", "8080", "--metrics"]
    assert not started.problems


EVERY_VLLM_FIELD: Document = {
    "maxModelLen": 8192,
    "quantization": "fp8",
    "dtype": "auto",
    "kvCacheDtype": "fp8_e4m3",
    "enablePrefixCaching": True,
    "enableChunkedPrefill": True,
    "maxNumBatchedTokens": 4096,
    "attentionBackend": "FLASHINFER",
    "speculative": {"enabled": True, "model": "draft"},
    "enableExpertParallel": True,
    "cpuOffloadGB": 0,
    "gpuMemoryUtilization": 0.9,
    "hfTokenSecretRef": {"name": "hf", "key": "HF_TOKEN"},
}


def test_vector_f_every_field_of_vllm_on_two_gpus() -> None:
    """Deviation: one JSON option with the draft's source, where upstream writes two flags that v0.20.0 refuses."""
    spec = {"skipModelInit": True, "parallelSlots": 16, "extraArgs": ["--served-model-name", "x"]}
    started = vllm(EVERY_VLLM_FIELD, gpus=2, spec=spec, drafts={"draft": "org/small"})
    before = (
        "--max-model-len 8192 --quantization fp8 --dtype auto --kv-cache-dtype fp8_e4m3 --enable-prefix-caching "
        "--enable-chunked-prefill --max-num-batched-tokens 4096 --attention-backend FLASHINFER --speculative-config"
    )
    after = (
        "--enable-expert-parallel --cpu-offload-gb 0 --gpu-memory-utilization 0.9 --tensor-parallel-size 2 "
        "--max-num-seqs 16 --served-model-name x"
    )
    own = vllm_own(started)
    draft = own.pop(len(before.split()))
    assert own == [*before.split(), *after.split()]
    assert json.loads(draft) == {"model": "org/small", "num_speculative_tokens": 4}
    secret = {"name": "hf", "key": "HF_TOKEN"}
    assert started.result.env == [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": secret}}]
    assert not started.problems


def test_vector_g_vllm_without_gpu() -> None:
    config = {"tensorParallelSize": 1, "cpuOffloadGB": 4, "gpuMemoryUtilization": 0.95, "kvCacheDtype": "auto"}
    started = vllm(config, gpus=0, path="/models/ns-m1.gguf")
    assert started.args == ["/models/ns-m1.gguf", "--host", "0.0.0.0", "--port", "8000"]
    assert not started.errors
    assert set(started.warnings) == {"spec.vllmConfig.cpuOffloadGB", "spec.vllmConfig.gpuMemoryUtilization"}


def test_vector_h_every_field_of_tgi_on_two_gpus() -> None:
    """Deviations: the length's name since 2.0, extraArgs at the end, dtype beside awq refused."""
    config = {"quantize": "awq", "maxInputLength": 100, "maxTotalTokens": 200, "dtype": "bfloat16"}
    started = tgi(config, gpus=2, spec={"extraArgs": ["--trust-remote-code"]})
    expected = "--quantize awq --max-input-tokens 100 --max-total-tokens 200 --dtype bfloat16 --num-shard 2"
    assert tgi_own(started) == [*expected.split(), "--trust-remote-code"]
    assert set(started.errors) == {"spec.tgiConfig.dtype"}


def test_vector_i_every_field_of_personaplex() -> None:
    config = {"quantize4Bit": True, "cpuOffload": True, "hfTokenSecretRef": {"name": "hf", "key": "HF_TOKEN"}}
    started = start("personaplex", {"personaPlexConfig": config}, gpus=1)
    assert started.command == ["/app/moshi/.venv/bin/python", "-m", "moshi.server"]
    assert started.args == ["--ssl", "/app/ssl", "--quantize-4bit", "--cpu-offload"]
    assert [env["name"] for env in started.result.env] == ["HF_TOKEN", "NO_TORCH_COMPILE"]
    assert started.result.env[1] == {"name": "NO_TORCH_COMPILE", "value": "1"}
    assert set(started.warnings) == {"spec.personaPlexConfig.quantize4Bit"}
