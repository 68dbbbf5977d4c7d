"""Servers that are recognized by several signs, and programs in front of them that are not."""

from typing import Any

import pytest

from components.engines.container_variables import with_values
from components.engines.registry import engines
from components.engines.serving import serving_line
from components.engines.signs import models_of, server_in, servers

GPU = {"devices": True}


def container(image: str, *args: str, command: list[str] | None = None, **env: str) -> dict[str, Any]:
    variables = [{"name": name, "value": value} for name, value in env.items()]
    return {"name": "c", "image": image, "command": command, "args": [*args], "env": variables}


KNOWN = [
    # A certain sign: an image that contains nothing else, or the program.
    ("vllm", container("quay.io/rh-aiservices-bu/vllm-openai-ubi9:0.4.2", "--model", "a/b"), False),
    ("tgi", container("example.com/dlc/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311"), False),
    ("tei", container("ghcr.io/huggingface/text-embeddings-inference:cpu-1.5"), False),
    ("nim", container("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.1.0"), False),
    ("triton", container("example.com/own:1", command=["/opt/tritonserver/bin/tritonserver"]), False),
    ("lorax", container("ghcr.io/predibase/lorax:latest"), False),
    # Two weak ones of different kinds.
    ("vllm", container("example.com/vllm:1", "--model", "a/b"), False),
    ("vllm", container("example.com/vllm:1"), True),
    ("vllm", container("example.com/neuron-vllm0.5.0:v8", command=["/usr/local/bin/run.sh"]), True),
    ("ollama", container("example.com/llm-ollama:1", OLLAMA_HOST="0.0.0.0"), False),
]
OTHER = [
    (container("example.com/vllm:1"), False),
    (container("lmcache/lmstack-router:latest", "--model", "a"), True),
    (container("vllm/vllm-router:1", "--model", "a"), True),
    (container("lmcache/vllm-openai:1", command=["/opt/venv/bin/lmcache_server", "0.0.0.0"]), True),
    (container("nvcr.io/nvidia/tritonserver:24.04-py3-sdk", command=["sleep", "infinity"]), True),
    (container("example.com/own:1", "--engine", "vllm", "--model", "a/b"), True),
    (container("ghcr.io/open-webui/open-webui:ollama", OLLAMA_BASE_URL="http://x"), False),
]


@pytest.mark.parametrize(("name", "each", "devices"), KNOWN)
def test_a_server_is_recognized_by_its_signs(name: str, each: dict[str, Any], devices: bool) -> None:
    found = server_in(each, devices=devices)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(("each", "devices"), OTHER)
def test_one_weak_sign_or_another_program_is_no_server(each: dict[str, Any], devices: bool) -> None:
    assert server_in(each, devices=devices) is None


def test_labels_are_a_sign() -> None:
    own = container("example.com/own:1", "--model-path", "a/b", "--tp", "2")
    assert server_in(own) is None
    found = server_in(own, {"model.aibrix.ai/engine": "sglang"})
    assert found is not None
    assert found.name == "sglang"


def test_every_server_with_flag_tables_is_an_engine() -> None:
    assert {server.engine for server in servers().values() if server.engine} <= engines().keys()
    assert {"vllm", "tei", "nim", "jetstream", "localai", "kaito", "ray-serve"} <= servers().keys()


def test_variables_of_the_container_are_expanded() -> None:
    words = ["-c", "exec vllm serve $MODEL --max-model-len ${LEN} --port $OTHER"]
    line = serving_line(container("example.com/own:1", *words, command=["bash"], MODEL="a/b", LEN="8192"))
    assert line is not None
    assert line.args[1] == "exec vllm serve a/b --max-model-len 8192 --port $OTHER"
    kubelet = container("vllm/vllm-openai:v0.11.0", "--model=$(M)", "--x=$$(M)", "--y=$(N)", M="$(A)/b", A="a")
    assert with_values({**kubelet, "env": kubelet["env"][::-1]})["args"] == ["--model=a/b", "--x=$$(M)", "--y=$(N)"]


def test_what_a_secret_holds_is_not_expanded() -> None:
    """What is expanded is shown."""
    each = container("vllm/vllm-openai:v0.11.0", "--api-key", "$(API_KEY)", API_KEY="sk-1")
    assert with_values(each)["args"] == ["--api-key", "$(API_KEY)"]


@pytest.mark.parametrize(
    ("name", "each", "variables", "model"),
    [
        ("tgi", container("x", "--model-id", "a/b"), {"MODEL_ID": "c/d"}, "a/b"),
        ("tgi", container("x"), {"MODEL_ID": "c/d"}, "c/d"),
        ("llamacpp", container("x", "-m", "/m.gguf", "--alias=own"), {}, "own"),
        ("ollama", container("x", "-c", "ollama serve & ollama pull gemma3:4b", command=["sh"]), {}, "gemma3:4b"),
        ("nim", container("nvcr.io/nim/meta/llama-3.1-8b-instruct:1"), {}, "meta/llama-3.1-8b-instruct"),
        ("jetstream", container("x", "model_name=gemma-7b"), {}, "gemma-7b"),
        ("localai", container("x", "phi-2"), {}, "phi-2"),
    ],
)
def test_the_model_of_a_server(name: str, each: dict[str, Any], variables: dict[str, str], model: str) -> None:
    assert models_of(servers()[name], each, variables) == (model,)
    assert models_of(servers()[name], container("x"), {}) == ()


SERVERS = [
    (
        "lmdeploy",
        "/models/Qwen",
        container("openmmlab/lmdeploy:cu12", command=["lmdeploy", "serve", "api_server", "/models/Qwen"]),
    ),
    (
        "lmdeploy",
        "qwen2-vl",
        container("x:1", "-c", "lmdeploy serve api_server a/b --model-name qwen2-vl", command=["bash"]),
    ),
    ("aphrodite", "a/b", container("alpindale/aphrodite-openai:v0.6.7", "--model", "a/b", "--port", "2242")),
    ("aphrodite", "a/b", container("x:1", command=["aphrodite", "run", "a/b", "--port", "2242"])),
    (
        "max",
        "google/gemma-3-27b-it",
        container("modular/max-nvidia-full:25.3", "--model-path", "google/gemma-3-27b-it"),
    ),
    ("max", "a/b", container("x:1", command=["max", "serve", "--model=a/b"])),
    (
        "openvino",
        "resnet50",
        container("openvino/model_server:latest", "--model_path=/models", "--model_name=resnet50"),
    ),
    (
        "openvino",
        "a/b",
        container("openvino/model_server:2025.3-gpu", "--source_model", "a/b", "--rest_port", "8000"),
    ),
    ("infinity", "BAAI/bge-m3", container("michaelf34/infinity:latest-cpu", "v2", INFINITY_MODEL_ID="BAAI/bge-m3")),
    (
        "tei",
        "intfloat/e5-large",
        container("x:1", "-c", "text-embeddings-router --model-id intfloat/e5-large", command=["sh"]),
    ),
    (
        "tabby",
        "StarCoder-1B",
        container("tabbyml/tabby:0.20", "serve", "--model", "StarCoder-1B", "--device", "cuda"),
    ),
    (
        "huggingfaceserver",
        "own",
        container("kserve/huggingfaceserver:v0.15.0-gpu", "--model_name=m", "--model_name=own"),
    ),
    ("djl", "a/b", container("example.com/djl-inference:0.32.0-lmi14.0.0-cu126", HF_MODEL_ID="a/b")),
    (
        "lightllm",
        "/models/q",
        container("x:1", command=["python", "-m", "lightllm.server.api_server", "--model_dir", "/models/q"]),
    ),
    ("mistralrs", "a/b", container("ghcr.io/ericlbuehler/mistral.rs:cuda-90", "plain", "-m", "a/b")),
    ("mlc", "HF://mlc-ai/m", container("x:1", command=["mlc_llm", "serve", "HF://mlc-ai/m"])),
    ("llamafile", "/m.gguf", container("x:1", command=["/llamafile", "--server", "-m", "/m.gguf"])),
    (
        "ktransformers",
        "a/b",
        container("approachingai/ktransformers:v0.2.1", command=["ktransformers", "--model_path", "a/b"]),
    ),
    (
        "fastdeploy",
        "a/b",
        container("x:1", command=["python", "-m", "fastdeploy.entrypoints.openai.api_server", "--model", "a/b"]),
    ),
    (
        "fastchat",
        "a/b",
        container("x:1", command=["python3", "-m", "fastchat.serve.vllm_worker", "--model-path", "a/b"]),
    ),
    ("faster-whisper", "a/b", container("ghcr.io/speaches-ai/speaches:0.8-cuda", WHISPER__MODEL="a/b")),
    ("openllm", "a/b", container("ghcr.io/bentoml/openllm:0.6", command=["openllm", "serve", "a/b"])),
    (
        "vllm",
        "qwen",
        container(
            "x:1",
            "-c",
            "python -m ipex_llm.vllm.xpu.entrypoints.openai.api_server --served-model-name qwen",
            command=["bash"],
        ),
    ),
    # Programs that start others, after options of their own.
    (
        "tensorrt-llm",
        "a/b",
        container("x:1", "-c", "mpirun -np 2 trtllm-llmapi-launch trtllm-serve a/b --tp_size 16", command=["bash"]),
    ),
    ("vllm", "a/b", container("x:1", command=["numactl", "--cpunodebind=0", "vllm", "serve", "a/b"])),
    ("vllm", "a/b", container("x:1", command=["tini", "--", "vllm", "serve", "a/b"])),
]
WITHOUT_MODEL = [
    ("caikit", container("quay.io/opendatahub/caikit-tgis-serving:fast")),
    ("koboldcpp", container("koboldai/koboldcpp:latest")),
    ("llama-swap", container("ghcr.io/mostlygeek/llama-swap:cuda")),
    ("mindie", container("x:1", "-c", "cd /opt; ./bin/mindieservice_daemon", command=["bash"])),
    ("mlserver", container("seldonio/mlserver:1.6.0-huggingface")),
    ("text-generation-webui", container("atinoda/text-generation-webui:default")),
    ("torchserve", container("pytorch/torchserve:0.12.0-gpu", "torchserve", "--start")),
    ("transformers", container("x:1", command=["transformers", "serve", "--port", "8000"])),
    ("triton", container("x:1", "-c", "mpirun -n 1 tritonserver --model-repository=/models", command=["bash"])),
    ("triton", container("x:1", command=["python3", "/backend/scripts/launch_triton_server.py", "--world_size=2"])),
]
NO_SERVERS = [
    container("ghcr.io/berriai/litellm:main", "--config", "/c.yaml"),
    container("nvcr.io/nvidia/nemo-microservices/guardrails:25.06"),
    container("nvcr.io/nvidia/pytorch:24.01-py3", command=["torchrun", "train.py"]),
    container("x:1", command=["mpirun", "-np", "8", "python", "train.py"]),
    container("x:1", command=["transformers", "chat"]),
    container("x:1", command=["max", "benchmark"]),
    container("jupyter/tensorflow-notebook"),
]


@pytest.mark.parametrize(("name", "model", "each"), SERVERS)
def test_servers_of_other_projects(name: str, model: str, each: dict[str, Any]) -> None:
    found = server_in(each, devices=True)
    assert found is not None
    variables = {variable["name"]: variable["value"] for variable in each["env"]}
    assert (found.name, models_of(found, each, variables)) == (name, (model,))


@pytest.mark.parametrize(("name", "each"), WITHOUT_MODEL)
def test_servers_that_name_no_model(name: str, each: dict[str, Any]) -> None:
    found = server_in(each, devices=True)
    assert found is not None
    assert (found.name, models_of(found, each)) == (name, ())


@pytest.mark.parametrize("each", NO_SERVERS)
def test_what_only_holds_accelerators_is_no_server(each: dict[str, Any]) -> None:
    assert server_in(each, devices=True) is None
