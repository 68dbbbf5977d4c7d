"""What keeps an engine from starting is found, and the first step of each message, taken literally, ends it."""

import itertools

import pytest

from components.contract.problems import Problem
from tests.checks.startup.serving import Object, errors, playground, problems
from tests.plan.remedies.steps import alternatives, follow

FORMAT, START = "format-unsupported", "start-refused"
QWEN, GEMMA, GPT_OSS, NVFP4 = (
    "Qwen/Qwen2.5-1.5B-Instruct",
    "google/gemma-2-2b-it",
    "openai/gpt-oss-20b",
    "nvidia/Qwen3-32B-NVFP4",
)
TOOLS = ("--enable-auto-tool-choice", "--tool-call-parser")
BATCH = ("--max-num-batched-tokens", "128", "--max-num-seqs", "256")
REFUSED = [
    (FORMAT, playground(QWEN, "g4dn.2xlarge", "vllm", "v0.7.3")),
    (FORMAT, playground(QWEN, "g4dn.2xlarge", "vllm", "v0.8.5", "--max-model-len", "4096")),
    (FORMAT, playground(QWEN, "g4dn.2xlarge", "vllm", "v0.20.0", "--dtype", "bfloat16")),
    (FORMAT, playground(GEMMA, "g4dn.2xlarge", "vllm", "v0.7.3")),
    (FORMAT, playground(GEMMA, "g6.2xlarge", "vllm", "v0.20.0", "--dtype", "half")),
    (FORMAT, playground(QWEN, "p3.2xlarge", "vllm", "v0.20.0", "--dtype", "half")),
    (FORMAT, playground(QWEN, "g6.2xlarge", "vllm", "v0.20.0", "--quantization", "awq")),
    (FORMAT, playground(QWEN, "g6.2xlarge", "sglang", "v0.5.9", "--quantization", "gptq")),
    (FORMAT, playground(QWEN, "g4dn.2xlarge", "vllm", "v0.11.0", "--quantization", "fp8", "--max-model-len", "4096")),
    (FORMAT, playground(GPT_OSS, "g4dn.12xlarge", "vllm", "v0.11.0", "--tensor-parallel-size", "4", gpus=4)),
    (FORMAT, playground(GPT_OSS, "g4dn.12xlarge", "sglang", "v0.5.9", "--tp", "4", gpus=4)),
    (FORMAT, playground(NVFP4, "p5.4xlarge", "sglang", "v0.5.12-cu130", "--context-length", "8192")),
    (START, playground("Qwen/Qwen3-8B", "g6e.2xlarge", "vllm", "v0.20.0", *TOOLS[:1])),
    (START, playground("Qwen/Qwen3-8B", "g6e.2xlarge", "vllm", "v0.20.0", *TOOLS, "qwen3coder")),
    (START, playground("Qwen/Qwen3-8B", "g6e.2xlarge", "vllm", "v0.20.0", *BATCH)),
    (START, playground("Qwen/Qwen3-8B", "g6e.2xlarge", "vllm", "v0.20.0", *BATCH, "--max-model-len", "8192")),
    (START, playground(QWEN, "g6.2xlarge", "vllm", "v0.7.3", *BATCH, "--max-model-len", "8192")),
    (START, playground(QWEN, "g6.2xlarge", "vllm", "v0.20.0", "--enable-eplb")),
    (
        START,
        playground(QWEN, "g6.2xlarge", "sglang", "v0.5.9", "--enable-hierarchical-cache", "--disable-radix-cache"),
    ),
]
STARTS = [
    playground(QWEN, "g4dn.2xlarge", "vllm", "v0.20.0", "--max-model-len", "4096"),
    playground(QWEN, "g4dn.2xlarge", "sglang", "v0.5.9", "--context-length", "4096"),
    playground("acme/own-1b", "g4dn.2xlarge", "vllm", "v0.7.3", "--max-model-len", "4096"),
    playground("acme/own-8b", "g6.2xlarge", "vllm", "v0.20.0", "--quantization", "awq", "--max-model-len", "4096"),
    playground(
        "Qwen/Qwen3-8B-AWQ", "g6.2xlarge", "vllm", "v0.20.0", "--quantization", "awq", "--max-model-len", "4096"
    ),
    playground("Qwen/Qwen3-8B", "g6e.2xlarge", "vllm", "v0.20.0", *TOOLS, "hermes", "--max-model-len", "8192"),
]


def _followed(problem: Problem, documents: list[Object]) -> list[Object]:
    """Return the documents after the first step of a message."""
    engine = documents[1]["spec"]["backendRuntimeConfig"]["backendName"]
    edited = follow(alternatives(problem)[0], problem, documents, engine)
    assert edited is not None, problem
    return edited


@pytest.mark.parametrize(("rule", "documents"), REFUSED)
def test_the_first_step_of_a_message_ends_the_finding_and_brings_no_error(rule: str, documents: list[Object]) -> None:
    before = errors(documents)
    edited = documents
    # A message of its own for each argument: each is followed once.
    for _ in range(3):
        found = next((each for each in problems(edited) if each.rule == rule), None)
        if found is None:
            break
        edited = _followed(found, edited)
    assert edited != documents
    after = errors(edited)
    assert rule not in after
    assert after <= before


@pytest.mark.parametrize("documents", STARTS)
def test_nothing_is_found_where_the_engine_starts_or_where_that_is_not_known(documents: list[Object]) -> None:
    assert not [each for each in problems(documents) if each.rule in (FORMAT, START)]


def _generated() -> list[list[Object]]:
    """Return a few hundred combinations of models, nodes, releases and arguments."""
    models = (QWEN, GEMMA, "Qwen/Qwen3-8B", "google/gemma-3-4b-it", "nvidia/Qwen3-8B-FP8", "Qwen/Qwen3-8B-AWQ")
    nodes = ("g4dn.2xlarge", "g5.2xlarge", "g6e.2xlarge", "p3.2xlarge")
    versions = ("v0.7.3", "v0.8.5", "v0.11.0", "v0.20.0")
    arguments = (
        (),
        ("--dtype", "bfloat16"),
        ("--dtype", "half"),
        ("--quantization", "fp8"),
        ("--quantization", "awq_marlin"),
        (*BATCH, *TOOLS[:1]),
    )
    # The larger batch that a message asks for needs memory, of which these have too little for a model of 8B.
    small = ("g4dn.2xlarge", "p3.2xlarge")
    return [
        playground(model, node, "vllm", version, "--max-model-len", "2048", *args)
        for model, node, version, args in itertools.product(models, nodes, versions, arguments)
        if not (BATCH[0] in args and node in small and "8B" in model)
    ]


def test_generated_manifests_have_no_such_finding_after_their_messages_were_followed() -> None:
    followed = 0
    for documents in _generated():
        before, edited = errors(documents), documents
        for _ in range(4):
            found = next((each for each in problems(edited) if each.rule in (FORMAT, START)), None)
            if found is None:
                break
            if found.reason.endswith("use newer GPUs"):
                break  # no priced type is known to fit, and no step is literal
            edited = _followed(found, edited)
            followed += 1
        else:
            raise AssertionError(documents)
        if edited != documents:
            assert errors(edited) <= before, (documents[1]["spec"], errors(edited) - before)
    assert followed > 200
