"""How servers take requests, by what they are told, by their engine and its version."""

from dataclasses import replace
from typing import Any

import pytest

from components.engines.command_line import command_line_of
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines
from components.engines.served.behavior import ServerBehavior, concurrency_limit, server_behavior
from livefleet.fleet import Speaks

VLLM, SGLANG = "vllm/vllm-openai:v0.20.0", "lmsysorg/sglang:v0.5.9"
TGI, LLAMACPP = "ghcr.io/huggingface/text-generation-inference:3.3.6", "ghcr.io/ggml-org/llama.cpp:server-b7500"
OLLAMA = "ollama/ollama:0.12.6"


def answering(image: str, *args: str, **env: str) -> ServerBehavior:
    container: dict[str, Any] = {
        "image": image,
        "args": list(args),
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }
    return server_behavior(container, command_line_of(container))


@pytest.mark.parametrize(
    ("image", "args", "env", "expected"),
    [
        (VLLM, [], {}, ServerBehavior(batch=256)),
        (VLLM, ["--max-num-seqs", "8"], {}, ServerBehavior(batch=8, is_batch_set=True)),
        (VLLM, ["--max-num-seqs=8", "--max-num-seqs=9"], {}, ServerBehavior(batch=9, is_batch_set=True)),
        (VLLM, ["--max-num-seqs", "many"], {}, ServerBehavior(batch=256)),
        (SGLANG, [], {}, ServerBehavior(batch=2048)),
        (
            SGLANG,
            ["--max-running-requests=4", "--max-queued-requests=2"],
            {},
            ServerBehavior(batch=4, is_batch_set=True, queue=2),
        ),
        (TGI, [], {}, ServerBehavior("tgi", in_flight=128)),
        (TGI, ["--max-concurrent-requests", "10"], {}, ServerBehavior("tgi", in_flight=10)),
        (TGI, [], {"MAX_CONCURRENT_REQUESTS": "12"}, ServerBehavior("tgi", in_flight=12)),
        (
            TGI,
            ["--max-batch-size=3"],
            {"MAX_BATCH_SIZE": "5"},
            ServerBehavior("tgi", batch=3, is_batch_set=True, in_flight=128),
        ),
        (LLAMACPP, [], {}, ServerBehavior("llamacpp", batch=4)),
        (LLAMACPP.replace("7500", "6924"), [], {}, ServerBehavior("llamacpp", batch=1)),
        (LLAMACPP, ["-np", "2"], {}, ServerBehavior("llamacpp", batch=2, is_batch_set=True)),
        (LLAMACPP, [], {"LLAMA_ARG_N_PARALLEL": "3"}, ServerBehavior("llamacpp", batch=3, is_batch_set=True)),
        (LLAMACPP, ["-np", "-1"], {}, ServerBehavior("llamacpp", batch=4)),
        (OLLAMA, [], {}, ServerBehavior("ollama", batch=1, queue=512, context=4096)),
        (OLLAMA.replace("0.12.6", "0.6.6"), [], {}, ServerBehavior("ollama", batch=1, queue=512, context=2048)),
        (
            OLLAMA,
            [],
            {"OLLAMA_NUM_PARALLEL": "3", "OLLAMA_MAX_QUEUE": "7", "OLLAMA_CONTEXT_LENGTH": "100"},
            ServerBehavior("ollama", batch=3, is_batch_set=True, queue=7, context=100),
        ),
        (OLLAMA, [], {"OLLAMA_MAX_QUEUE": "no number"}, ServerBehavior("ollama", batch=1, queue=512, context=4096)),
        ("example.com/own:1", ["--max-num-seqs=3"], {}, ServerBehavior()),
    ],
)
def test_what_bounds_requests(image: str, args: list[str], env: dict[str, str], expected: ServerBehavior) -> None:
    found = answering(image, *args, **env)
    assert replace(found, image_refusal="", tool_refusal="", metrics_refusal="", images=None) == expected


@pytest.mark.parametrize(
    ("image", "args", "embeds"),
    [
        ("vllm/vllm-openai:v0.8.5", ["--task", "embed"], True),
        ("vllm/vllm-openai:v0.8.5", ["--task", "generate"], False),
        (VLLM, ["--runner", "pooling"], True),
        (SGLANG, ["--is-embedding"], True),
        (SGLANG, [], False),
        (LLAMACPP, ["--embedding"], True),
        (LLAMACPP, ["--embeddings"], True),
        ("ghcr.io/huggingface/text-embeddings-inference:cpu-1.8", [], True),
        ("ghcr.io/huggingface/text-embeddings-elsewhere:1", [], False),
    ],
)
def test_who_makes_embeddings(image: str, args: list[str], embeds: bool) -> None:
    assert answering(image, *args).embeds is embeds


def test_a_script_is_looked_into() -> None:
    container = {"image": VLLM, "command": ["sh", "-c", "sleep 1; exec vllm serve m --max-num-seqs 5"]}
    assert server_behavior(container, command_line_of(container)).batch == 5


def test_the_workbench_speaks_every_api_of_the_tables() -> None:
    for name in engines():
        container = {"image": f"example.com/{name}:1"}
        assert Speaks(server_behavior(container, command_line_of(container, name)).api)


@pytest.mark.parametrize("version", ["v0.6.3", "v0.11.0", "v0.20.0"])
@pytest.mark.parametrize("device", [Device("L4", 22 * 2**30), Device("A100", 80 * 2**30), Device("H100", 80 * 2**30)])
def test_memory_is_counted_for_as_many_requests(version: str, device: Device) -> None:
    """The default of requests at once is in two tables of vLLM: what takes them, and what memory they need."""
    container = {"image": f"vllm/vllm-openai:{version}"}
    counted = memory_of(engines()["vllm"], version, device)
    assert counted is not None
    assert concurrency_limit(container, command_line_of(container), device).limit == counted.sequences


TEI = "ghcr.io/huggingface/text-embeddings-inference:cpu-1.8"


@pytest.mark.parametrize(
    ("image", "args", "env", "expected"),
    [
        # docs/source/en/cli_arguments.md of v1.8.3 and v1.9.0.
        (TEI, [], {}, ("tei", 512, 32, "", False)),
        (TEI.replace("1.8", "1.9"), [], {}, ("tei", 512, 32, "", True)),
        (TEI.replace("1.8", "1.9"), ["--auto-truncate", "false"], {}, ("tei", 512, 32, "", False)),
        (TEI, ["--auto-truncate"], {}, ("tei", 512, 32, "", True)),
        (TEI, [], {"AUTO_TRUNCATE": "true"}, ("tei", 512, 32, "", True)),
        (TEI, ["--max-client-batch-size", "8"], {"MAX_CONCURRENT_REQUESTS": "9"}, ("tei", 9, 8, "", False)),
        (TEI, ["--model-id", "a/b"], {"MODEL_ID": "c/d"}, ("tei", 512, 32, "a/b", False)),
        (TEI, [], {"MODEL_ID": "c/d"}, ("tei", 512, 32, "c/d", False)),
        ("example.com/own:1.9", ["--model-id", "a/b"], {}, ("openai", None, None, "", False)),
    ],
)
def test_a_server_of_embeddings_has_bounds_of_its_own(
    image: str, args: list[str], env: dict[str, str], expected: tuple[Any, ...]
) -> None:
    found = answering(image, *args, **env)
    assert (found.api, found.in_flight, found.inputs, found.model, found.truncates) == expected


@pytest.mark.parametrize(
    ("image", "args", "env", "images"),
    [
        # tools/server/README.md of llama.cpp: the projector decides, and -hf may bring one.
        (LLAMACPP, ["-m", "x.gguf"], {}, False),
        (LLAMACPP, ["-m", "x.gguf", "--mmproj", "p.gguf"], {}, True),
        (LLAMACPP, ["-m", "x.gguf", "-mm", "p.gguf"], {}, True),
        (LLAMACPP, ["-m", "x.gguf"], {"LLAMA_ARG_MMPROJ": "p.gguf"}, True),
        (LLAMACPP, ["-hf", "ggml-org/gemma-3-4b-it-GGUF"], {}, None),
        (LLAMACPP, [], {"LLAMA_ARG_HF_REPO": "ggml-org/gemma-3-4b-it-GGUF"}, None),
        (VLLM, [], {}, None),
        (SGLANG, [], {}, None),
    ],
)
def test_whether_a_command_line_says_that_images_are_read(
    image: str, args: list[str], env: dict[str, str], images: bool | None
) -> None:
    assert answering(image, *args, **env).images is images


@pytest.mark.parametrize(
    ("image", "args", "refuses"),
    [
        (VLLM, [], True),
        (VLLM, ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"], False),
        (SGLANG, [], False),
        (TGI, [], False),
    ],
)
def test_who_takes_requests_that_leave_a_tool_to_the_model(image: str, args: list[str], refuses: bool) -> None:
    assert bool(answering(image, *args).tool_refusal) is refuses
