"""llmaz spec 3: the shipped backends, in both editions, against a table written from the spec."""

import json
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.families import kinds
from components.families.llmaz.shipped import shipped, shipped_names
from components.fleet.words import Edition, WorkloadChoice
from tests.fleets import GPU, container, fleet_of, objects, open_model, playground, pod, runtime

MODEL_PATH = "/workspace/models/models--Qwen--Qwen2-0.5B"
GGUF = {"modelHub": {"modelID": "a/b", "filename": "b.gguf"}}
HTTP = "--host 0.0.0.0 --port 8080"
SOURCES: dict[str, Any] = {"llamacpp": GGUF, "ollama": "ollama://qwen2:0.5b"}

# name: image, command, arguments, requests, limits, shared memory, readiness path
TABLE: dict[str, tuple[Any, ...]] = {
    "vllm": (
        "vllm/vllm-openai:v0.7.3", "python3 -m vllm.entrypoints.openai.api_server",
        f"--model {MODEL_PATH} --served-model-name m {HTTP}", ("4", "8Gi"), "2Gi", "/health",
    ),
    "sglang": (
        "lmsysorg/sglang:v0.4.5-cu121", "python3 -m sglang.launch_server",
        f"--model-path {MODEL_PATH} --served-model-name m {HTTP}", ("4", "8Gi"), "2Gi", "/health_generate",
    ),
    "llamacpp": (
        "ghcr.io/ggerganov/llama.cpp:server", "./llama-server",
        f"-m /workspace/models/b.gguf {HTTP} --metrics", ("2", "4Gi"), None, "/health",
    ),
    "tgi": (
        "ghcr.io/huggingface/text-generation-inference:2.3.1", "",
        f"--model-id {MODEL_PATH} --port 8080", ("4", "8Gi"), None, "/health",
    ),
    "tensorrt-llm": (
        "nvcr.io/nvidia/tritonserver:25.03-trtllm-python-py3", "trtllm-serve",
        f"{MODEL_PATH} {HTTP}", ("4", "16Gi"), None, "/health",
    ),
    "ollama": ("ollama/ollama:", "sh -c", None, ("2", "4Gi"), None, None),
}  # fmt: skip
GAUGES = {
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting"),
    "llamacpp": ("llamacpp:requests_processing", "llamacpp:requests_deferred"),
    "tgi": ("tgi_batch_current_size", "tgi_queue_size"),
    "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs"),
}


def documents(backend: str, **fields: Any) -> tuple[dict[str, Any], ...]:
    source = SOURCES.get(backend, "Qwen/Qwen2-0.5B")
    config = {"backendName": backend, **fields}
    return open_model(source=source), playground(backendRuntimeConfig=config)


def test_the_table_is_complete() -> None:
    assert set(shipped_names()) == set(TABLE)


@pytest.mark.parametrize("backend", TABLE)
def test_containers_are_those_of_the_table(backend: str) -> None:
    image, command, args, (cpu, memory), shm, _ = TABLE[backend]
    spec = pod(*documents(backend))
    got = spec["containers"][0]
    assert got["image"].startswith(image)
    assert got.get("command", []) == command.split()
    if args is not None:
        assert got["args"] == args.split()
    assert got["resources"] == {part: {"cpu": cpu, "memory": memory} for part in ("requests", "limits")}
    memory_volumes = [v["emptyDir"]["sizeLimit"] for v in spec.get("volumes", []) if v["name"] == "dshm"]
    assert memory_volumes == ([shm] if shm else [])


@pytest.mark.parametrize("backend", TABLE)
def test_probes_are_those_of_the_table(backend: str) -> None:
    ready = TABLE[backend][-1]
    got = container(*documents(backend))
    probes = {key: value for key, value in got.items() if key.endswith("Probe")}
    if ready is None:
        assert probes == {}
        return
    http = {"path": "/health", "port": 8080}
    slow = {"initialDelaySeconds": 15, "periodSeconds": 10, "failureThreshold": 3}
    assert probes == {
        "startupProbe": {"httpGet": http, "periodSeconds": 10, "failureThreshold": 30},
        "livenessProbe": {"httpGet": http, **slow},
        "readinessProbe": {
            "httpGet": {"path": ready, "port": 8080},
            "initialDelaySeconds": 5,
            "periodSeconds": 5,
            "failureThreshold": 3,
        },
    }


@pytest.mark.parametrize("backend", TABLE)
def test_hooks_read_both_gauges_and_the_connections_of_the_serving_port(backend: str) -> None:
    script = container(*documents(backend))["lifecycle"]["preStop"]["exec"]["command"][-1]
    assert "/:1F90$/" in script  # 8080
    gauges = GAUGES.get(backend, ())
    assert all(gauge in script for gauge in gauges)
    assert ("http://localhost:8080/metrics" in script) == bool(gauges)


def test_llamacpp_speculates_without_resources() -> None:
    draft = open_model("d", {"modelHub": {"modelID": "a/b", "filename": "d.gguf"}})
    claims = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
    config = {"backendName": "llamacpp"}
    got = container(open_model(source=GGUF), draft, playground(modelClaims=claims, backendRuntimeConfig=config))
    assert (
        got["args"]
        == (
            f"-m /workspace/models/b.gguf -md /workspace/models/d.gguf {HTTP} --draft-max 16 --draft-min 5 --metrics"
        ).split()
    )
    assert "resources" not in got


def test_vllm_speculates_with_more_room() -> None:
    claims = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
    got = container(open_model(), open_model("d", "Qwen/D"), playground(modelClaims=claims))
    assert (
        got["args"]
        == (
            f"--model {MODEL_PATH} --served-model-name m "
            f"--speculative_model /workspace/models/models--Qwen--D {HTTP} "
            "--num_speculative_tokens 5 -tp 1"
        ).split()
    )
    assert got["resources"] == {
        "requests": {"cpu": "4", "memory": "8Gi"},
        "limits": {"cpu": "8", "memory": "16Gi"},
    }


def test_ollama_serves_pulls_and_stays() -> None:
    got = container(*documents("ollama"))
    script, _, model = got["args"]
    assert got["env"] == [{"name": "OLLAMA_HOST", "value": "0.0.0.0:8080"}]
    positions = [script.index(words) for words in ("ollama serve", "ollama list", 'ollama run -- "$1"')]
    assert positions == sorted(positions)
    assert script.endswith('wait "$server"\n')
    assert model == "qwen2:0.5b"


@pytest.mark.parametrize("backend", TABLE)
def test_no_current_image_floats(backend: str) -> None:
    current = shipped(backend, Edition.CURRENT)
    assert current is not None
    version = current.spec.version
    assert any(character.isdigit() for character in version), version
    assert version not in ("latest", "main", "nightly")
    upstream = shipped(backend)
    assert upstream is not None
    assert upstream.spec.version != version
    assert upstream.spec.recommended_configs == current.spec.recommended_configs


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("workload", [WorkloadChoice.LWS, WorkloadChoice.DEPLOYMENT])
@pytest.mark.parametrize("backend", TABLE)
def test_what_is_rendered_is_valid_kubernetes(backend: str, workload: WorkloadChoice, edition: Edition) -> None:
    model, play = documents(backend)
    model["spec"]["inferenceConfig"] = {"flavors": [{**GPU, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}]}
    elastic = {"maxReplicas": 3, "scaleTrigger": {"hpa": {}}}
    play["spec"] |= {"elasticConfig": elastic}
    for kind, body in objects(model, play, workload=workload, runtimes=edition).items():
        if kind == "LeaderWorkerSet":
            kinds().by_name(f"leaderworkerset.x-k8s.io/v1/{kind}").model.model_validate(body)
        else:
            kubernetes_validate.validate(body, "1.36", strict=True)


def test_unknown_backends_are_not_shipped() -> None:
    assert shipped("nope") is None


def test_rendering_leaves_shipped_runtimes_as_they_are() -> None:
    before = [json.dumps(r.wire()) for r in map(shipped, shipped_names()) if r]
    for backend in TABLE:
        fleet_of(*documents(backend, args=["--port", "9000"], envs=[{"name": "A", "value": "b"}]))
    assert [json.dumps(r.wire()) for r in map(shipped, shipped_names()) if r] == before


def test_a_runtime_of_ones_own_needs_no_shipped_one() -> None:
    own = runtime("mine", recommendedConfigs=[{"name": "default", "args": ["x"]}])
    config = {"backendName": "mine"}
    assert container(open_model(), own, playground(backendRuntimeConfig=config))["args"] == ["x"]
