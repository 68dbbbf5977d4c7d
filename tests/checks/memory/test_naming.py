"""What names of models tell: against the catalog, whose figures are those of configurations and files."""

from decimal import Decimal

import pytest

from components.checks.memory import naming
from components.checks.memory.cache import KeyCache
from components.checks.memory.cases import Parallel
from components.checks.memory.catalog import shape_of, shapes
from components.checks.memory.naming import estimate, least_of, most_of
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import rank_bytes, weights_of

KNOWN = list(shapes().values())


def by_number(monkeypatch: pytest.MonkeyPatch, name: str) -> Shape | None:
    """Return what follows from the number in a name, as if the catalog had no such model."""
    monkeypatch.setattr(naming, "_bases", dict)
    return estimate(name)


@pytest.mark.parametrize("known", KNOWN, ids=lambda shape: shape.name)
def test_known_models_lie_within_what_their_names_tell(known: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, found = weights_of(known), by_number(monkeypatch, known.name)
    if found is None or isinstance(weights, str):
        return  # a name without a number says nothing, which is never wrong
    assert found.span
    least, most = least_of(found, found.span), most_of(found, found.span)
    assert least.weights_bytes is not None
    assert most.weights_bytes is not None
    assert least.weights_bytes <= weights.total <= most.weights_bytes
    tokens = 8192
    cache = KeyCache(known.layers, Parallel()).of_sequence(tokens)
    assert KeyCache(least.layers, Parallel()).of_sequence(tokens) <= cache
    assert cache <= KeyCache(most.layers, Parallel()).of_sequence(tokens)


def test_most_names_tell_something(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [by_number(monkeypatch, known.name) for known in KNOWN]
    assert sum(each is not None for each in found) > len(KNOWN) * 0.6


BILLION = 10**9
NUMBERS = [
    ("org/a-7B", 7.0),
    ("org/a-7b-chat", 7.0),
    ("org/a-0.5B", 0.5),
    ("org/a-1_6b", 1.6),
    ("org/bloom-7b1", 7.1),
    ("org/a-135M", 0.135),
    ("org/a-1T", 1000.0),
    ("org/a-30B-A3B", 30.0),
    ("org/a-1B-7B-0924", 7.0),
    ("org/a-7B-1M", 7.0),
    ("org/a-1.1B-step-1431k-3T", 1.1),
    ("org/a2-8B-v0.3", 8.0),
]


@pytest.mark.parametrize(("name", "billions"), NUMBERS)
def test_the_number_of_parameters(name: str, billions: float) -> None:
    found = estimate(name)
    assert found
    assert found.span
    number = billions * BILLION
    assert found.span.least_parameters == pytest.approx(number * 0.92)
    most = 1.7 if billions < 3 else 1.25 if billions < 10 else 1.12
    assert found.span.most_parameters == pytest.approx(number * most)


@pytest.mark.parametrize(
    "name",
    [
        "org/a-17B-16E",
        "org/a-A13B",
        "org/a-E4B",
        "org/a-128k",
        "org/a-1M",
        "org/a-4bit",
        "org/a-v1.5",
        "org/a-8B-eagle3",
        "org/a-8B-lora",
        "org/a-70B-2.4bpw-exl2",
        "org/a-100B-tokens",
        "org/Q4_K_M",
        "/models/9a7b6c5d4e3f",
        "",
        "/",
    ],
)
def test_a_name_that_tells_too_little(name: str) -> None:
    assert estimate(name) is None


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("org/a-7B", "16", "16"),
        ("org/a-7B-AWQ", "4", "4.6"),
        ("org/a-7B-GPTQ-Int8", "8", "8.5"),
        ("org/a-7B-GPTQ-Int4", "4", "4.6"),
        ("org/a-7B-GPTQ-4bit", "4", "4.6"),
        # 2, 3, 4 or 8 bits: its config.json states which.
        ("org/a-7B-GPTQ", "2.1", "8.6"),
        ("org/a-7B-FP8-dynamic", "8", "8.5"),
        ("org/a-7B-NVFP4", "4.25", "4.5"),
        ("RedHatAI/a-7B-quantized.w4a16", "4", "4.6"),
        ("RedHatAI/a-7B-quantized.w8a8", "8", "8.5"),
        ("org/a-7B-bf16", "16", "16"),
        ("mistralai/a-7B", "4.25", "16"),
    ],
)
def test_the_type_of_weights(name: str, least: str, most: str) -> None:
    found = estimate(name)
    assert found
    assert found.span
    assert (found.span.least_bits, found.span.most_bits) == (Decimal(least), Decimal(most))


@pytest.mark.parametrize(
    ("name", "like", "dtype"),
    [
        # DeepSeek publishes 8 bits (the model card: "FP8 scale data format on both model weights and activations").
        ("deepseek-ai/DeepSeek-V3.1", "nvidia/DeepSeek-V3.1-NVFP4", "fp8"),
        ("zai-org/GLM-4.7", "zai-org/GLM-4.7-FP8", "bfloat16"),
        ("org/GLM-4.7-NVFP4", "zai-org/GLM-4.7-FP8", "nvfp4"),
        ("org/GLM-4.7-FP8", "zai-org/GLM-4.7-FP8", "fp8"),
    ],
)
def test_a_type_in_the_name_of_the_known_model_is_its_own(name: str, like: str, dtype: str) -> None:
    """Models that are quantized in different ways have the same layers and parameters."""
    found, known = estimate(name), shape_of(like)
    assert found
    assert known
    assert (found.layers, found.parameters, found.dtype) == (known.layers, known.parameters, dtype)
    assert (found.weights_bytes, found.least_bytes) == (None, None)


def test_weights_of_an_unnamed_type_are_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others than DeepSeek publish its models with 16 bits, and quantized without a word in the name."""
    known = shape_of("nvidia/DeepSeek-V3.1-NVFP4")
    assert known
    monkeypatch.setattr(naming, "_bases", lambda: {"deepseek-v3.1": known})
    found = estimate("unsloth/DeepSeek-V3.1")
    assert found
    assert known.parameters
    assert (found.layers, found.dtype) == (known.layers, "")
    assert found.weights_bytes == pytest.approx(known.parameters * 2)
    assert found.least_bytes == pytest.approx(known.parameters * 4.25 / 8)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("unsloth/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("/models/qwen3-8b", "Qwen/Qwen3-8B"),
        ("/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0a1b2c", "Qwen/Qwen3-8B"),
        ("s3://bucket/llm/Qwen3-8B/", "Qwen/Qwen3-8B"),
        ("org/Qwen3-8B-finance-v2", "Qwen/Qwen3-8B"),
        ("org/Llama-3.1-8B-Instruct-support", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_a_model_of_a_known_name_has_its_layers(name: str, like: str) -> None:
    found, known = estimate(name), shape_of(like)
    assert found
    assert known
    assert found.layers == known.layers
    assert like in found.estimate


@pytest.mark.parametrize("name", ["org/DeepSeek-R1-small", "org/phi-4-tiny", "org/Qwen3-8Bx"])
def test_a_name_that_only_begins_alike_is_another_model(name: str) -> None:
    assert estimate(name) is None


def test_a_longer_context_in_a_name_is_not_that_of_the_known_model() -> None:
    found = estimate("org/Qwen3-8B-1M")
    assert found
    assert found.layers
    assert found.max_context is None


@pytest.mark.parametrize("pipeline", [1, 2, 3, 4, 5, 6, 7, 8])
def test_the_least_of_a_model_is_divided_by_pipeline_parallelism(pipeline: int) -> None:
    found = estimate("org/a-70B")
    assert found
    assert found.span
    least = least_of(found, found.span)
    weights = weights_of(least)
    assert not isinstance(weights, str)
    whole = rank_bytes(weights, least, Parallel(), spread=False)
    assert rank_bytes(weights, least, Parallel(pipeline=pipeline), spread=False) <= whole / pipeline + 1


def test_files_of_llama_cpp() -> None:
    """Published sizes: 4.92 GB of Llama-3.1-8B in Q4_K_M (tools/quantize/README.md: 4.58 GiB)."""
    found = estimate("Meta-Llama-3.1-8B-Q4_K_M.gguf", single_file=True)
    assert found
    assert found.weights_bytes is not None
    assert found.least_bytes is not None
    assert found.least_bytes <= 4.58 * 2**30 <= found.weights_bytes
    typed = estimate("bartowski/Meta-Llama-3.1-8B-GGUF:Q4_K_M", single_file=True)
    assert typed
    assert typed.weights_bytes == found.weights_bytes
    assert estimate("Meta-Llama-3.1-8B.gguf", single_file=True) is None


@pytest.mark.parametrize(
    ("name", "size"),
    [
        # UmeAiRT/ComfyUI-Auto_installer, the pointer of models/clip/Qwen3-4B-UD-Q4_K_XL.gguf.
        ("Qwen3-4B-UD-Q4_K_XL.gguf", 2_546_339_456),
        ("unsloth/Qwen3-4B-GGUF:UD-Q4_K_XL", 2_546_339_456),
    ],
)
def test_dynamic_types_of_unsloth_are_ranges(name: str, size: int) -> None:
    found = estimate(name, single_file=True)
    assert found
    assert found.weights_bytes is not None
    assert found.least_bytes is not None
    assert found.least_bytes <= size <= found.weights_bytes
    assert "UD-Q4_K_XL" in found.estimate


def test_the_type_mxfp8_in_a_name() -> None:
    """Each block of 32 numbers of 8 bits has a scale of 8 bits (OCP Microscaling Formats 1.0)."""
    found, known = estimate("acme/Qwen3-32B-MXFP8"), shape_of("Qwen/Qwen3-32B")
    assert found
    assert known
    assert (found.layers, found.dtype) == (known.layers, "mxfp8")


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        # 70.55 billion parameters in 4.89 bits are 40.2 GiB; in the 16 bits of a name without a type, 131.
        ("/models/acme-70B-Q4_K_M.gguf", 40.2),
        ("/models/acme-70B-Q4_K_M", 40.2),
        ("acme/tune-70B-GGUF:Q8_0", 69.8),
        ("unsloth/Qwen3-32B-GGUF:Q4_K_M", 18.7),
    ],
)
def test_any_engine_may_load_files_of_llama_cpp(name: str, gib: float) -> None:
    found = estimate(name)
    assert found
    least = least_of(found, found.span).weights_bytes if found.span else found.least_bytes
    most = most_of(found, found.span).weights_bytes if found.span else found.weights_bytes
    assert least is not None
    assert most is not None
    assert least <= gib * 2**30 <= most <= 1.3 * gib * 2**30


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen3-32B-GGUF", "acme/tune-70B-GGUF", "acme/tune-70B-Q4_K_XL", "acme/a-70B-2bit"]
)
def test_a_name_without_the_bits_of_its_type_tells_too_little(name: str) -> None:
    assert estimate(name) is None


@pytest.mark.parametrize("name", ["acme/tune-70B-AutoRound", "acme/Qwen3-32B-AutoRound", "acme/Qwen3-32B-quantized"])
def test_weights_of_unnamed_bits_may_have_four(name: str) -> None:
    found = estimate(name)
    assert found
    assert found.span
    assert (found.span.least_bits, found.span.most_bits) == (Decimal("4.25"), Decimal(16))


@pytest.mark.parametrize(
    ("name", "least"), [("acme/tune-70B-4bits", 4), ("acme/tune-70B-8bits", 8), ("a/tune-70B-BF16", 16)]
)
def test_bits_in_a_name(name: str, least: int) -> None:
    found = estimate(name)
    assert found
    assert found.span
    assert found.span.least_bits == least
