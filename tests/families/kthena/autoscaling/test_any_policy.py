"""Whatever a valid policy says, its autoscaler is one that the API server takes, or it is refused with a reason."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from components.families import objects
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests.families.kthena.autoscaling.bindings import binding, metric, policy, serving
from tests.tries import tries

Object = dict[str, Any]
DURATIONS = st.sampled_from(["0s", "1s", "15s", "1m30s", "30m", "500ms", "29m59.5s", "1ns", "0"])
STABLE = st.fixed_dictionaries(
    {},
    optional={
        "instances": st.integers(0, 2**31 - 1),
        "percent": st.integers(0, 1000),
        "period": DURATIONS,
        "selectPolicy": st.sampled_from(["Or", "And"]),
        "stabilizationWindow": DURATIONS,
    },
)
PANIC = st.fixed_dictionaries(
    {"period": DURATIONS},
    optional={
        "percent": st.integers(0, 1000),
        "panicThresholdPercent": st.integers(110, 1000),
        "panicModeHold": DURATIONS,
    },
)
BEHAVIOR = st.fixed_dictionaries(
    {},
    optional={
        "scaleUp": st.fixed_dictionaries({}, optional={"stablePolicy": STABLE, "panicPolicy": PANIC}),
        "scaleDown": STABLE,
    },
)
NAMES = st.sampled_from(
    [
        *("kthena:num_requests_waiting", "kthena:time_to_first_token_seconds", "kthena:generation_tokens_total"),
        *("vllm:num_requests_running", "vllm_kv_cache_usage_perc", "vllm:e2e_request_latency_seconds", "nope"),
    ]
)
METRICS = st.dictionaries(NAMES, st.sampled_from(["1", "500m", "0.1", "2k", "1e3"]), min_size=1, max_size=3)
TOLERANCE = st.integers(0, 100)
BOUNDS = st.tuples(st.integers(0, 1000), st.integers(0, 999_000)).map(lambda b: (b[0], max(1, b[0] + b[1])))
_LONGEST_PERIOD, _LONGEST_WINDOW = 1800, 3600


def check(hpa: Object) -> None:
    """What the API server asks of an autoscaler, beside its schema (pkg/apis/autoscaling/validation at v1.36.3)."""
    kubernetes_validate.validate(hpa, "1.36", strict=True)
    spec = hpa["spec"]
    assert 0 <= spec["minReplicas"] <= spec["maxReplicas"]
    for way in spec["behavior"].values():
        assert 0 <= way["stabilizationWindowSeconds"] <= _LONGEST_WINDOW
        assert way["selectPolicy"] in ("Max", "Min", "Disabled")
        assert way["policies"]
        for each in way["policies"]:
            assert each["type"] in ("Pods", "Percent")
            assert each["value"] > 0
            assert 0 < each["periodSeconds"] <= _LONGEST_PERIOD


@settings(max_examples=tries(150), deadline=None)
@given(
    BEHAVIOR,
    METRICS,
    TOLERANCE,
    BOUNDS,
    st.booleans(),
)
def test_any_policy(
    behavior: Object, metrics: dict[str, str], tolerance: int, bounds: tuple[int, int], tolerant: bool
) -> None:
    asked = policy(*(metric(*each) for each in metrics.items()), behavior=behavior, tolerancePercent=tolerance)
    documents = serving(), asked, binding(minimum=bounds[0], maximum=bounds[1])
    manifests = objects(list(documents))
    assert not manifests.problems, [str(problem) for problem in manifests.problems]
    fleet = render_fleet(manifests.resources, Options(tolerates_changes=tolerant))
    wrong = [problem for problem in fleet.problems if problem.is_error]
    found = [scaler.hpa for _, scaler in fleet.autoscalers]
    # What is refused says where, and makes nothing; all else is an autoscaler.
    assert bool(found) is not bool(wrong)
    assert all(problem.path.startswith("spec.behavior.") and problem.reason for problem in wrong)
    for hpa in found:
        check(hpa)
        assert len(hpa["spec"]["metrics"]) == len(metrics)
    for adapter in Adapter:
        metric_chain(fleet, MetricSettings(adapter=adapter))
