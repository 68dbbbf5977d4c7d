"""Verdicts whose numbers are worked out by hand."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.shapes import Layers, Shape
from components.contract.quantity import GIB
from components.engines.memory.budget import EngineMemory

MIB = 2**20
ATTENTION = Layers(32, 8, 128, 128)
"""2 x 32 x 8 x 128 x 2 bytes = 131,072 bytes of a token."""
SHAPE = Shape("test/model", parameters=8 * 2**30, dtype="bfloat16", layers=(ATTENTION,), heads=32, max_context=131072)
"""Weights of 16 GiB, and 1 GiB of cache for 8,192 tokens."""
CASE = MemoryCase(SHAPE, "Test GPU", 24 * GIB, context=8192)
"""An accelerator that nobody reported anything of: 2 % of it may be missing, 0.48 GiB."""


def parts(case: MemoryCase) -> dict[str, Decimal]:
    verdict = judge(case, types=False)
    return {part.name: Decimal(part.size) / GIB for part in verdict.parts}


def test_what_fits_tells_its_numbers_in_one_sentence() -> None:
    verdict = judge(CASE, types=False)
    assert verdict.fit is Fit.FITS
    assert verdict.reason == (
        "needs 17.0 GiB (weights 16.0 GiB, cache of one request 1.0 GiB) of the 24.0 GiB usable on one Test "
        "GPU, leaving 7.0 GiB"
    )
    assert (verdict.needed, verdict.usable, verdict.margin) == (17 * GIB, 24 * GIB, 7 * GIB)
    # 8 GiB are left for the cache: eight requests of 8,192 tokens, or one of 65,536.
    assert (verdict.sequences, verdict.largest_context, verdict.context) == (8, 65536, 8192)


def test_what_does_not_fit_tells_what_to_do() -> None:
    verdict = judge(replace(CASE, context=131072), types=False)
    assert verdict.fit is Fit.EXCEEDED
    assert verdict.reason == (
        "needs 32.0 GiB (weights 16.0 GiB, cache of one request 16.0 GiB), 8.0 GiB more than the 24.0 GiB usable "
        "on one Test GPU; lower the context to 65,536 tokens"
    )


def test_what_fits_by_less_than_servers_differ_is_tight() -> None:
    # 64,000 of 65,536 tokens leave 0.19 GiB, and 2 % of 24 GiB may be missing: 0.48 GiB, that is 3,932 tokens.
    verdict = judge(replace(CASE, context=64000), types=False)
    assert verdict.fit is Fit.TIGHT
    assert verdict.reason.endswith(
        "leaving 0.2 GiB, but measured servers needed up to 0.5 GiB more; lower the context to 61,603 tokens"
    )
    assert judge(replace(CASE, context=61603), types=False).fit is Fit.FITS
    assert judge(replace(CASE, context=61604), types=False).fit is Fit.TIGHT


def test_the_longest_context_is_the_models_own_where_none_is_set() -> None:
    assert judge(replace(CASE, context=None), types=False).context == 131072


@pytest.mark.parametrize(
    ("parallel", "weights", "cache"),
    [
        (Parallel(tensor=2), 8, "0.5"),
        (Parallel(tensor=8), 2, "0.125"),
        # Sixteen ranks have eight heads: each head is kept twice.
        (Parallel(tensor=16), 1, "0.125"),
        (Parallel(pipeline=2), 8, "0.5"),
        # The fullest of three stages has eleven of 32 layers.
        (Parallel(pipeline=3), Decimal(16) * 11 / 32, str(Decimal(11) / 32)),
        (Parallel(tensor=2, pipeline=2), 4, "0.25"),
        # Data parallel ranks have copies.
        (Parallel(data=4), 16, "1"),
    ],
)
def test_how_accelerators_share_a_model(parallel: Parallel, weights: Decimal, cache: str) -> None:
    found = parts(replace(CASE, parallel=parallel))
    assert found == {"weights": pytest.approx(weights), "cache of one request": pytest.approx(Decimal(cache))}


EXPERTS = replace(SHAPE, experts=8, active_experts=2, expert_share=Decimal("0.75"))
"""12 of its 16 GiB are experts."""


@pytest.mark.parametrize(
    ("parallel", "spread", "weights"),
    [
        (Parallel(tensor=2), False, 8),
        # Experts are divided over all eight ranks, the rest is cut over two: 12 / 8 + 4 / 2.
        (Parallel(tensor=2, data=4, experts=True), False, "3.5"),
        (Parallel(tensor=2, data=4), True, "3.5"),
        # Copies of everything, 16 / 2.
        (Parallel(tensor=2, data=4), False, 8),
        # Eight experts over six ranks: one has two of them. 12 x 2 / 8 + 4 / 6.
        (Parallel(tensor=6, experts=True), False, str(3 + Decimal(4) / 6)),
    ],
)
def test_who_has_the_experts(parallel: Parallel, *, spread: bool, weights: str) -> None:
    budget = EngineMemory(spreads_experts=spread, cuts=False)
    case = replace(CASE, shape=replace(EXPERTS, heads=None), parallel=parallel, budget=budget)
    assert parts(case)["weights"] == pytest.approx(Decimal(weights))


def test_experts_of_unknown_size_that_are_shared_are_not_guessed() -> None:
    shape = replace(EXPERTS, expert_share=None)
    verdict = judge(replace(CASE, shape=shape, parallel=Parallel(data=2, experts=True)), types=False)
    assert verdict.fit is Fit.UNKNOWN
    assert "the size of its experts" in verdict.reason


@pytest.mark.parametrize(
    ("kind", "gib"),
    [
        # 61 layers of 576 numbers, kept whole by each rank: 8,192 x 61 x 576 x 2 bytes.
        (Layers(61, 1, 576, 0, is_latent=True), 8192 * 61 * 576 * 2),
        # With the index of DeepSeek V3.2, 132 bytes whatever the type of the cache.
        (Layers(61, 1, 576, 0, is_latent=True, token_bytes=132), 8192 * 61 * (576 * 2 + 132)),
        # A window of 1,024 tokens.
        (Layers(10, 8, 128, 128, window=1024), 1024 * 10 * 4 * 256 * 2),
        # A state of 3 MiB in each layer, cut in two.
        (Layers(48, state_bytes=3 * MIB), 48 * 3 * MIB // 2),
        # Keys and values of different sizes.
        (Layers(10, 4, 192, 128), 8192 * 10 * 2 * 320 * 2),
    ],
)
def test_what_layers_keep_on_each_of_two_ranks(kind: Layers, gib: int) -> None:
    case = replace(CASE, shape=replace(SHAPE, layers=(kind,)), parallel=Parallel(tensor=2))
    assert parts(case)["cache of one request"] == Decimal(gib) / GIB


def test_a_window_keeps_what_is_computed_at_a_time_as_well() -> None:
    shape = replace(SHAPE, layers=(Layers(10, 8, 128, 128, window=1024),))
    budget = EngineMemory(batch_tokens=2048, block=16)
    # 1,024 - 1 + 2,048 tokens in blocks of 16 are 192 blocks, and one more.
    found = parts(replace(CASE, shape=shape, budget=budget))["cache of one request"]
    assert found == Decimal(193 * 16 * 10 * 8 * 256 * 2) / GIB
    # Engines that keep everything anyway.
    whole = parts(replace(CASE, shape=shape, budget=budget._replace(windows=False)))["cache of one request"]
    assert whole == Decimal(8192 * 10 * 8 * 256 * 2) / GIB


def test_a_cache_of_one_byte_is_half_as_large() -> None:
    assert parts(replace(CASE, cache_bytes=Decimal(1)))["cache of one request"] == Decimal("0.5")


def test_the_share_of_the_command_line_goes_before_that_of_the_engine() -> None:
    budget = EngineMemory(share=Decimal("0.5"))
    assert judge(replace(CASE, budget=budget), types=False).usable == 12 * GIB
    assert judge(replace(CASE, budget=budget, share=Decimal("0.75")), types=False).usable == 18 * GIB


def test_an_engine_uses_a_part_of_its_share_whoever_set_that() -> None:
    # TGI since 3.0: MEMORY_FRACTION * TGI_WIGGLE_ROOM of the memory.
    budget = EngineMemory(share=Decimal(1), share_used=Decimal("0.75"))
    assert judge(replace(CASE, budget=budget), types=False).usable == 18 * GIB
    assert judge(replace(CASE, budget=budget, share=Decimal("0.5")), types=False).usable == 9 * GIB


def test_what_an_engine_takes_beside_its_share_bounds_a_large_share() -> None:
    budget = EngineMemory(share=Decimal("0.99"), beside_bytes=2 * GIB, fixed_bytes=GIB)
    verdict = judge(replace(CASE, budget=budget), types=False)
    assert verdict.usable == 22 * GIB
    assert {part.name: part.size for part in verdict.parts}["engine"] == GIB


def test_a_driver_keeps_some_of_an_accelerators_memory() -> None:
    # A T4 has 16 GiB by the API of the cloud, and 14.56 GiB by PyTorch.
    verdict = judge(replace(CASE, device="T4", device_bytes=16 * GIB), types=False)
    assert verdict.usable == int(Decimal("14.56") * GIB)


def test_an_engine_that_takes_the_cache_of_all_requests_at_once() -> None:
    budget = EngineMemory(reserves_all=True, sequences=1)
    assert parts(replace(CASE, budget=budget, sequences=4))["cache of 4 requests"] == 4
    assert judge(replace(CASE, budget=budget, sequences=9), types=False).fit is Fit.EXCEEDED


def test_an_engine_that_makes_only_a_part_of_the_rest_its_cache() -> None:
    budget = EngineMemory(cache_share=Decimal("0.8"))
    assert parts(replace(CASE, budget=budget))["cache of one request"] == Decimal("1.25")
    # 8 GiB x 0.8 / 131,072 bytes.
    assert judge(replace(CASE, budget=budget), types=False).largest_context == 52428


def test_an_engine_that_starts_and_refuses_long_requests() -> None:
    budget = EngineMemory(reserves_context=False)
    verdict = judge(replace(CASE, budget=budget, context=131072), types=False)
    assert verdict.fit is Fit.TIGHT
    assert verdict.reason.endswith("the engine starts, but rejects requests longer than 65,536 tokens")


def test_an_engine_that_keeps_the_rest_in_the_memory_of_the_host() -> None:
    budget = EngineMemory(spills=True, reserves_all=True)
    verdict = judge(replace(CASE, budget=budget, context=131072, engine="ollama"), types=False)
    assert verdict.fit is Fit.TIGHT
    assert verdict.reason.endswith("ollama keeps the rest in host memory, which is slow")


def test_states_of_all_requests_have_to_fit_where_the_engine_wants_it() -> None:
    # vLLM, issue 49064: 3.86 GiB of cache on each of two accelerators have 161 places for Qwen3.8-27B.
    state = 48 * 128 * 128 * 4 + 10240 * 3 * 2
    shape = replace(
        SHAPE,
        parameters=1,
        heads=24,
        layers=(Layers(16, 4, 256, 256), Layers(48, state_bytes=state)),
        max_context=122633,
    )
    budget = EngineMemory(reserves_states=True, sequences=256)
    case = MemoryCase(shape, "Test GPU", int(Decimal("3.86") * GIB), Parallel(tensor=2), budget, context=8192)
    verdict = judge(case, types=False)
    assert verdict.fit is Fit.EXCEEDED
    assert "states of 256 requests" in verdict.reason
    assert "lower the number of concurrent requests to 161" in verdict.reason
    assert judge(replace(case, sequences=100), types=False).fit is Fit.FITS


def test_keys_of_an_encoder_are_paged() -> None:
    # Whisper: 1,500 positions of an encoder in each of the 32 decoder layers, 58 GiB for 256 requests. vLLM allocates
    # them for the requests that run (CrossAttentionSpec in vllm/v1/kv_cache_interface.py).
    shape = replace(SHAPE, parameters=1, heads=20, layers=(Layers(32, 20, 64, 64, state_bytes=1500 * 1280 * 4),))
    budget = EngineMemory(reserves_states=True, sequences=256)
    case = MemoryCase(shape, "Test GPU", 4 * GIB, Parallel(), budget, context=448)
    assert judge(case, types=False).fit is Fit.FITS


def test_weights_on_the_host_take_nothing() -> None:
    assert parts(replace(CASE, offloaded_bytes=6 * GIB))["weights"] == 10


def test_a_draft_model_takes_its_weights_and_its_cache() -> None:
    draft = Shape("test/draft", parameters=2**29, dtype="bfloat16", layers=(Layers(16, 8, 64, 64),))
    # 1 GiB of weights, and 8,192 x 16 x 8 x 128 x 2 bytes of cache, which stand with the cache.
    found = parts(replace(CASE, draft=draft))
    assert found["draft model"] == 1
    assert found["cache of one request"] == Decimal("1.25")


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (replace(CASE, shape=replace(SHAPE, parameters=None)), "neither the number of parameters nor the size"),
        (replace(CASE, shape=replace(SHAPE, layers=())), "the size of its key-value cache per token is unknown"),
        (replace(CASE, shape=replace(SHAPE, max_context=None), context=None), "no context length is set"),
        (
            replace(CASE, device="Trainium2", engine="vllm"),
            "no measurement of vllm's memory use on Trainium2",
        ),
        (replace(CASE, device="Gaudi HL-205"), "no measurement of the engine's memory use on Gaudi HL-205"),
        (replace(CASE, device_bytes=0), "the memory of Test GPU is unknown"),
        (replace(CASE, shape=replace(SHAPE, dtype="strange")), "the size of weights of type strange is unknown"),
        (replace(CASE, draft=replace(SHAPE, name="test/draft", parameters=None)), "the draft model test/draft"),
        (replace(CASE, draft=replace(SHAPE, name="test/draft", layers=())), "the draft model test/draft"),
    ],
)
def test_what_is_not_known_is_not_guessed(case: MemoryCase, reason: str) -> None:
    verdict = judge(case)
    assert verdict.fit is Fit.UNKNOWN
    assert reason in verdict.reason
    assert not verdict.types


def test_an_upper_bound_tells_that_a_model_fits_and_never_that_it_does_not() -> None:
    shape = replace(SHAPE, exact=False)
    assert judge(replace(CASE, shape=shape), types=False).fit is Fit.FITS
    unclear = judge(replace(CASE, shape=shape, context=131072), types=False)
    assert unclear.fit is Fit.UNKNOWN
    assert "needs at most 32.0 GiB of 24.0 GiB, possibly less" in unclear.reason
    # The weights alone are too large, whatever the cache takes.
    assert judge(replace(CASE, shape=shape, device_bytes=15 * GIB), types=False).fit is Fit.EXCEEDED


def test_weights_that_are_quantized_once_they_are_loaded_need_room_before() -> None:
    """vLLM up to 0.14: "you need enough memory to load the whole model"."""
    shape = replace(SHAPE, embeddings=0)
    budget = EngineMemory(loads_whole=True, beside_bytes=GIB)
    case = replace(CASE, shape=shape, budget=budget, weights_dtype="fp8", device_bytes=16 * GIB)
    verdict = judge(case, types=False)
    assert verdict.fit is Fit.EXCEEDED
    assert verdict.reason == (
        "loads all weights before quantizing them to fp8, which needs 1.0 GiB more than one Test GPU has"
    )
    assert judge(replace(case, device_bytes=17 * GIB), types=False).fit is Fit.FITS
    # Versions that quantize layer by layer, and weights that are quantized already.
    assert judge(replace(case, budget=budget._replace(loads_whole=False)), types=False).fit is Fit.FITS
    assert judge(replace(case, shape=replace(shape, dtype="fp8")), types=False).fit is Fit.FITS
