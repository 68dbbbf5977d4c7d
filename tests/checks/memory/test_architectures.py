"""Models that the version of their engine cannot run."""

import csv
import re
from importlib.resources import files

import pytest

from components.checks.memory import architecture_names, catalog
from components.checks.memory.architecture_names import architecture_of
from components.checks.memory.architectures import check_architectures
from components.checks.memory.config import read_config
from components.checks.memory.verdicts import verdicts
from components.checks.memory.workloads.known import KnownShapes, OwnShape
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from tests.checks.memory.fleets import Object, fleet, leader_worker_set, open_model, playground, pod

VLLM, SGLANG = "vllm/vllm-openai", "lmsysorg/sglang"


def found(*documents: Object, shapes: KnownShapes = KnownShapes()) -> list[Problem]:  # noqa: B008  it is frozen
    return list(check_architectures(verdicts(fleet(*documents), shapes), shapes))


def served(image: str, *command: str) -> Object:
    template = pod("p5.48xlarge", list(command), 1)
    template["spec"]["containers"][0]["image"] = image
    return leader_worker_set(template)


@pytest.mark.parametrize(
    ("image", "command", "first", "remedy"),
    [
        # The release notes of vLLM 0.8.4, 0.8.0, 0.8.3 and 0.10.1 name these models.
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "Qwen/Qwen3-8B"], "0.8.4", f"{VLLM}:v0.20.0"),
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "google/gemma-3-27b-it"], "0.8.0", f"{VLLM}:v0.20.0"),
        (
            f"{VLLM}:v0.8.2-x86_64",
            ["vllm", "serve", "meta-llama/Llama-4-Scout-17B-16E-Instruct"],
            "0.8.3",
            ":v0.20.0",
        ),
        ("example.com/mirror/vllm:v0.9.0", ["vllm", "serve", "openai/gpt-oss-20b"], "0.10.1", "mirror/vllm:v0.20.0"),
        # Another number format of the same model.
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "acme/Qwen3-8B-FP8"], "0.8.4", ":v0.20.0"),
        # Newer than the image that the project uses itself.
        (f"{VLLM}:v0.20.0", ["vllm", "serve", "MiniMaxAI/MiniMax-M3"], "0.24.0", f"{VLLM}:v0.24.0"),
        (
            f"{SGLANG}:v0.4.10",
            ["python3", "-m", "sglang.launch_server", "--model-path", "openai/gpt-oss-20b"],
            "0.5.1",
            f"{SGLANG}:v0.5.4",
        ),
    ],
)
def test_older_releases_lack_it(image: str, command: list[str], first: str, remedy: str) -> None:
    (problem,) = found(served(image, *command))
    assert problem.rule is RuleId.ARCHITECTURE_UNSUPPORTED
    assert problem.is_error
    assert f"the first release that can is {first}" in problem.reason
    assert remedy in problem.reason
    assert problem.path.endswith("containers[0].image")


@pytest.mark.parametrize(
    ("image", "command"),
    [
        (f"{VLLM}:v0.8.4", ["vllm", "serve", "Qwen/Qwen3-8B"]),
        (f"{VLLM}:v0.20.0", ["vllm", "serve", "google/gemma-3-27b-it"]),
        # The Transformers library in the image has it.
        (f"{VLLM}:v0.8.3", ["vllm", "serve", "Qwen/Qwen3-8B"]),
        (f"{SGLANG}:v0.5.4", ["python3", "-m", "sglang.launch_server", "--model-path", "openai/gpt-oss-20b"]),
        # Unknown: the version, the model, and what runs.
        (f"{VLLM}:latest", ["vllm", "serve", "Qwen/Qwen3-8B"]),
        ("example.com/acme/server:v0.7.3", ["vllm", "serve", "Qwen/Qwen3-8B"]),
        (f"{VLLM}:v9.0.0", ["vllm", "serve", "Qwen/Qwen3-8B"]),
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "acme/private-8B"]),
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "Qwen/Qwen3-8B", "--model-impl", "transformers"]),
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "Qwen/Qwen3-8B", "--hf-overrides", '{"architectures": ["X"]}']),
        (f"{VLLM}:v0.7.3", ["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct"]),
        # Converted from Qwen3ForCausalLM: vLLM 0.10.0 to 0.33.0 test this model (tests/models/registry.py).
        (f"{VLLM}:v0.10.0", ["vllm", "serve", "tomaarsen/Qwen3-Reranker-0.6B-seq-cls"]),
        (f"{VLLM}:v0.20.0", ["vllm", "serve", "tomaarsen/Qwen3-Reranker-0.6B-seq-cls"]),
        (f"{VLLM}:v0.20.0", ["vllm", "serve", "jason9693/Qwen2.5-1.5B-apeach"]),
        # params.json, which vLLM prefers since 0.12.0, names another architecture than config.json.
        (f"{VLLM}:v0.12.0", ["vllm", "serve", "mistralai/Devstral-2-123B-Instruct-2512"]),
    ],
)
def test_nothing_is_said_of_releases_that_have_it_or_may_have_it(image: str, command: list[str]) -> None:
    assert found(served(image, *command)) == []


def test_a_release_without_any_form_of_it() -> None:
    """The table of vLLM 0.7.3 has no architecture of Qwen3: nothing can be converted."""
    (problem,) = found(served(f"{VLLM}:v0.7.3", "vllm", "serve", "tomaarsen/Qwen3-Reranker-0.6B-seq-cls"))
    assert "Qwen3ForSequenceClassification" in problem.reason


def test_a_release_that_removed_it() -> None:
    """vLLM 0.33.0 names 0.23.0 as the last release with QWenLMHeadModel (_PREVIOUSLY_SUPPORTED_MODELS)."""
    (problem,) = found(served(f"{VLLM}:v0.28.0", "vllm", "serve", "Qwen/Qwen-7B-Chat"))
    assert problem.reason.endswith(f"the last release that can is 0.23.0; set {problem.path} to {VLLM}:v0.23.0")


def test_the_version_of_a_runtime_of_llmaz_is_the_remedy() -> None:
    """Following the message ends the problem: vLLM 0.7.3 is the default of llmaz."""
    model = open_model("Qwen/Qwen3-8B")
    (problem,) = found(model, playground())
    assert problem.path == "spec.backendRuntimeConfig.version"
    advice = re.search(r"set spec\.backendRuntimeConfig\.version to (\S+)$", problem.reason)
    assert advice
    assert found(model, playground(version=advice[1])) == []


def test_the_configuration_that_an_environment_names_has_precedence() -> None:
    config = (
        '{"architectures": ["GptOssForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,'
    )
    config += '"num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 128, "torch_dtype": "bfloat16"}'
    shape = read_config(config, "acme/own")
    assert shape.architecture == "GptOssForCausalLM"
    shapes = KnownShapes(own={"acme/own": OwnShape(shape)})
    (problem,) = found(served(f"{VLLM}:v0.9.0", "vllm", "serve", "acme/own"), shapes=shapes)
    assert "GptOssForCausalLM" in problem.reason


def test_the_architecture_of_almost_every_model_of_the_catalog_is_known() -> None:
    unknown = [name for name in catalog.names() if not architecture_of(name)]
    assert len(unknown) <= 20, unknown


def test_the_table_has_each_model_once() -> None:
    text = files("components.checks.memory").joinpath("architectures.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    names = [row["model"] for row in rows]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"\w+", row["architecture"]) for row in rows)
    # The names that stand for the code of the Transformers library are in no configuration.
    assert not [row for row in rows if row["architecture"].startswith("Transformers")]
    assert all(row["source"] in (architecture_names.__doc__ or "") for row in rows)


LLAMA, TGI = "ghcr.io/ggml-org/llama.cpp", "ghcr.io/huggingface/text-generation-inference"


@pytest.mark.parametrize(
    ("image", "command", "words"),
    [
        (
            f"{LLAMA}:server-cuda-b5000",
            ["/app/llama-server", "--hf-repo", "unsloth/Qwen3-8B-GGUF:Q4_K_M"],
            f"cannot run unsloth/Qwen3-8B-GGUF:Q4_K_M, whose architecture is Qwen3ForCausalLM: the first release "
            f"that can is b5092; set spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image to "
            f"{LLAMA}:server-cuda-b5092",
        ),
        (f"{LLAMA}:server-b6000", ["/app/llama-server", "-m", "/models/gpt-oss-20b-mxfp4.gguf"], "is b6096; set"),
        (
            f"{TGI}:3.2.0",
            ["text-generation-launcher", "--model-id", "Qwen/Qwen3-8B"],
            "the first release that can is 3.2.3; set",
        ),
        (
            f"{TGI}:3.3.6",
            ["text-generation-launcher", "--model-id", "openai/gpt-oss-20b"],
            "no known release of the engine can; serve it with another engine",
        ),
    ],
)
def test_llamacpp_and_tgi(image: str, command: list[str], words: str) -> None:
    template = pod("g6e.2xlarge", command, 1)
    template["spec"]["containers"][0]["image"] = image
    (problem,) = found(leader_worker_set(template))
    assert words in problem.reason


@pytest.mark.parametrize(
    ("image", "command"),
    [
        (f"{LLAMA}:server-cuda-b6500", ["/app/llama-server", "--hf-repo", "unsloth/Qwen3-8B-GGUF:Q4_K_M"]),
        (f"{LLAMA}:server-cuda-b5000", ["/app/llama-server", "-m", "/models/model.gguf"]),
        (f"{LLAMA}:server-cuda", ["/app/llama-server", "--hf-repo", "unsloth/Qwen3-8B-GGUF:Q4_K_M"]),
        (f"{TGI}:3.3.6", ["text-generation-launcher", "--model-id", "Qwen/Qwen3-8B"]),
        (f"{TGI}:3.2.0", ["text-generation-launcher", "--model-id", "Qwen/Qwen3-8B", "--trust-remote-code"]),
    ],
)
def test_llamacpp_and_tgi_that_can(image: str, command: list[str]) -> None:
    template = pod("g6e.2xlarge", command, 1)
    template["spec"]["containers"][0]["image"] = image
    assert not found(leader_worker_set(template))
