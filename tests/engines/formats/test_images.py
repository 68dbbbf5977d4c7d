"""The GPUs that images of Text Embeddings Inference have code for.

Expected values are from its README ("Docker Images") and ``test_compute_cap`` in backends/candle/src/compute_cap.rs.
"""

from decimal import Decimal

import pytest

from components.engines.formats.images import architecture_fault, computes_on_cpu, image_fault, type_fault
from components.engines.registry import engines
from components.engines.versions import without_version

T4, A100, A10G, L4, H100, B200, B300 = map(Decimal, ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3"))


@pytest.mark.parametrize(
    ("tag", "capability", "instead"),
    [
        ("1.8", T4, "turing-1.8"),
        ("86-1.8", T4, "turing-1.8"),
        ("turing-1.9", A100, "1.9"),
        ("86-1.9", A100, "1.9"),
        ("89-1.8", A10G, "86-1.8"),
        ("hopper-1.8", L4, "89-1.8"),
        ("89-latest", H100, "hopper-latest"),
        ("1.9", H100, "hopper-1.9"),
        ("hopper-1.9.3", B200, "100-1.9.3"),
        # 1.9 is the first release with images for Blackwell.
        ("cuda-1.8", B200, "100-1.9.0"),
        ("1.9", B300, ""),
    ],
)
def test_images_without_code_for_a_gpu(tag: str, capability: Decimal, instead: str) -> None:
    fault = image_fault("tei", tag, capability)
    assert fault
    assert (fault.tag, "no code" in fault.reason) == (instead, True)
    assert not instead or image_fault("tei", instead, capability) is None


@pytest.mark.parametrize(
    ("tag", "capability"),
    [
        ("turing-1.8", T4), ("1.8", A100), ("1.8", A10G), ("1.8", L4), ("86-1.8", L4), ("89-1.8", L4),
        ("hopper-1.8", H100), ("100-1.9", B200), ("cuda-1.8", T4), ("cuda-1.8", L4), ("cuda-1.9", B200),
        # Nothing is known of images of other projects, and of images for other hardware.
        (without_version("1.8"), T4), ("cpu-1.8", T4), ("hpu-1.7", H100),
    ],
)  # fmt: skip
def test_images_with_code_for_a_gpu(tag: str, capability: Decimal) -> None:
    assert image_fault("tei", tag, capability) is None


def test_other_engines_have_one_image_for_all_gpus() -> None:
    assert image_fault("vllm", "v0.20.0", T4) is None
    assert not computes_on_cpu("vllm", "cpu-1.8")


@pytest.mark.parametrize(
    ("tag", "is_cpu"), [("cpu-1.8", True), ("cpu-latest", True), ("1.8", False), ("hpu-1.7", False)]
)
def test_images_for_cpus(tag: str, *, is_cpu: bool) -> None:
    assert computes_on_cpu("tei", tag) is is_cpu


@pytest.mark.parametrize(
    ("tag", "dtype", "refused"),
    [
        ("89-1.8", "bfloat16", True),
        ("cpu-1.8", "bfloat16", True),
        ("hpu-1.7", "bfloat16", False),
        ("1.8", "float16", False),
    ],
)
def test_types_that_an_image_does_not_know(tag: str, dtype: str, *, refused: bool) -> None:
    assert bool(type_fault("tei", tag, dtype)) is refused


@pytest.mark.parametrize(
    ("tag", "architecture", "dtype", "capability", "reason"),
    [
        ("turing-1.8", "MistralModel", "", T4, "from compute capability 8.0 on"),
        ("turing-1.9", "Qwen2ForCausalLM", "", T4, "from compute capability 8.0 on"),
        ("turing-1.8", "Qwen2ForCausalLM", "", T4, ""),
        ("89-1.8", "Qwen2ForCausalLM", "float32", L4, "only in float16, found float32"),
        ("89-1.8", "Gemma3TextModel", "float16", L4, "only in float32"),
        ("89-1.8", "Gemma3TextModel", "", L4, ""),
        ("89-1.8", "Qwen3ForCausalLM", "float32", L4, ""),
        # An image for CPUs runs ONNX files.
        ("cpu-1.8", "MistralModel", "float32", L4, ""),
    ],
)
def test_models_that_an_image_does_not_compute(
    tag: str, architecture: str, dtype: str, capability: Decimal, reason: str
) -> None:
    fault = architecture_fault("tei", tag, architecture, dtype, capability, ())
    assert reason in fault.reason if fault and reason else not (fault or reason)


def test_a_variable_turns_flash_attention_on() -> None:
    given = ("tei", "turing-1.9", "Qwen2Model", "", T4)
    assert architecture_fault(*given, ())
    assert architecture_fault(*given, ("USE_FLASH_ATTENTION",)) is None


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        # A tag of a minor release is moved to its last patch.
        ("86-1.7", (1, 7, 4)), ("1.9", (1, 9, 3)), ("1.9.0", (1, 9)), ("cpu-1.8.1", (1, 8, 1)),
        ("hopper-latest", None),
        ("cpu-ipex-1.7", (1, 7, 4)), ("89-1.8-grpc", (1, 8, 3)), ("1.0", (1,)),
    ],
)  # fmt: skip
def test_versions_in_tags(tag: str, version: tuple[int, ...] | None) -> None:
    assert engines()["tei"].version(tag) == version
