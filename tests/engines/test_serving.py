"""Containers that serve a model, and containers of the same images that do not."""

import pytest

from components.engines.serving import demonstration_of, serving_line


def container(image: str, command: list[str] | None = None, args: list[str] | None = None) -> dict[str, object]:
    return {"name": "c", "image": image, "command": command, "args": args}


SERVING = [
    ("vllm", container("vllm/vllm-openai:v0.9.0", None, ["--model", "a/b"])),
    ("vllm", container("registry.example.com/mirror/vllm/vllm-openai:v0.9.0")),
    # vllm-project/production-stack, helm/templates/deployment-vllm-multi.yaml
    ("vllm", container("lmcache/vllm-openai:latest", ["/opt/venv/bin/vllm", "serve", "a/b", "--host", "0.0.0.0"])),
    # llm-d/llm-d, guides: the image is the project's own
    ("vllm", container("ghcr.io/llm-d/llm-d-cuda:v0.3.0", ["/bin/sh", "-c"], ["source /x; exec vllm serve a/b"])),
    ("vllm", container("example.com/own:1", ["python3", "-m", "vllm.entrypoints.openai.api_server"])),
    ("sglang", container("lmsysorg/sglang:v0.5.3", ["python3", "-m", "sglang.launch_server", "--model-path", "a"])),
    ("sglang", container("example.com/own:1", ["bash", "-c", "python3 -m sglang.launch_server --model-path a"])),
    ("llamacpp", container("ghcr.io/ggml-org/llama.cpp:server-b6500", None, ["-m", "/m.gguf"])),
    ("llamacpp", container("example.com/own:1", ["llama-server", "-m", "/m.gguf"])),
    ("tgi", container("ghcr.io/huggingface/text-generation-inference:3.3.4", None, ["--model-id", "a/b"])),
    ("ollama", container("ollama/ollama:0.12.0")),
    ("ollama", container("ollama/ollama:0.12.0", ["ollama", "serve"])),
    ("tensorrt-llm", container("example.com/own:1", ["trtllm-serve", "a/b"])),
]
OTHER = [
    container("nginx:1.29"),
    container("vllm/vllm-openai:v0.9.0", ["sleep", "infinity"]),
    container("vllm/vllm-openai:v0.9.0", ["vllm", "bench", "serve", "--model", "a/b"]),
    container("vllm/vllm-openai:v0.9.0", ["/usr/bin/tail", "-f", "/dev/null"]),
    container("ollama/ollama:0.12.0", None, ["pull", "llama3"]),
    container("ollama/ollama:0.12.0", ["ollama", "run", "llama3"]),
    container("example.com/own:1", ["python3", "-m", "http.server"]),
    container("example.com/own:1", ["bash", "-c", "echo vllm"]),
    container("lmcache/lmstack-router:latest", None, ["--service-discovery", "k8s"]),
    container("ghcr.io/llm-d/llm-d-inference-scheduler:v0.3.0", None, ["--pool-name", "a"]),
    container(""),
    {"name": "c"},
]


@pytest.mark.parametrize(("engine", "each"), SERVING)
def test_an_engine_is_recognized_by_image_program_or_script(engine: str, each: dict[str, object]) -> None:
    line = serving_line(each)
    assert line is not None
    assert line.engine == engine


@pytest.mark.parametrize("each", OTHER)
def test_other_containers_do_not_serve(each: dict[str, object]) -> None:
    assert serving_line(each) is None


DEMONSTRATION = "vllm.entrypoints.api_server"


@pytest.mark.parametrize(
    ("each", "program"),
    [
        (container("vllm/vllm-openai:v0.6.0", ["python3", "-m", DEMONSTRATION], ["--model", "a"]), DEMONSTRATION),
        (container("vllm/vllm-openai:v0.6.0", ["/usr/bin/python"], ["-m", DEMONSTRATION]), DEMONSTRATION),
        (
            container("example.com/own:1", ["sh", "-c", f"cd /x && exec python -m {DEMONSTRATION} --port 80"]),
            DEMONSTRATION,
        ),
        (container("vllm/vllm-openai:v0.6.0", ["python3", "-m", "vllm.entrypoints.openai.api_server"]), ""),
        (container("vllm/vllm-openai:v0.6.0", None, ["--model", DEMONSTRATION]), ""),
        (container("vllm/vllm-openai:v0.6.0", ["sh", "-c", f"echo {DEMONSTRATION}; vllm serve a/b"]), ""),
        (container("lmsysorg/sglang:v0.5.3", ["python3", "-m", "sglang.launch_server"]), ""),
    ],
)
def test_the_demonstration_server_is_told_from_the_openai_server(each: dict[str, object], program: str) -> None:
    line = serving_line(each)
    assert line is not None
    assert demonstration_of(line) == program
