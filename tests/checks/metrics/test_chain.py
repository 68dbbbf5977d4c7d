"""From an autoscaler to Prometheus: lws-hpa spec 1.9, 2.3 to 2.5, WVA spec 10, written down by hand."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from components.engines.metrics import engine_metrics
from tests.checks.metrics.chains import CPU, MODEL, QUEUES, RUNNING, external, metric, pods, scaled
from tests.fleets import GPU, fleet_of, open_model, playground


class TestSettings:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("interval", "2m"),
            ("interval", "0s"),
            ("interval", "90s"),
            ("interval", "15"),
            ("prometheus", "prometheus:9090"),
        ],
    )
    def test_wrong_words_are_refused(self, field: str, value: str) -> None:
        with pytest.raises(ValueError, match=field):
            replace(MetricSettings(), **{field: value})  # type: ignore[arg-type]

    @pytest.mark.parametrize(("interval", "window"), [("15s", "120s"), ("30s", "120s"), ("60s", "240s")])
    def test_rates_span_four_scrapes(self, interval: str, window: str) -> None:
        assert MetricSettings(interval=interval).window == window


def documents() -> list[Any]:
    return [
        open_model(),
        open_model("g", flavors=[GPU]),
        *(scaled(pods(name), pods(RUNNING[backend]), backend=backend, name=backend)
          for backend, name in QUEUES.items()),
        scaled(external("vllm_num_requests_waiting"), CPU, name="e"),
        playground("plain", "g"),
    ]  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False), st.sampled_from(Adapter))
def test_the_order_of_documents_does_not_matter(order: random.Random, adapter: Adapter) -> None:
    changed = documents()
    order.shuffle(changed)

    def made(source: list[Any]) -> tuple[Any, ...]:
        found = metric_chain(fleet_of(*source), MetricSettings(adapter=adapter))
        said = sorted((p.name, p.path, p.reason) for p in found.problems)
        return found.monitors, found.adapter_rules, found.scaled_objects, found.needs, said

    assert made(changed) == made(documents())


NAMES = sorted({
    spelled for engine in engine_metrics().values() for m in engine.metrics for spelled in (m.name, m.neutral)
})  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["vllm", "sglang", "tgi", "llamacpp"]),
    st.sampled_from(["v0.4.3", "v0.9.2", "v0.11.0", "v0.20.0", "latest"]),
    st.sampled_from(NAMES),
    st.sampled_from(["Pods", "External"]),
    st.sampled_from(["100m", "1", "5", "200"]),
    st.sampled_from(Adapter),
)
def test_what_has_no_problem_has_the_whole_chain(
    backend: str, version: str, name: str, kind: str, value: str, adapter: Adapter
) -> None:
    """Either it is said what is wrong, or the metric is exported, scraped and adapted under the name that is read."""
    read = metric(kind, name, type="AverageValue", averageValue=value)
    fleet = fleet_of(MODEL, scaled(read, backend=backend, version=version))
    found = metric_chain(fleet, MetricSettings(adapter=adapter))
    if found.problems:
        return
    exported = {m.name for m in engine_metrics()[backend].of_version(version)}
    assert name in {spelled for m in exported for spelled in (m, m.replace(":", "_"))}
    assert len(found.monitors) == 1
    if adapter == Adapter.KEDA:
        (trigger,) = found.scaled_objects[0]["spec"]["triggers"]
        assert any(series in trigger["metadata"]["query"] for series in exported)
    else:
        (rule,) = found.adapter_rules["custom" if kind == "Pods" else "external"]
        assert rule["name"]["as"] == name
        assert any(f'"{series}"' in rule["seriesQuery"] for series in exported)
