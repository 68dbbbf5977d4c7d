"""Paces from profiles and from bandwidth, by hand."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.live.pace.estimates import efficiency
from workbench.live.pace.profiles import Efficiency, StepWork, from_profile, from_roofline
from workbench.live.served import PaceSource, TokenPace

BOUNDS = TokenPace(0.0, 0.0, 0.0, 256, 100_000, 4096)
PLAIN = Efficiency(weights=1, cache=1, compute=1, layer_us=0, reduce_us=0, request_us=0, host=32e9)
WORK = StepWork(weights=16e9, experts=0, cache=128e6, operations=16e9, layers=32)
BANDWIDTH, FLOPS = 2e12, 320e12


class TestProfile:
    def test_a_profile_says_how_long_steps_take(self) -> None:
        """WVA spec 12: Llama 3.1 8B on an H100."""
        estimate = TokenPace(1.0, 1.0, 0.0001, 8, 5000, 512, PaceSource.ESTIMATE)
        pace = from_profile(6.958, 0.042, 512, estimate)
        assert (pace.alpha, pace.beta) == pytest.approx((0.006958, 0.000042))
        assert pace == TokenPace(pace.alpha, pace.beta, 0.0001, 512, 5000, 512, PaceSource.PROFILE)

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
            ({"weights": 12.8e9, "on_host": 3.2e9}, 0.0064 + 0.1, 0.000064, 0.00005),
            # Experts that further requests add.
            ({"experts": 64e6}, 0.008, 0.000096, 0.00005),
        ],
        ids=str,
    )
    def test_several_ranks(self, changes: dict[str, Any], alpha: float, beta: float, prefill: float) -> None:
        pace = from_roofline(replace(WORK, **changes), BANDWIDTH, FLOPS, replace(PLAIN, reduce_us=10), BOUNDS)
        assert (pace.alpha, pace.beta, pace.prefill) == pytest.approx((alpha, beta, prefill))

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
