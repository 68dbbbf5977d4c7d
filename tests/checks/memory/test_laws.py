"""What holds for every model on every accelerator."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.arithmetic import judge, ledger_of
from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.shapes import Layers, Shape
from components.contract.quantity import GIB
from components.engines.memory.budget import EngineMemory

KINDS = st.builds(
    Layers,
    count=st.integers(1, 100),
    kv_heads=st.sampled_from([1, 2, 4, 8, 16, 96]),
    key_dim=st.sampled_from([0, 64, 128, 256, 576]),
    value_dim=st.sampled_from([0, 64, 128]),
    window=st.none() | st.integers(1, 10_000),
    is_latent=st.booleans(),
    state_bytes=st.integers(0, 10**7),
    token_bytes=st.sampled_from([0, 132]),
)
SHAPES = st.builds(
    Shape,
    name=st.just("test/model"),
    parameters=st.integers(10**6, 10**12),
    dtype=st.sampled_from(["bfloat16", "fp8", "mxfp4", "int4-awq", "float32"]),
    weights_bytes=st.none() | st.integers(1, 10**12),
    layers=st.lists(KINDS, min_size=1, max_size=3).map(tuple),
    max_context=st.integers(1, 2**20),
    hidden=st.none() | st.integers(1, 20_000),
    vocabulary=st.none() | st.integers(1, 300_000),
    expert_share=st.none() | st.decimals(0, 1, places=3),
    experts=st.sampled_from([0, 8, 60, 256]),
    active_experts=st.sampled_from([0, 2, 8]),
    intermediate=st.none() | st.integers(1, 50_000),
    embeddings=st.integers(0, 10**6),
    replicated=st.sampled_from([0, 10**5, 10**9]),
)
BUDGETS = st.fixed_dictionaries(
    {
        "share": st.none() | st.decimals("0.1", 1, places=2),
        "fixed_bytes": st.integers(0, GIB),
        "beside_bytes": st.integers(0, GIB),
        "sequences": st.none() | st.integers(1, 1024),
        "batch_tokens": st.none() | st.integers(1, 16_384),
        "reserves_context": st.booleans(),
        "reserves_all": st.booleans(),
        "reserves_states": st.booleans(),
        "activations_beside": st.booleans(),
        "cache_share": st.decimals("0.5", 1, places=2),
        "block": st.sampled_from([1, 16, 256]),
        "logit_bytes": st.sampled_from([0, 12]),
        "logits_of_all": st.booleans(),
        "windows": st.booleans(),
        "spreads_experts": st.booleans(),
        "cuts": st.just(value=False),
        "spread_bytes": st.integers(0, 2 * GIB),
    }
).map(lambda values: EngineMemory(**values))  # type: ignore[arg-type]  # of different types
DEGREES = st.sampled_from([1, 2, 3, 4, 8, 16])
CASES = st.builds(
    MemoryCase,
    shape=SHAPES,
    device=st.sampled_from(["H100", "Test GPU"]),
    device_bytes=st.integers(1, 300).map(lambda gib: gib * GIB),
    parallel=st.builds(Parallel, DEGREES, DEGREES, DEGREES, st.booleans()),
    budget=BUDGETS,
    cache_bytes=st.sampled_from([Decimal(2), Decimal(1), Decimal("0.5625")]),
    context=st.integers(1, 2**20),
    sequences=st.none() | st.integers(1, 64),
)


@given(CASES, st.integers(1, 100_000))
def test_more_context_never_frees_memory(case: MemoryCase, more: int) -> None:
    less, longer = judge(case, types=False), judge(replace(case, context=(case.context or 0) + more), types=False)
    assert longer.needed >= less.needed
    assert longer.margin <= less.margin
    assert longer.sequences <= less.sequences


@given(CASES)
def test_more_tensor_parallelism_never_needs_more_of_a_rank(case: MemoryCase) -> None:
    twice = replace(case, parallel=replace(case.parallel, tensor=2 * case.parallel.tensor))
    assert judge(twice, types=False).needed <= judge(case, types=False).needed


@given(CASES)
def test_more_stages_never_need_more_of_one(case: MemoryCase) -> None:
    twice = replace(case, parallel=replace(case.parallel, pipeline=2 * case.parallel.pipeline))
    assert judge(twice, types=False).needed <= judge(case, types=False).needed


@given(CASES)
def test_the_longest_context_fits_and_one_more_token_does_not(case: MemoryCase) -> None:
    verdict = judge(case, types=False)
    if verdict.fit is Fit.UNKNOWN:
        return
    longest = verdict.largest_context
    bound = max(verdict.context, case.shape.max_context or 0)
    if longest:
        assert judge(replace(case, context=longest), types=False).margin >= 0
    if longest < bound:
        assert judge(replace(case, context=longest + 1), types=False).margin < 0


@given(CASES, st.integers(1, 100))
def test_more_memory_never_makes_it_worse(case: MemoryCase, more: int) -> None:
    order = [Fit.EXCEEDED, Fit.TIGHT, Fit.FITS]
    small = judge(replace(case, device="Test GPU"), types=False)
    large = judge(replace(case, device="Test GPU", device_bytes=case.device_bytes + more * GIB), types=False)
    if Fit.UNKNOWN not in (small.fit, large.fit):
        assert order.index(large.fit) >= order.index(small.fit)
        assert large.largest_context >= small.largest_context


@given(CASES)
def test_the_sum_of_the_parts_is_what_is_needed(case: MemoryCase) -> None:
    verdict = judge(case, types=False)
    assert verdict.needed == sum(part.size for part in verdict.parts)
    assert all(part.size > 0 for part in verdict.parts)
    assert verdict.reason
    assert judge(replace(case), types=False) == verdict


@given(CASES)
def test_exceeded_is_only_what_is_surely_too_large(case: MemoryCase) -> None:
    verdict = judge(case, types=False)
    beside = ledger_of(case).left_beside(verdict.context) if verdict.fit is Fit.EXCEEDED else None
    assert (verdict.fit is Fit.EXCEEDED) <= (verdict.margin < 0 or (beside or 0) < 0)
    assert (verdict.fit is Fit.FITS) <= (verdict.margin >= 0)


@given(CASES)
def test_requests_that_fit_at_once_do(case: MemoryCase) -> None:
    budget = case.budget._replace(reserves_all=True, reserves_states=False, logit_bytes=0, cache_share=Decimal(1))
    alone = replace(case, budget=budget, sequences=1)
    number = judge(alone, types=False).sequences
    if judge(alone, types=False).fit is not Fit.UNKNOWN and number:
        assert judge(replace(alone, sequences=number), types=False).margin >= 0
        assert judge(replace(alone, sequences=number + 1), types=False).margin < 0
