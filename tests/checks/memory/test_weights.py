"""How large weights are, by files or by their type."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.cases import Parallel
from components.checks.memory.catalog import shape_of, shapes
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import WeightSizes, rank_bytes, weights_of

MIB = 2**20
SHAPE = Shape("test/model", parameters=10_000, dtype="bfloat16", embeddings=1_000, expert_share=Decimal("0.8"))


def size(shape: Shape, dtype: str = "") -> int:
    found = weights_of(shape, dtype)
    assert isinstance(found, WeightSizes)
    return found.total


@pytest.mark.parametrize(
    ("kept", "loaded", "expected"),
    [
        ("bfloat16", "", 20_000),
        ("float16", "bfloat16", 20_000),
        ("bfloat16", "half", 20_000),
        ("bfloat16", "float32", 40_000),
        # Engines load 32 bits as 16 unless they are told otherwise.
        ("float32", "", 20_000),
        ("float32", "auto", 20_000),
        ("float32", "float32", 40_000),
        # 9,000 of a byte, and the vocabulary of two.
        ("fp8", "", 11_000),
        ("bfloat16", "fp8", 11_000),
        ("int8", "", 11_000),
        # 9,000 x (4 + 20 / 128) / 8 + 2,000.
        ("int4-awq", "", 6_676),
        ("int4-gptq", "", 6_676),
        ("bfloat16", "bitsandbytes", 7_063),
        ("nvfp4", "", 7_063),
        # 8,000 x 4.25 / 8 + 2,000 x 2.
        ("mxfp4", "", 8_250),
        # What is quantized stays as it is.
        ("int4-awq", "float16", 6_676),
        ("fp8", "fp8", 11_000),
    ],
)
def test_types(kept: str, loaded: str, expected: int) -> None:
    assert size(replace(SHAPE, dtype=kept), loaded) == expected


def test_the_size_of_the_files_goes_before_every_sum() -> None:
    shape = replace(SHAPE, weights_bytes=12_345)
    assert size(shape) == 12_345
    assert size(shape, "float16") == 12_345
    # Not if weights are converted when they are loaded.
    assert size(shape, "fp8") == 11_000


def test_how_wrong_a_sum_may_be() -> None:
    assert weights_of(SHAPE) == WeightSizes(20_000, 2_000, 16_000, 0)
    assert weights_of(replace(SHAPE, dtype="fp8")) == WeightSizes(11_000, 2_000, 8_000, 275)
    assert weights_of(replace(SHAPE, rounded=True)) == WeightSizes(20_000, 2_000, 16_000, 3_000)
    assert weights_of(replace(SHAPE, dtype="mxfp4")) == WeightSizes(8_250, 2_000, 4_250, 0)
    # Of 6,676 bytes 12 % with experts, 2.5 % without.
    mixed, plain = replace(SHAPE, dtype="int4", experts=8), replace(SHAPE, dtype="int4", expert_share=None)
    assert [found.error for found in map(weights_of, (mixed, plain)) if isinstance(found, WeightSizes)] == [802, 167]


@pytest.mark.parametrize("shape", [s for s in shapes().values() if s.weights_bytes], ids=lambda shape: shape.name)
def test_files_are_as_large_as_the_sum_but_for_its_error(shape: Shape) -> None:
    """Sizes of files and numbers of parameters have different sources."""
    found = weights_of(replace(shape, weights_bytes=None))
    if isinstance(found, WeightSizes) and shape.weights_bytes:
        assert found.total * Decimal("0.998") <= shape.weights_bytes
        assert shape.weights_bytes <= (found.total + found.error) * Decimal("1.002") + MIB * 20


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (replace(SHAPE, parameters=None), "neither the number of parameters nor the size of the weights is known"),
        (replace(SHAPE, dtype=""), "the type of the weights is unknown"),
        (
            replace(SHAPE, dtype="fp8", embeddings=None),
            "the size of the vocabulary, which stays at 16 bits beside fp8",
        ),
        (replace(SHAPE, dtype="mxfp4", expert_share=None), "the share of experts"),
    ],
    ids=["parameters", "type", "vocabulary", "experts"],
)
def test_what_is_not_known_is_not_guessed(shape: Shape, reason: str) -> None:
    found = weights_of(shape)
    assert isinstance(found, str)
    assert reason in found


def test_what_makes_latents_is_kept_whole_by_each_rank() -> None:
    """DeepSeek-V3: 61 layers of 7,168 x (1,536 + 512 + 64), which vLLM's ``ReplicatedLinear`` does not cut."""
    shape = shape_of("deepseek-ai/DeepSeek-V3")
    assert shape
    assert shape.replicated == 61 * 7168 * 2112
    small = replace(SHAPE, parameters=10_000, expert_share=None, replicated=900)
    weights = weights_of(small)
    assert isinstance(weights, WeightSizes)
    # 900 of 9,000 parameters are kept whole, 8,100 and the vocabulary of 1,000 are cut in two: 1,800 + 18,200 / 2.
    assert rank_bytes(weights, small, Parallel(2), spread=False) == 10_900
    assert rank_bytes(weights, small, Parallel(1), spread=False) == 20_000
