"""What the container of an InferenceService is started with (LLMKube spec 2, 4.3, 8, 10, 11).

Expected values are those of the specification; where upstream does otherwise the deviation stands beside them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.api.findings import Findings
from components.api.load import Loaded
from components.api.problems import Problem
from components.families.llmkube.arguments.facts import read_everywhere, readings
from components.families.llmkube.arguments.started import StartCommand, arguments
from components.families.llmkube.family import INFERENCE_SERVICE
from components.families.llmkube.serving import Serving
from components.families.llmkube.types.inference_service import InferenceService, InferenceServiceSpec, Model
from tests.families.llmkube.api.documents import inference_services, models
from tests.families.llmkube.api.samples import Document, made

IMAGES = {
    "llamacpp": "ghcr.io/ggml-org/llama.cpp:server",
    "vllm": "vllm/vllm-openai:v0.20.0",
    "tgi": "ghcr.io/huggingface/text-generation-inference:latest",
    "personaplex": "registry.example.com/personaplex:1",
    "generic": "registry.example.com/server:1",
}
PORTS = {"llamacpp": 8080, "vllm": 8000, "tgi": 80, "personaplex": 8998, "generic": 8080}
LLAMA = "ghcr.io/ggml-org/llama.cpp:server-"
VLLM = "vllm/vllm-openai:"
TGI = "ghcr.io/huggingface/text-generation-inference:"
FILE = "/models/608d0e1313135e5b/m1.gguf"
HEAD = ["--model", FILE, "--host", "0.0.0.0", "--port", "8080"]


@dataclass
class Started:
    """What came out, and what was found."""

    result: StartCommand
    problems: list[Problem] = field(default_factory=list)

    @property
    def command(self) -> list[str] | None:
        return list(self.result.line.command) or None

    @property
    def args(self) -> list[str]:
        return list(self.result.line.args)

    def of(self, severity: str) -> dict[str, str]:
        found = [p for p in self.problems if p.severity == severity]
        assert len({p.path for p in found}) == len(found), found
        return {p.path: p.reason for p in found}

    @property
    def errors(self) -> dict[str, str]:
        return self.of("error")

    @property
    def warnings(self) -> dict[str, str]:
        return self.of("warning")

    @property
    def own(self) -> list[str]:
        """The arguments of llama.cpp without those that every service has."""
        assert self.args[:6] == HEAD
        assert self.args[-1] == "--metrics"
        return self.args[6:-1]


def start(
    runtime: str,
    spec: Document | None = None,
    *,
    gpus: int = 0,
    gpu: Document | None = None,
    source: str = "org/repo",
    path: str = "",
    image: str | None = None,
    drafts: Mapping[str, str] | None = None,
) -> Started:
    """Start a runtime; ``gpu`` is ``hardware.gpu`` of the Model, ``drafts`` are sources of further Models."""
    written: Document = {"source": source, **({"hardware": {"gpu": gpu}} if gpu is not None else {})}
    specs: dict[str, Document] = {
        "m1": written,
        **{name: {"source": where} for name, where in (drafts or {}).items()},
    }
    models = {name: Model.model_validate(made("Model", name, each)) for name, each in specs.items()}
    document = made("InferenceService", "svc.a", {"modelRef": "m1", "runtime": runtime, **(spec or {})})
    service = InferenceService.model_validate(document)
    return serve(service, models, gpus=gpus, path=path, image=image)


def serve(
    service: InferenceService, models: Mapping[str, Model], *, gpus: int, path: str = "", image: str | None = None
) -> Started:
    """Start a service with the Model ``m1`` of its namespace."""
    findings = Findings(Loaded.of(service, INFERENCE_SERVICE))
    runtime, endpoint = service.spec.runtime, service.spec.endpoint
    serving = Serving(
        service=service,
        model=models["m1"],
        models=models,
        namespace="ns",
        runtime=runtime,
        image=image or IMAGES[runtime],
        port=service.spec.container_port or (endpoint.port if endpoint else PORTS[runtime]),
        gpus=gpus,
        model_path=path,
        findings=findings,
    )
    return Started(arguments(serving), findings.problems)


def llama(spec: Document | None = None, *, gpus: int = 0, **more: Any) -> Started:
    return start("llamacpp", spec, gpus=gpus, source="https://example.com/m.gguf", path=FILE, **more)


def vllm(config: Document | None = None, *, gpus: int = 1, spec: Document | None = None, **more: Any) -> Started:
    both = {**({"vllmConfig": config} if config is not None else {}), **(spec or {})}
    return start("vllm", both, gpus=gpus, **more)


def vllm_own(started: Started) -> list[str]:
    assert started.args[:5] == ["org/repo", "--host", "0.0.0.0", "--port", "8000"]
    return started.args[5:]


def tgi(config: Document | None = None, *, gpus: int = 1, spec: Document | None = None, **more: Any) -> Started:
    both = {**({"tgiConfig": config} if config is not None else {}), **(spec or {})}
    return start("tgi", both, gpus=gpus, **more)


def tgi_own(started: Started) -> list[str]:
    assert started.args[:6] == ["--model-id", "org/repo", "--hostname", "0.0.0.0", "--port", "80"]
    return started.args[6:]


# -- golden vectors of the specification, section 10

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


# -- llama.cpp


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ""),
        ({"contextSize": 4096}, "--ctx-size 4096"),
        ({"ropeScaling": {"type": "linear"}}, "--rope-scaling linear"),
        ({"ropeScaling": {"type": "yarn", "factor": "1.5"}}, "--rope-scaling yarn --rope-scale 1.5"),
        ({"parallelSlots": 1}, "--parallel 1"),
        ({"jinja": True}, "--jinja"),
        ({"cacheTypeK": "f16"}, "--cache-type-k f16"),
        ({"cacheTypeV": "f32"}, "--cache-type-v f32"),
        ({"moeCPULayers": 3}, "--n-cpu-moe 3"),
        ({"moeCPULayers": 0}, ""),
        ({"moeCPUOffload": False, "noKvOffload": False, "noWarmup": False}, ""),
        ({"tensorOverrides": ["a=CPU", "a=CPU"]}, "--override-tensor a=CPU --override-tensor a=CPU"),
        ({"batchSize": 1}, "--batch-size 1"),
        ({"uBatchSize": 1}, "--ubatch-size 1"),
        ({"noWarmup": True}, "--no-warmup"),
        ({"reasoningBudget": 100}, "--reasoning-budget 100"),
        ({"metadataOverrides": ["a=bool:false"]}, "--override-kv a=bool:false"),
        ({"extraArgs": ["--log-disable"]}, "--log-disable"),
    ],
)
def test_each_field_of_llamacpp(spec: Document, expected: str) -> None:
    started = llama(spec)
    assert started.own == expected.split()
    assert not started.problems


@pytest.mark.parametrize(
    ("gpus", "gpu", "expected"),
    [
        (0, None, []),
        (1, None, ["--n-gpu-layers", "99"]),
        (1, {"layers": -1}, ["--n-gpu-layers", "99"]),
        (1, {"layers": 20}, ["--n-gpu-layers", "20"]),
        (2, None, ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1"]),
        (2, {"sharding": {}}, ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1"]),
        (
            2,
            {"sharding": {"strategy": "row"}},
            ["--n-gpu-layers", "99", "--split-mode", "row", "--tensor-split", "1,1"],
        ),
        (
            3,
            {"sharding": {"strategy": "pipeline"}},
            ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1,1"],
        ),
        (
            2,
            {"sharding": {"layerSplit": ["0-29", "30-39"]}},
            ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "3,1"],
        ),
    ],
)
def test_llamacpp_on_gpus(gpus: int, gpu: Document | None, expected: list[str]) -> None:
    started = llama(gpus=gpus, gpu=gpu)
    assert started.own == expected
    assert not started.problems


def test_no_layers_on_gpus_is_what_zero_layers_say() -> None:
    """Deviation: upstream takes 0 for unset."""
    started = llama(gpus=1, gpu={"layers": 0})
    assert started.own == ["--n-gpu-layers", "0"]
    assert "layers 0" in started.warnings["spec.modelRef"]


def test_sharding_none_uses_one_gpu() -> None:
    started = llama(gpus=2, gpu={"sharding": {"strategy": "none"}})
    assert started.own == ["--n-gpu-layers", "99", "--split-mode", "none"]
    assert "one of 2 GPUs" in started.warnings["spec.modelRef"]


@pytest.mark.parametrize("split", [["0-19"], ["0-19", "x"], ["0-19", "30-20"], ["0-19", "-3"], ["1-2", "3-4", "5-6"]])
def test_a_layer_split_that_is_none_is_told_and_shared_equally(split: list[str]) -> None:
    started = llama(gpus=2, gpu={"sharding": {"layerSplit": split}})
    assert started.own[-2:] == ["--tensor-split", "1,1"]
    assert "2 entries" in started.warnings["spec.modelRef"]


@pytest.mark.parametrize(
    ("gpus", "gpu"), [(0, {"layers": 5}), (0, {"sharding": {}}), (1, {"sharding": {"layerSplit": ["0-9"]}})]
)
def test_layers_and_sharding_without_gpus_for_them(gpus: int, gpu: Document) -> None:
    assert set(llama(gpus=gpus, gpu=gpu).warnings) == {"spec.modelRef"}


@given(sizes=st.lists(st.integers(1, 200), min_size=2, max_size=8))
def test_shares_are_the_sizes_in_lowest_terms(sizes: list[int]) -> None:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    split = [f"{start}-{start + size - 1}" for start, size in zip(starts, sizes, strict=True)]
    shares = [int(s) for s in llama(gpus=len(sizes), gpu={"sharding": {"layerSplit": split}}).own[-1].split(",")]
    assert [share * sizes[0] for share in shares] == [size * shares[0] for size in sizes]
    assert not any(all(share % factor == 0 for share in shares) for factor in range(2, 201))


@pytest.mark.parametrize(
    ("wanted", "gpus", "tag", "expected"),
    [
        (True, 1, "server-b6343", ["--flash-attn", "on"]),
        (True, 1, "server", ["--flash-attn", "on"]),
        (True, 1, "server-cuda-b6342", ["--flash-attn"]),
        (False, 1, "server-b6343", ["--flash-attn", "off"]),
        (False, 0, "server-b6343", ["--flash-attn", "off"]),
        (False, 1, "server-b6342", []),
        (None, 1, "server", []),
    ],
)
def test_flash_attention_by_version(wanted: bool | None, gpus: int, tag: str, expected: list[str]) -> None:
    spec = {} if wanted is None else {"flashAttention": wanted}
    started = llama(spec, gpus=gpus, image=f"ghcr.io/ggml-org/llama.cpp:{tag}")
    assert started.own[2 * gpus :] == expected
    assert not started.problems


def test_flash_attention_without_a_gpu_is_left_to_the_server() -> None:
    started = llama({"flashAttention": True})
    assert started.own == []
    assert "GPU" in started.warnings["spec.flashAttention"]


@pytest.mark.parametrize(
    ("tag", "expected"), [("server", ["--no-jinja"]), ("server-b8000", ["--no-jinja"]), ("server-b6500", [])]
)
def test_jinja_false_turns_off_what_is_on_by_default(tag: str, expected: list[str]) -> None:
    assert llama({"jinja": False}, image=f"ghcr.io/ggml-org/llama.cpp:{tag}").own == expected


def test_custom_cache_types_win_each_side_by_itself() -> None:
    started = llama({"cacheTypeK": "q8_0", "cacheTypeCustomK": "turbo4", "cacheTypeV": "f16"})
    assert started.own == ["--cache-type-k", "turbo4", "--cache-type-v", "f16"]
    assert set(started.warnings) == {"spec.cacheTypeK", "spec.cacheTypeCustomK"}


@pytest.mark.parametrize("kind", ["q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"])
def test_a_quantized_value_cache_needs_flash_attention(kind: str) -> None:
    assert set(llama({"cacheTypeV": kind, "flashAttention": False}, gpus=1).errors) == {"spec.cacheTypeV"}
    assert not llama({"cacheTypeV": kind}, gpus=1).problems
    assert set(llama({"cacheTypeV": kind}, gpus=1, image=f"{LLAMA}b6000").errors) == {"spec.cacheTypeV"}
    assert not llama({"cacheTypeV": kind, "flashAttention": True}, gpus=1, image=f"{LLAMA}b6000").problems
    assert not llama({"cacheTypeV": kind, "extraArgs": ["-fa"]}, gpus=1, image=f"{LLAMA}b6000").problems


def test_a_whole_value_cache_needs_none() -> None:
    assert not llama({"cacheTypeV": "f16", "flashAttention": False}, gpus=1).problems


def test_longrope_is_refused_with_its_successor() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}})
    reason = "--rope-scaling of llamacpp (server) does not accept 'longrope'; use yarn"
    assert started.errors == {"spec.ropeScaling.type": reason}


def test_an_image_of_ones_own_may_know_more() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}}, image="registry.example.com/mine:1.0")
    assert not started.errors
    assert set(started.warnings) == {"spec.ropeScaling.type"}


@pytest.mark.parametrize("name", ["moeCPUOffload", "noKvOffload"])
def test_what_stays_on_the_host_needs_its_memory(name: str) -> None:
    flag = {"moeCPUOffload": "--cpu-moe", "noKvOffload": "--no-kv-offload"}[name]
    started = llama({name: True})
    assert started.own == [flag]
    assert "hostMemory" in started.warnings[f"spec.{name}"]
    for memory in ("memory", "hostMemory"):
        assert not llama({name: True, "resources": {memory: "8Gi"}}).problems


def test_layers_beside_all_experts_on_the_cpu() -> None:
    started = llama({"moeCPUOffload": True, "moeCPULayers": 2, "resources": {"memory": "8Gi"}})
    assert started.own == ["--cpu-moe", "--n-cpu-moe", "2"]
    assert set(started.warnings) == {"spec.moeCPULayers"}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"reasoningBudget": 0}, set()),
        ({"reasoningBudget": 5}, {"spec.reasoningBudget"}),
        ({"reasoningBudget": 0, "reasoningBudgetMessage": "x"}, {"spec.reasoningBudgetMessage"}),
    ],
)
def test_reasoning_budgets_of_a_server_from_before_march_2026(spec: Document, errors: set[str]) -> None:
    assert set(llama(spec, image=f"{LLAMA}b6500").errors) == errors
    assert not llama(spec).problems


def test_a_message_without_a_budget_is_left_out() -> None:
    started = llama({"reasoningBudgetMessage": "x"})
    assert started.own == []
    assert set(started.warnings) == {"spec.reasoningBudgetMessage"}


def test_experts_of_some_layers_need_a_server_that_knows_them() -> None:
    assert not llama({"moeCPULayers": 1}, image=f"{LLAMA}b6089").problems
    assert set(llama({"moeCPULayers": 1}, image=f"{LLAMA}b6088").errors) == {"spec.moeCPULayers"}


def test_metrics_are_turned_on_once() -> None:
    """Deviation: upstream writes the flag again."""
    assert llama({"extraArgs": ["--metrics", "--seed", "1"]}).args == [*HEAD, "--metrics", "--seed", "1"]


@pytest.mark.parametrize("slots", [["--parallel", "8"], ["--parallel=8"], ["-np", "8"]])
def test_slots_in_extra_args_in_any_spelling(slots: list[str]) -> None:
    """Deviation: upstream does not see the short one."""
    started = llama({"parallelSlots": 2, "extraArgs": slots})
    assert started.own == slots
    assert slots[0] in started.warnings["spec.parallelSlots"]


@pytest.mark.parametrize(
    ("spec", "other", "path"),
    [
        ({"contextSize": 4096}, ["-c", "1"], "spec.contextSize"),
        ({"jinja": True}, ["--no-jinja"], "spec.jinja"),
        ({"batchSize": 1}, ["-b", "2"], "spec.batchSize"),
        ({"noKvOffload": True, "resources": {"memory": "1Gi"}}, ["-kvo"], "spec.noKvOffload"),
    ],
)
def test_what_a_field_and_extra_args_both_say(spec: Document, other: list[str], path: str) -> None:
    assert other[0] in llama({**spec, "extraArgs": other}).warnings[path]
    assert not llama({**spec, "extraArgs": ["--seed", "1"]}).problems


def test_what_the_model_and_extra_args_both_say() -> None:
    expected = "-ngl here comes last and overrides --n-gpu-layers; remove one of the two"
    assert llama({"extraArgs": ["-ngl", "5"]}, gpus=1).warnings == {"spec.extraArgs": expected}


def test_an_image_without_a_tag_is_the_newest() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}}, image="ghcr.io/ggml-org/llama.cpp@sha256:abc")
    assert "newest version" in started.errors["spec.ropeScaling.type"]


def test_extra_args_may_add_overrides() -> None:
    assert not llama({"tensorOverrides": ["a=CPU"], "extraArgs": ["-ot", "b=CPU"]}).problems


@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_the_port_is_not_for_extra_args(runtime: str) -> None:
    started = start(runtime, {"extraArgs": ["--port", "1234"]}, path="/models/m.gguf")
    assert "containerPort" in started.errors["spec.extraArgs"]
    assert not start(runtime, {"containerPort": 1234}, path="/models/m.gguf").problems


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("org/repo", ["--hf-repo", "org/repo"]),
        ("https://example.com/m.gguf", ["--model-url", "https://example.com/m.gguf"]),
        ("/baked/m.gguf", ["--model", "/baked/m.gguf"]),
        ("file:///baked/m.gguf", ["--model", "/baked/m.gguf"]),
    ],
)
def test_a_server_without_an_init_container_is_told_what_to_fetch(source: str, expected: list[str]) -> None:
    """Deviation: upstream gives it an empty path, with which it does not start."""
    started = start("llamacpp", {"skipModelInit": True}, source=source)
    assert started.args[:2] == expected
    assert not started.problems


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LLAMA_ARG_HF_REPO", ["--model", ""]),
        ("LLAMA_ARG_MODEL_URL", ["--model", ""]),
        ("LLAMA_ARG_MODEL", ["--host", "0.0.0.0"]),
    ],
)
def test_the_environment_may_name_the_model(name: str, expected: list[str]) -> None:
    """Of a variable and its argument llama.cpp takes the argument, so that the path's own must not be there."""
    spec = {"skipModelInit": True, "env": [{"name": name, "value": "org/other"}]}
    assert start("llamacpp", spec).args[:2] == expected


@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_extra_args_are_checked_by_the_element(runtime: str) -> None:
    started = start(runtime, {"extraArgs": ["--no-such-flag", "x"]}, path="/models/m")
    assert "--no-such-flag" in started.warnings["spec.extraArgs[0]"]


def test_extra_args_that_name_another_model() -> None:
    assert "-hf" in llama({"extraArgs": ["-hf", "org/other"]}).warnings["spec.extraArgs"]


# -- vLLM


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
    ("size", "gpus", "expected", "error", "warning"),
    [
        (None, 1, [], False, False),
        (None, 4, ["4"], False, False),
        (4, 4, ["4"], False, False),
        (2, 4, ["2"], False, True),
        (1, 2, [], False, True),
        (1, 1, [], False, False),
        (1, 0, [], False, False),
        (8, 2, ["8"], True, False),
        (2, 0, ["2"], True, False),
        (0, 1, [], True, False),
    ],
)
def test_tensor_parallelism_and_gpus(
    size: int | None, gpus: int, expected: list[str], error: bool, warning: bool
) -> None:
    started = vllm({} if size is None else {"tensorParallelSize": size}, gpus=gpus)
    assert vllm_own(started) == (["--tensor-parallel-size", *expected] if expected else [])
    path = {"spec.vllmConfig.tensorParallelSize"}
    assert set(started.errors) == (path if error else set())
    assert set(started.warnings) == (path if warning else set())


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
    [("v0.13.0", True, False), ("latest", True, False), ("v0.11.0", False, True)],
)
def test_the_attention_backend_is_a_flag_or_a_variable(tag: str, flag: bool, variable: bool) -> None:
    started = vllm({"attentionBackend": "flashinfer"}, image=f"{VLLM}{tag}")
    assert vllm_own(started) == (["--attention-backend", "flashinfer"] if flag else [])
    expected = [{"name": "VLLM_ATTENTION_BACKEND", "value": "FLASHINFER"}] if variable else []
    assert started.result.env == expected


def test_experts_in_parallel_need_a_version_that_knows_them() -> None:
    """The flag came between vLLM 0.7.3 and 0.8.2."""
    path = "spec.vllmConfig.enableExpertParallel"
    assert set(vllm({"enableExpertParallel": True}, image=f"{VLLM}v0.7.3").errors) == {path}
    assert not vllm({"enableExpertParallel": True}, image=f"{VLLM}v0.8.2").problems


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


# -- Text Generation Inference


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ""),
        ({"quantize": "gptq"}, "--quantize gptq"),
        ({"dtype": "float16"}, "--dtype float16"),
        ({"quantize": "bitsandbytes", "dtype": "float16"}, "--quantize bitsandbytes --dtype float16"),
        ({"maxInputLength": 7}, "--max-input-tokens 7"),
        ({"maxTotalTokens": 8}, "--max-total-tokens 8"),
    ],
)
def test_each_field_of_tgi(config: Document, expected: str) -> None:
    started = tgi(config)
    assert tgi_own(started) == expected.split()
    assert not started.problems


@pytest.mark.parametrize(
    ("tag", "flag", "token"),
    [
        ("latest", "--max-input-tokens", "HF_TOKEN"),
        ("3.3.7", "--max-input-tokens", "HF_TOKEN"),
        ("2.1.0", "--max-input-tokens", "HF_TOKEN"),
        ("2.0.4", "--max-input-tokens", "HUGGING_FACE_HUB_TOKEN"),
        ("1.4.5", "--max-input-length", "HUGGING_FACE_HUB_TOKEN"),
    ],
)
def test_names_that_tgi_changed(tag: str, flag: str, token: str) -> None:
    config = {"maxInputLength": 9, "hfTokenSecretRef": {"name": "hf", "key": "k"}}
    started = tgi(config, image=f"{TGI}{tag}")
    assert tgi_own(started) == [flag, "9"]
    assert started.result.env == [{"name": token, "valueFrom": {"secretKeyRef": {"name": "hf", "key": "k"}}}]
    assert not started.problems


@pytest.mark.parametrize("quantize", ["gptq", "awq", "eetq"])
def test_dtype_beside_a_quantization_that_has_its_own(quantize: str) -> None:
    assert quantize in tgi({"quantize": quantize, "dtype": "float16"}).errors["spec.tgiConfig.dtype"]


@pytest.mark.parametrize(
    ("config", "paths"),
    [
        ({"maxInputLength": 9, "maxTotalTokens": 10}, set()),
        ({"maxInputLength": 10, "maxTotalTokens": 10}, {"spec.tgiConfig.maxInputLength"}),
        ({"maxInputLength": 1, "maxTotalTokens": 2}, set()),
        ({"maxInputLength": 0}, {"spec.tgiConfig.maxInputLength"}),
        ({"maxTotalTokens": 0}, {"spec.tgiConfig.maxTotalTokens"}),
        ({"maxTotalTokens": -1}, {"spec.tgiConfig.maxTotalTokens"}),
    ],
)
def test_lengths_of_tgi(config: Document, paths: set[str]) -> None:
    assert set(tgi(config).errors) == paths


def test_tgi_takes_a_flag_once() -> None:
    started = tgi({"maxInputLength": 9}, spec={"extraArgs": ["--max-input-length", "8"]})
    assert set(started.errors) == {"spec.extraArgs[0]"}
    again = tgi({"maxInputLength": 9}, spec={"extraArgs": ["--max-input-tokens", "8"]})
    assert "once" in again.errors["spec.extraArgs[0]"]
    assert not tgi({"maxTotalTokens": 9}, spec={"extraArgs": ["--max-input-tokens", "8"]}).problems


@pytest.mark.parametrize(
    ("extra", "shards"), [([], True), (["--num-shard", "1"], False), (["--sharded=false"], False)]
)
def test_shards_of_tgi(extra: list[str], shards: bool) -> None:
    started = tgi(gpus=2, spec={"extraArgs": extra})
    assert tgi_own(started) == ([*(["--num-shard", "2"] if shards else []), *extra])
    assert not started.problems


def test_tgi_reads_the_path_that_is_there() -> None:
    assert tgi(path="/model-source/dir").args[:2] == ["--model-id", "/model-source/dir"]


@pytest.mark.parametrize("source", ["file:///baked/model", "/baked/model"])
def test_tgi_takes_a_path_in_its_image(source: str) -> None:
    """Deviation: upstream hands it the address of a file, which it takes for a repository."""
    started = start("tgi", source=source, gpus=1)
    assert started.args[:2] == ["--model-id", "/baked/model"]
    assert not started.problems


def test_tgi_loads_no_address() -> None:
    assert "cannot load a URL" in start("tgi", source="https://example.com/m", gpus=1).errors["spec.modelRef"]


# -- PersonaPlex, generic, and what all have


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"containerPort": 8998}, []),
        ({"containerPort": 9000}, ["--port", "9000"]),
        ({"endpoint": {}}, ["--port", "8080"]),
        ({"personaPlexConfig": {"cpuOffload": False, "quantize4Bit": False}}, []),
    ],
)
def test_personaplex_follows_its_port(spec: Document, expected: list[str]) -> None:
    """Deviation: upstream moves the probes and not the server."""
    started = start("personaplex", spec)
    assert started.args == ["--ssl", "/app/ssl", *expected]
    assert not started.problems


def test_a_generic_server_gets_what_is_written() -> None:
    started = start("generic", {"args": ["--verbose", ""], "command": ["/server"]}, gpus=2)
    assert (started.command, started.args, started.result.env) == (["/server"], ["--verbose", ""], [])
    plain = start("generic")
    assert (plain.command, plain.args, plain.result.env) == (None, [], [])
    assert not started.problems


@pytest.mark.parametrize("runtime", PORTS)
def test_a_command_of_ones_own_wins(runtime: str) -> None:
    assert start(runtime, {"command": ["/mine", "-x"]}).command == ["/mine", "-x"]
    default = ["/app/moshi/.venv/bin/python", "-m", "moshi.server"] if runtime == "personaplex" else None
    assert start(runtime, {"command": []}).command == default


@pytest.mark.parametrize(
    ("runtime", "config"), [("vllm", "vllmConfig"), ("tgi", "tgiConfig"), ("personaplex", "personaPlexConfig")]
)
def test_a_token_needs_the_name_of_its_secret(runtime: str, config: str) -> None:
    named = {config: {"hfTokenSecretRef": {"name": "hf", "key": "k", "optional": True}}}
    started = start(runtime, named)
    assert not started.problems
    assert started.result.env[0]["valueFrom"] == {"secretKeyRef": {"name": "hf", "key": "k", "optional": True}}
    path = f"spec.{config}.hfTokenSecretRef.name"
    assert set(start(runtime, {config: {"hfTokenSecretRef": {"key": "k"}}}).errors) == {path}


# -- no field is dropped silently


def wire_fields() -> set[str]:
    return {info.alias or name for name, info in InferenceServiceSpec.model_fields.items()}


def test_each_field_of_the_spec_has_its_readers() -> None:
    assert read_everywhere() | set(readings()) == wire_fields()
    assert not read_everywhere() & set(readings())
    assert all(set(reading.runtimes) <= set(PORTS) for reading in readings().values())
    assert all(not set(r.runtimes) & set(r.instead) and set(r.instead) <= set(PORTS) for r in readings().values())


# A value, and what of it must be seen in the arguments or the environment unless a problem names the field.
SEEN: dict[str, tuple[Any, str]] = {
    "contextSize": (4321, "4321"),
    "ropeScaling": ({"type": "yarn", "factor": "7.5"}, "7.5"),
    "parallelSlots": (13, "13"),
    "flashAttention": (True, "--flash-attn"),
    "jinja": (True, "--jinja"),
    "cacheTypeK": ("q5_1", "q5_1"),
    "cacheTypeV": ("q4_1", "q4_1"),
    "cacheTypeCustomK": ("turbo4", "turbo4"),
    "cacheTypeCustomV": ("turbo3", "turbo3"),
    "moeCPUOffload": (True, "--cpu-moe"),
    "moeCPULayers": (17, "17"),
    "noKvOffload": (True, "--no-kv-offload"),
    "tensorOverrides": (["exps=CPU"], "exps=CPU"),
    "batchSize": (2049, "2049"),
    "uBatchSize": (513, "513"),
    "noWarmup": (True, "--no-warmup"),
    "reasoningBudget": (77, "77"),
    "reasoningBudgetMessage": ("enough", "enough"),
    "metadataOverrides": (["a.b=int:1"], "a.b=int:1"),
    "extraArgs": (["--parallel", "3"], "--parallel"),
    "args": (["--verbose"], "--verbose"),
    "vllmConfig": ({"maxModelLen": 999}, "999"),
    "tgiConfig": ({"maxTotalTokens": 998}, "998"),
    "personaPlexConfig": ({"cpuOffload": True}, "--cpu-offload"),
}


def test_the_sample_above_has_each_field_that_some_runtime_reads() -> None:
    assert set(SEEN) == set(readings())


@pytest.mark.parametrize("runtime", PORTS)
@pytest.mark.parametrize("name", sorted(readings()))
def test_a_field_that_the_runtime_does_not_read_is_told(runtime: str, name: str) -> None:
    started = start(runtime, {name: SEEN[name][0]}, path=FILE, gpus=1)
    found = [problem for problem in started.problems if "does not read" in problem.reason]
    if runtime in readings()[name].runtimes:
        assert not found
    else:
        assert [(p.path, p.severity) for p in found] == [(f"spec.{name}", "warning")]
        assert runtime in found[0].reason
        instead = readings()[name].instead.get(runtime)
        assert (instead in found[0].reason) if instead else found[0].reason.endswith("remove it")


@pytest.mark.parametrize("runtime", [name for name in PORTS if name != "llamacpp"])
@pytest.mark.parametrize("gpu", [{"layers": 1}, {"sharding": {}}])
def test_layers_of_the_model_are_for_llamacpp(runtime: str, gpu: Document) -> None:
    started = start(runtime, gpus=1, gpu=gpu)
    assert f"hardware.gpu.{next(iter(gpu))}" in started.warnings["spec.modelRef"]


services = st.fixed_dictionaries(
    {
        "runtime": st.sampled_from(sorted(PORTS)),
        "names": st.sets(st.sampled_from(sorted(SEEN))),
        "gpus": st.integers(0, 4),
        "tag": st.sampled_from(["", ":server", ":server-b6000", ":v0.7.3", ":1.4.5", ":v0.20.0", "@sha256:abc"]),
    }
)


@given(services)
@settings(deadline=None)
def test_each_set_field_is_in_the_arguments_or_among_the_findings(drawn: dict[str, Any]) -> None:
    runtime, gpus = drawn["runtime"], drawn["gpus"]
    spec = {name: SEEN[name][0] for name in sorted(drawn["names"])}
    image = IMAGES[runtime].rpartition(":")[0] + drawn["tag"]
    started = start(runtime, spec, gpus=gpus, image=image, path=FILE)
    told = {problem.path.split(".")[1] for problem in started.problems}
    for name in spec:
        assert SEEN[name][1] in " ".join(started.args) or name in told, name
    again = start(runtime, dict(reversed(spec.items())), gpus=gpus, image=image, path=FILE)
    assert again.result == started.result
    assert [str(p).partition(": ")[2] for p in again.problems] == [
        str(p).partition(": ")[2] for p in started.problems
    ]


@given(inference_services(), models(), st.integers(0, 8), st.sampled_from(["", FILE]))
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_the_contract_allows_is_answered(
    service_document: Document, model_document: Document, gpus: int, path: str
) -> None:
    service = InferenceService.model_validate(service_document)
    served = {"m1": Model.model_validate(model_document)}
    started = serve(service, served, gpus=gpus, path=path)
    assert serve(service, served, gpus=gpus, path=path) == started
    assert all(isinstance(arg, str) for arg in started.args)
    names = [env["name"] for env in started.result.env]
    assert len(set(names)) == len(names)
    assert all("; " in problem.reason for problem in started.problems), started.problems
