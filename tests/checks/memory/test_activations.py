"""What an accelerator computes with beside weights and cache, worked out by hand."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import Fit
from components.contract.quantity import GIB
from components.engines.memory.budget import EngineMemory
from tests.checks.memory.test_arithmetic import CASE, EXPERTS, SHAPE, parts


def test_activations_are_what_a_step_takes_or_the_logits_if_they_are_more() -> None:
    shape = replace(SHAPE, hidden=4096, intermediate=14336, vocabulary=128256)
    budget = EngineMemory(batch_tokens=8192, sequences=256, logit_bytes=12)
    # 8,192 x (2 x 4,096 + 3 x 14,336) x 2 bytes.
    assert parts(replace(CASE, shape=shape, budget=budget))["activations"] == Decimal(8192 * 51200 * 2) / GIB
    # vLLM's log of Llama 3.1 8B at 1,024 requests: 1.44 GiB.
    many = parts(replace(CASE, shape=shape, budget=budget, sequences=1024))["activations"]
    assert many == Decimal(1024 * 128256 * 12) / GIB
    assert float(many) == pytest.approx(1.44, abs=0.04)


def test_activations_of_experts() -> None:
    shape = replace(EXPERTS, hidden=2048, intermediate=768, vocabulary=1, active_experts=8)
    budget = EngineMemory(batch_tokens=8192, logit_bytes=12)
    # 2,048 > 2 x 768: 8,192 x (2 x 2,048 + 8 x (2,048 + 768)) x 2 bytes.
    assert parts(replace(CASE, shape=shape, budget=budget))["activations"] == Decimal(8192 * 26624 * 2) / GIB


def test_llamacpp_keeps_the_logits_of_all_tokens_of_a_step() -> None:
    shape = replace(SHAPE, vocabulary=128256, hidden=4096, intermediate=14336)
    budget = EngineMemory(batch_tokens=512, sequences=1, logit_bytes=4, logits_of_all=True)
    # Its log of Llama 3 8B has a compute buffer of 258.5 MiB: 250.5 MiB of logits and 8 MiB.
    assert parts(replace(CASE, shape=shape, budget=budget))["activations"] == Decimal(512 * 128256 * 4) / GIB


def test_adapters_have_two_matrices_for_each_of_a_layer() -> None:
    shape = replace(SHAPE, hidden=4096, intermediate=14336, vocabulary=1)
    # Queries and output 4,096 + 4,096 each, keys and values 4,096 + 1,024 each; the network 3 x (4,096 + 14,336).
    width = 2 * 8192 + 2 * 5120 + 3 * 18432
    found = parts(replace(CASE, shape=shape, adapters=4, adapter_rank=16, batch_tokens=1))
    assert found["LoRA adapters"] == Decimal(4 * 16 * 32 * width * 2) / GIB


def test_adapters_of_a_model_of_unknown_widths_are_not_guessed() -> None:
    verdict = judge(replace(CASE, adapters=1, adapter_rank=8), types=False)
    assert verdict.fit is Fit.UNKNOWN
    assert "LoRA" in verdict.reason


def test_what_is_not_counted_is_told() -> None:
    shape = replace(EXPERTS, hidden=2048, intermediate=768, vocabulary=1000)
    verdict = judge(replace(CASE, shape=shape, adapters=1, adapter_rank=8), types=False)
    assert "LoRA adapters of experts are not included" in verdict.notes
    known = judge(replace(CASE, shape=replace(shape, experts=0, active_experts=0)), types=False)
    assert not any("not counted" in note or "without" in note for note in known.notes)
    unknown = judge(CASE, types=False)
    assert "activations do not include the hidden size and vocabulary and inner width, which no source states" in (
        unknown.notes
    )


def test_fewer_requests_need_fewer_logits() -> None:
    """1,024 requests of a vocabulary of 262,144 take 9.5 GiB at 38 bytes; the context fits beside a tenth of them."""
    shape = replace(SHAPE, vocabulary=262_144)
    budget = EngineMemory(batch_tokens=8192, sequences=1024, logit_bytes=38)
    case = replace(CASE, shape=shape, budget=budget, context=57_344)
    verdict = judge(case, types=False)
    assert verdict.fit is Fit.EXCEEDED
    # 24 - 16 - 7 GiB leave 1 GiB for logits, 107 requests of 262,144 x 38 bytes.
    assert verdict.reason.endswith("; lower the number of concurrent requests to 107")
    assert judge(replace(case, sequences=107), types=False).margin >= 0
    assert judge(replace(case, sequences=108), types=False).margin < 0
    assert "number of requests" not in judge(replace(case, device_bytes=8 * GIB), types=False).reason
