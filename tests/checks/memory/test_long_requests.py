"""Engines that compute long requests in parts, whatever the command line says."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.activations import activation_bytes
from components.checks.memory.cases import MemoryCase
from components.checks.memory.catalog import shape_of
from components.engines.memory.budget import EngineMemory

LLAMA = shape_of("meta-llama/Llama-3.1-8B-Instruct")
assert LLAMA
BUDGET = EngineMemory(share=Decimal("0.9"), sequences=256, copies=3, logit_bytes=38, chunks_above=32768, chunk=2048)
CASE = MemoryCase(LLAMA, "L4", 22888 * 2**20, budget=BUDGET)


@pytest.mark.parametrize(
    ("context", "given", "tokens"),
    [(32768, None, 32768), (32769, None, 2048), (131072, None, 2048), (131072, 8192, 8192), (1024, 8192, 8192)],
)
def test_only_requests_of_more_tokens_are_cut_and_only_where_nothing_says_how(
    context: int, given: int | None, tokens: int
) -> None:
    assert replace(CASE, batch_tokens=given).tokens_at_a_time(context) == tokens


def test_a_request_that_is_cut_takes_no_logits() -> None:
    # 2,048 tokens x (3 x 4,096 + 3 x 14,336) numbers of 2 bytes; the log of vLLM 0.7 has 0.22 GiB.
    assert activation_bytes(CASE, 131072) == 2048 * (3 * 4096 + 3 * 14336) * 2
    assert round(activation_bytes(CASE, 131072) / 2**30, 2) == 0.21
    # 256 requests x 128,256 x 38 bytes are more than what 2,048 tokens take.
    assert activation_bytes(replace(CASE, batch_tokens=2048), 131072) == 256 * 128256 * 38
