"""What tensor parallelism cannot cut."""

from dataclasses import replace

import pytest

from components.checks.memory.accelerators.refusals import allowed_degrees
from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.naming import estimate
from components.checks.memory.shapes import Layers, Shape
from components.contract.quantity import GIB
from components.engines.memory.budget import EngineMemory

SHAPE = Shape(
    "test/model", parameters=10**9, dtype="bfloat16", layers=(Layers(10, 8, 128, 128),), heads=32, max_context=4096
)


def refused(shape: Shape, tensor: int, *, experts: bool = False) -> str:
    verdict = judge(MemoryCase(shape, "H100", 80 * GIB, Parallel(tensor, experts=experts)), types=False)
    return verdict.reason if verdict.fit is Fit.EXCEEDED else ""


@pytest.mark.parametrize(
    ("name", "tensor", "why"),
    [
        # vLLM issue 11797: 28 heads and eight accelerators.
        (
            "Qwen/Qwen2.5-7B-Instruct",
            8,
            "the 28 attention heads of Qwen/Qwen2.5-7B-Instruct cannot be divided across 8",
        ),
        ("Qwen/Qwen2.5-7B-Instruct", 4, ""),
        ("Qwen/Qwen2.5-0.5B-Instruct", 4, "the 14 attention heads"),
        ("Qwen/Qwen2.5-0.5B-Instruct", 2, ""),
        # Four key-value heads are neither divided over seven ranks nor kept by a whole number of them.
        ("Qwen/Qwen2.5-7B-Instruct", 7, "the 4 key-value heads"),
        ("Qwen/Qwen2.5-7B-Instruct", 28, ""),
        # 1,536 / 8 is 192, which is no multiple of 128.
        (
            "Qwen/Qwen3-235B-A22B-FP8",
            8,
            "the width 1536 of Qwen/Qwen3-235B-A22B-FP8, quantized in blocks of 128,",
        ),
        ("Qwen/Qwen3-235B-A22B-FP8", 4, ""),
        ("Qwen/Qwen3-235B-A22B", 8, ""),
        # Latents are not divided.
        ("deepseek-ai/DeepSeek-R1-0528", 16, ""),
    ],
)
def test_published_models(name: str, tensor: int, why: str) -> None:
    shape = shape_of(name)
    assert shape
    found = judge(MemoryCase(shape, "B300", 268 * GIB, Parallel(tensor), context=1024), types=False)
    assert (found.fit is Fit.EXCEEDED) == bool(why)
    assert why in found.reason


def test_the_degrees_that_can_are_told() -> None:
    assert refused(SHAPE, 3) == (
        "the 32 attention heads of test/model cannot be divided across 3 accelerators; "
        "set tensor parallelism to one of 1, 2, 4, 8, 16, 32"
    )


def test_expert_parallelism_does_not_cut_experts() -> None:
    shape = replace(SHAPE, block=128, cuts=(768, 4096), intermediate=768, experts=64, active_experts=8)
    assert "the width 768" in refused(shape, 4)
    assert not refused(shape, 4, experts=True)
    # The heads together are still cut: 4,096 / 64 is less than a block.
    assert allowed_degrees(shape, experts=True) == (1, 2, 4, 8, 16, 32)


def test_an_engine_that_divides_by_layers_cuts_nothing() -> None:
    case = MemoryCase(SHAPE, "H100", 80 * GIB, Parallel(3), EngineMemory(cuts=False))
    assert judge(case, types=False).fit is Fit.FITS


def test_nothing_is_refused_where_heads_are_not_known() -> None:
    assert not refused(replace(SHAPE, heads=None), 4)


@pytest.mark.parametrize(
    ("name", "tensor", "is_known"),
    [
        # vLLM issue 13640: 29568 / 2 is 14784, which is no multiple of 128.
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", 2, False),
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", 1, True),
        ("Qwen/Qwen2.5-VL-72B-Instruct", 2, True),
        ("Qwen/Qwen2.5-32B-Instruct-GPTQ-Int4", 8, True),
        ("Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4", 8, False),
    ],
)
def test_groups_of_quantized_rows_that_may_not_be_divided(name: str, tensor: int, *, is_known: bool) -> None:
    shape = estimate(name) if "-AWQ" in name or "-GPTQ" in name else shape_of(name)
    assert shape
    verdict = judge(MemoryCase(shape, "H200", 141 * GIB, Parallel(tensor), context=4096), types=False)
    assert (verdict.fit is Fit.FITS) is is_known, verdict.reason
    assert ("quantized in groups of 128" in verdict.reason) is not is_known
