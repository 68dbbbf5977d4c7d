"""Paces from profiles and from bandwidth, by hand."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.fleet import PaceSource, TokenPace
from livefleet.pace.estimates import efficiency
from livefleet.pace.profiles import Efficiency, StepWork, from_profile, from_roofline

BOUNDS = TokenPace(0.0, 0.0, 0.0, 256, 100_000, 4096)
PLAIN = Efficiency(weights=1, cache=1, compute=1, layer_us=0, experts_us=0, reduce_us=0, request_us=0, host=32e9)
WORK = StepWork(weights=16e9, cache=128e6, operations=16e9, layers=32)
BANDWIDTH, FLOPS = 2e12, 320e12


class TestProfile:
    def test_a_profile_says_how_long_steps_take(self) -> None:
        """WVA spec 12: Llama 3.1 8B on an H100."""
        estimate = TokenPace(1.0, 1.0, 0.0001, 8, 5000, 512, PaceSource.ESTIMATE)
        pace = from_profile(6.958, 0.042, 512, estimate)
        assert (pace.alpha, pace.beta) == pytest.approx((0.006958, 0.000042))
        assert pace == TokenPace(pace.alpha, pace.beta, 0.0001, 512, 5000, 512, PaceSource.PROFILE)

    def test_its_steps_have_the_cache_and_the_experts_of_the_requests_that_were_measured(self) -> None:
        estimate = TokenPace(
            1.0, 1.0, 0.0001, 8, source=PaceSource.ESTIMATE, cached=1e-6, attention=1e-9, experts=0.01, untouched=0.5
        )
        pace = from_profile(6.958, 0.042, 512, estimate)
        assert (pace.cached, pace.experts, pace.untouched) == (0.0, 0.0, 1.0)
        assert (pace.prefill, pace.attention) == (0.0001, 1e-9)

    def test_nothing_is_assumed_of_prompts_beside_a_measurement(self) -> None:
        """The model of queues has none, and a number out of the air would be taken for measured."""
        pace = from_profile(20.58, 0.41, 4, TokenPace(1.0, 1.0, 0.3, 8))
        assert (pace.prefill, pace.batch, pace.source) == (0.0, 4, PaceSource.PROFILE)


class TestRoofline:
    def test_at_the_roof(self) -> None:
        """16 GB of weights and 128 MB of cache at 2 TB/s; 16 billion operations for a token at 320 a picosecond."""
        pace = from_roofline(WORK, BANDWIDTH, FLOPS, PLAIN, BOUNDS)
        assert (pace.alpha, pace.beta, pace.prefill) == pytest.approx((0.008, 0.000064, 0.00005))
        assert (pace.batch, pace.cache_tokens, pace.chunk) == (256, 100_000, 4096)
        assert pace.source is PaceSource.ESTIMATE

    @pytest.mark.parametrize(
        ("changes", "figure", "value"),
        [
            ({"weights": 0.5}, "alpha", 0.016),
            ({"cache": 0.5}, "beta", 0.000128),
            ({"compute": 0.5}, "prefill", 0.0001),
            ({"layer_us": 100}, "alpha", 0.008 + 0.0032),
            ({"reduce_us": 100}, "alpha", 0.008),  # one rank has nothing to sum
            ({"request_us": 36}, "beta", 0.0001),
        ],
        ids=str,
    )
    def test_below_the_roof(self, changes: dict[str, float], figure: str, value: float) -> None:
        pace = from_roofline(WORK, BANDWIDTH, FLOPS, replace(PLAIN, **changes), BOUNDS)
        assert getattr(pace, figure) == pytest.approx(value)

    @pytest.mark.parametrize(
        ("changes", "alpha", "beta", "prefill"),
        [
            # Two ranks of half of everything: 32 layers with two sums of 10 us each.
            ({"weights": 8e9, "cache": 64e6, "operations": 8e9, "tensor": 2}, 0.004 + 0.00064, 0.000032, 0.000025),
            # Two stages of half of everything: a token takes as long as before, and two requests go at once.
            ({"weights": 8e9, "cache": 64e6, "operations": 8e9, "pipeline": 2}, 0.008, 0.000032, 0.00005),
            # Two copies share the requests.
            ({"copies": 2}, 0.008, 0.000032, 0.00005),
            # A fifth of the weights comes from the host, at 32 GB/s.
            ({"on_host": 0.2}, 0.0064 + 0.1, 0.000064, 0.00005),
        ],
        ids=str,
    )
    def test_several_ranks(self, changes: dict[str, Any], alpha: float, beta: float, prefill: float) -> None:
        pace = from_roofline(replace(WORK, **changes), BANDWIDTH, FLOPS, replace(PLAIN, reduce_us=10), BOUNDS)
        assert (pace.alpha, pace.beta, pace.prefill) == pytest.approx((alpha, beta, prefill))

    @pytest.mark.parametrize(
        ("changes", "figure", "value"),
        [
            # 20 GB of experts at 2 TB/s, of which one token goes through an eighth.
            ({"experts": 20e9, "untouched": 0.875}, "experts", 0.010),
            ({"experts": 20e9, "untouched": 0.875}, "untouched", 0.875),
            # Two stages take theirs one after the other; half of them in the memory of the host, at 32 GB/s.
            ({"experts": 20e9, "pipeline": 2}, "experts", 0.020),
            ({"experts": 20e9, "on_host": 0.5}, "experts", 0.005 + 10 / 32),
            # A layer with experts takes 25 us more, one without none.
            ({"experts": 20e9}, "alpha", 0.008 + 32 * 25e-6),
            ({}, "alpha", 0.008),
            # Of two copies each has half of the tokens: of 16 tokens 8 in each.
            ({"experts": 20e9, "untouched": 0.25, "copies": 2}, "untouched", 0.5),
            # 131,072 bytes of cache for a token at 2 TB/s, and half of it with two copies, which have half of them.
            ({"token": 131072}, "cached", 131072 / 2e12),
            ({"token": 131072, "copies": 2}, "cached", 131072 / 4e12),
            # 524,288 operations for a pair of tokens.
            ({"pair": 524288}, "attention", 524288 / 320e12),
            ({"pair": 524288, "pipeline": 2}, "attention", 2 * 524288 / 320e12),
        ],
        ids=str,
    )
    def test_what_the_batch_and_the_context_add(self, changes: dict[str, Any], figure: str, value: float) -> None:
        pace = from_roofline(replace(WORK, **changes), BANDWIDTH, FLOPS, replace(PLAIN, experts_us=25), BOUNDS)
        assert getattr(pace, figure) == pytest.approx(value)

    @given(st.floats(1e8, 1e12), st.floats(0, 1e9), st.floats(1e8, 1e13), st.floats(1e11, 1e16), st.floats(1.01, 4.0))
    def test_more_bandwidth_is_never_slower(
        self, weights: float, cache: float, bandwidth: float, flops: float, factor: float
    ) -> None:
        work = replace(WORK, weights=weights, cache=cache)
        slow, fast = (
            from_roofline(work, bandwidth * more, flops * more, efficiency(), BOUNDS) for more in (1, factor)
        )
        assert fast.alpha < slow.alpha
        assert fast.beta <= slow.beta
        assert fast.prefill < slow.prefill
        # What is read cannot be read faster than memory is.
        assert slow.alpha > weights / bandwidth
