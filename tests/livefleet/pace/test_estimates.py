"""From what a plan knows of a workload to its pace."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import Fit, MemoryCase, MemoryVerdict, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.shapes import Shape
from components.contract.quantity import GIB
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines
from components.fleet.instances import instance
from components.performance.sizing.cases import Profile
from livefleet.fleet import PaceSource
from livefleet.pace.estimates import assumed_pace, pace_of, profiled
from livefleet.pace.replica import EngineReplica

LLAMA = "meta-llama/Meta-Llama-3-8B-Instruct"
UNKNOWN = MemoryVerdict(Fit.UNKNOWN, "its pods request no accelerator")


def shape(name: str = LLAMA) -> Shape:
    """Return a model of the catalog."""
    found = shape_of(name)
    assert found is not None
    return found


def verdict(model: Shape | None = None, on: str = "g6e.2xlarge", engine: str = "tgi", **asked: Any) -> MemoryVerdict:
    """Return the verdict of a plan.

    TGI has no measurements, so that its efficiency is the round numbers of ``efficiency.yaml``.
    """
    node = instance(on)
    assert node is not None
    memory = int((node.accelerator_memory_gib or 0) * GIB)
    parallel = asked.pop("parallel", Parallel())
    budget = memory_of(engines()[engine], "", Device(node.accelerator, memory, parallel.accelerators))
    assert budget is not None
    case = MemoryCase(model or shape(), node.accelerator, memory, parallel, budget, **{"context": 8192, **asked})
    return judge(case, types=False)


class TestAccelerators:
    def test_weights_over_bandwidth(self) -> None:
        """16.06 GB at 864 GB/s, of which 85 % are got, and 30 us for each of 32 layers."""
        pace = pace_of(verdict(), "g6e.2xlarge")
        assert pace.alpha == pytest.approx(14.96 * GIB / 864e9 / 0.85 + 32 * 30e-6, rel=0.001)
        # 131,072 bytes of cache for each token, of which 70 % of the bandwidth are got; 10 us for a request beside.
        assert pace.cached == pytest.approx(131072 / 864e9 / 0.7)
        assert pace.beta == pytest.approx(10e-6)
        # Two operations for each of 8.03 billion parameters, at 65 % of 362 * 10^12.
        assert pace.prefill == pytest.approx(2 * 8030261248 / 362.05e12 / 0.65)
        # Of each pair of tokens, key and value of 128 numbers in 32 heads of 32 layers are multiplied and added.
        assert pace.attention == pytest.approx(2 * 2 * 128 * 32 * 32 / 362.05e12 / 0.65)
        assert (pace.experts, pace.untouched) == (0.0, 0.0)
        assert pace.source is PaceSource.ESTIMATE
        assert pace_of(verdict(engine="vllm"), "g6e.2xlarge").batch == 256

    def test_what_was_asked_of_one_type_is_asked_of_another(self) -> None:
        """An H200 has 5.56 times the bandwidth of an L40S, and vLLM a larger batch there."""
        slow, fast = (pace_of(verdict(), name) for name in ("g6e.2xlarge", "p5en.48xlarge"))
        assert fast.cached == pytest.approx(slow.cached * 864 / 4800)
        assert (fast.cache_tokens or 0) > 3 * (slow.cache_tokens or 0)

    def test_cache_is_what_is_left(self) -> None:
        """No more than all of the memory, and no less than the requests that the verdict counts."""
        found = verdict()
        pace = pace_of(found, "g6e.2xlarge")
        assert found.sequences * found.context <= (pace.cache_tokens or 0) <= 44.7 * GIB / 131072

    @pytest.mark.parametrize("context", [512, 8192])
    def test_an_engine_that_reserves_everything_has_no_more(self, context: int) -> None:
        found = verdict(engine="llamacpp", context=context, sequences=4)
        pace = pace_of(found, "g6e.2xlarge")
        assert (pace.batch, pace.cache_tokens) == (4, 4 * context)

    def test_a_long_context_doubles_a_step(self) -> None:
        """Of Llama 3 8B a token takes 131,072 bytes: 122,500 of them are as much as its weights."""
        pace = pace_of(verdict(on="p5.48xlarge", context=131072), "p5.48xlarge")
        short, long = (pace.step(1, cached=tokens) for tokens in (1, 122_500))
        # The cache is read with 70 % of the bandwidth, the weights with 85 %; 0.97 ms are neither.
        assert long - short == pytest.approx((short - 0.00097) * 0.85 / 0.7, rel=0.001)
        assert long > 2 * short

    def test_twice_the_prompt_takes_more_than_twice_as_long(self) -> None:
        pace = pace_of(verdict(on="p5.48xlarge", context=131072), "p5.48xlarge")
        # 2 x 8.03e9 x n + 524,288 x n^2 / 2 operations: at 61,267 tokens attention is as much as the rest.
        assert pace.prompt(61_267) == pytest.approx(2 * pace.prefill * 61_267, rel=0.001)
        assert pace.prompt(122_534) == pytest.approx(3 * pace.prompt(61_267), rel=0.001)
        # In parts it is the same.
        parts = sum(pace.prompt(2048, 2048 * part) for part in range(16))
        assert parts == pytest.approx(pace.prompt(16 * 2048))

    def test_layers_with_a_window_read_that_and_no_more(self) -> None:
        """Gemma 3: one full layer in six; a token of the others leaves the window of 1,024 again."""
        model = shape("google/gemma-3-27b-it")
        pace = pace_of(verdict(model, "p5.48xlarge"), "p5.48xlarge")
        # 10 full layers of 62, 16 heads of keys and values with 128 numbers each.
        assert pace.cached == pytest.approx(10 * 16 * 256 * 2 / 3350e9 / 0.7)
        # The other 52 read the last 1,024 tokens of each request.
        assert pace.beta == pytest.approx(10e-6 + 1024 * 52 * 16 * 256 * 2 / 3350e9 / 0.7)
        # And so does attention: 32 heads of queries.
        assert pace.attention == pytest.approx(2 * 10 * 32 * 256 / 989e12 / 0.65)

    @pytest.mark.parametrize("context", [256, 512])
    def test_short_requests_do_not_fill_the_window(self, context: int) -> None:
        model = shape("google/gemma-3-27b-it")
        pace = pace_of(verdict(model, "p5.48xlarge", context=context), "p5.48xlarge")
        assert pace.beta == pytest.approx(10e-6 + context * 52 * 16 * 256 * 2 / 3350e9 / 0.7)

    def test_eight_bits_read_half_and_compute_twice(self) -> None:
        narrow = replace(shape(), dtype="fp8", weights_bytes=(shape().weights_bytes or 0) // 2)
        wide, quantized = pace_of(verdict(), "g6e.2xlarge"), pace_of(verdict(narrow), "g6e.2xlarge")
        assert quantized.alpha - 0.00096 == pytest.approx((wide.alpha - 0.00096) / 2)
        assert quantized.prefill == pytest.approx(wide.prefill * 362.05 / 733)

    def test_ranks_share_what_is_read(self) -> None:
        one = pace_of(verdict(on="p5.48xlarge"), "p5.48xlarge")
        four = pace_of(verdict(on="p5.48xlarge", parallel=Parallel(4)), "p5.48xlarge")
        sums = 32 * 2 * 5e-6  # over NVLink 4
        assert four.alpha - 0.00096 - sums == pytest.approx((one.alpha - 0.00096) / 4, rel=0.001)
        assert four.prefill == pytest.approx(one.prefill / 4)

    @pytest.mark.parametrize(
        ("found", "share"),
        [
            (verdict(offloaded_bytes=4 * GIB), 4 / 14.96),
            (verdict(engine="ollama", on="g4dn.xlarge", context=2048), None),  # for lack of room
        ],
        ids=["told", "spilled"],
    )
    def test_what_is_in_the_memory_of_the_host_is_read_slowly(
        self, found: MemoryVerdict, share: float | None
    ) -> None:
        name = "g6e.2xlarge" if share else "g4dn.xlarge"
        bandwidth = 864e9 if share else 320e9
        far = share * 14.96 * GIB if share else -found.margin
        assert far > 0
        near = (14.96 * GIB - far) / bandwidth / 0.85
        assert pace_of(found, name).alpha == pytest.approx(near + far / 32e9 + 32 * 30e-6, rel=0.001)

    def test_copies_take_more_requests(self) -> None:
        one, two = (pace_of(verdict(on="p5.48xlarge", parallel=Parallel(data=n)), "p5.48xlarge") for n in (1, 2))
        assert two.batch == 2 * one.batch
        # vLLM keeps a little more beside where there are several ranks.
        assert two.cache_tokens == pytest.approx(2 * (one.cache_tokens or 0), rel=0.02)
        assert (two.beta, two.cached) == pytest.approx((one.beta / 2, one.cached / 2))

    def test_experts_that_no_token_goes_through_are_neither_computed_nor_read(self) -> None:
        """Mixtral: two of eight experts for a token; eight tokens go through 1 - 0.75^8 of them, 90 %."""
        model = shape("mistralai/Mixtral-8x7B-v0.1")
        pace = pace_of(verdict(model, "p5.48xlarge", parallel=Parallel(2)), "p5.48xlarge")
        parameters = 46702792704 - 45097156608 * Decimal(6) / 8
        assert pace.prefill == pytest.approx(float(2 * parameters / 2) / 989e12 / 0.65)
        # 45.1 of 46.7 billion parameters are experts, half of them on each of two ranks.
        experts = 86.99 * GIB * 45097156608 / 46702792704 / 2 / 3350e9 / 0.85
        assert pace.experts == pytest.approx(experts, rel=0.002)
        assert pace.untouched == 0.75
        # 30 us for a layer, 60 for its experts, and two sums of 5 over NVLink 4.
        fixed = 32 * 100e-6 + 10e-6
        dense = 86.99 * GIB / 2 / 3350e9 / 0.85 - experts
        for tokens, part in ((1, 0.25), (2, 0.4375), (8, 0.8999)):
            beside = 10e-6 * (tokens - 1)
            assert pace.step(tokens) == pytest.approx(fixed + beside + dense + experts * part, rel=0.005)
        # A prompt goes through all of them.
        assert pace.step(1, prompts=100) == pytest.approx(fixed + dense + experts, rel=0.005)

    def test_prompts_are_computed_in_parts_as_the_engine_does(self) -> None:
        assert pace_of(verdict(engine="vllm"), "g6e.2xlarge").chunk == 2048
        assert pace_of(verdict(engine="vllm", batch_tokens=512), "g6e.2xlarge").chunk == 512

    @pytest.mark.parametrize("name", ["g4dn.xlarge", "p3.2xlarge", "g5.2xlarge", "g6.2xlarge", "p4d.24xlarge"])
    @pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama", "tensorrt-llm"])
    def test_every_pace_makes_a_replica(self, name: str, engine: str) -> None:
        pace = pace_of(verdict(engine=engine), name)
        replica = EngineReplica(pace, None, 0.0)
        job = replica.submit(0.0, 100, 10)
        replica.advance(3600.0)
        assert job.ended


class TestProcessors:
    SMALL = "Qwen/Qwen2.5-0.5B-Instruct"

    def test_a_part_of_the_bandwidth_of_a_socket(self) -> None:
        """0.99 GB at 8 x 3.2 GB/s, of which 85 % are got."""
        pace = pace_of(UNKNOWN, "m7i.2xlarge", shape(self.SMALL))
        assert pace.alpha == pytest.approx(494032768 * 2 / 25.6e9 / 0.85 + 24 * 30e-6, rel=0.001)
        assert (pace.batch, pace.source) == (1, PaceSource.ESTIMATE)

    def test_fewer_processors_are_slower_and_more_than_there_are_do_not_help(self) -> None:
        one, all_, more = (pace_of(UNKNOWN, "m7i.2xlarge", shape(self.SMALL), cpus) for cpus in (1, 8, 100))
        assert one.prefill == pytest.approx(8 * all_.prefill)
        assert more == all_ == pace_of(UNKNOWN, "m7i.2xlarge", shape(self.SMALL))


@pytest.mark.parametrize(
    ("found", "name", "model"),
    [
        (UNKNOWN, "", None),
        (UNKNOWN, "g6e.2xlarge", None),
        (UNKNOWN, "g6e.2xlarge", shape()),  # without an accelerator on a node that has some
        (UNKNOWN, "m7i.2xlarge", None),
        (UNKNOWN, "no-such.type", shape()),
        (verdict(), "", None),
        (verdict(), "no-such.type", None),
        (verdict(), "m7i.2xlarge", None),
        (verdict(), "inf2.xlarge", None),
        (verdict(), "g4ad.xlarge", None),
        (verdict(Shape("own", parameters=8_000_000_000, dtype="bfloat16")), "g6e.2xlarge", None),
        (verdict(replace(shape(), parameters=None, weights_bytes=None)), "g6e.2xlarge", None),
        (UNKNOWN, "m7i.2xlarge", Shape("own")),
    ],
)
def test_where_too_little_is_known_it_is_said(found: MemoryVerdict, name: str, model: Shape | None) -> None:
    pace = pace_of(found, name, model)
    assert pace == assumed_pace()
    assert pace.source is PaceSource.ASSUMED
    EngineReplica(pace, None, 0.0)


def test_a_profile_comes_before_an_estimate() -> None:
    estimate = pace_of(verdict(), "g6e.2xlarge")
    pace = profiled(Profile("L40S", 1, 22.619, 0.181, 512), estimate)
    assert (pace.alpha, pace.beta, pace.batch) == pytest.approx((0.022619, 0.000181, 512))
    assert (pace.prefill, pace.cache_tokens) == (estimate.prefill, estimate.cache_tokens)
    assert pace.source is PaceSource.PROFILE
