"""What manifests name on the way into queries: refused where Prometheus has no such name, else quoted."""

import json
from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.names import quoted
from components.checks.metrics.words import Adapter
from tests.checks.metrics.checked import MODEL, TRIGGER, problems, read, scaled
from tests.fleets import fleet_of

INJECTION = 'up} or vector(1e9) #{a="'
LABELS = f"{TRIGGER}.metrics[0].external.metric.selector.matchLabels"


@pytest.mark.parametrize("adapter", list(Adapter))
@pytest.mark.parametrize("name", [INJECTION, "a-b", "1up", "a b", "a{b}", 'a"', "a\nb", "ä", "s0.prometheus", ""])
def test_a_name_that_no_metric_can_have(name: str, adapter: Adapter) -> None:
    (problem,) = problems(scaled(read("Pods", name)), adapter=adapter)
    assert (problem.severity, problem.path) == ("error", f"{TRIGGER}.metrics[0].pods.metric.name")
    assert repr(name) in problem.reason
    assert "\n" not in str(problem)


@pytest.mark.parametrize("key", ['a="b"} or vector(1) #', "app.kubernetes.io/name", "a-b", "1a", "__name__"])
@pytest.mark.parametrize("adapter", list(Adapter))
def test_a_key_that_is_no_label_of_prometheus(key: str, adapter: Adapter) -> None:
    use = read("External", "vllm:num_requests_waiting", selector={"matchLabels": {key: "b"}})
    (problem,) = (p for p in problems(scaled(use), adapter=adapter) if p.is_error)
    assert problem.path.startswith(LABELS)
    assert repr(key) in problem.reason


def test_a_key_of_an_expression_is_one_as_well() -> None:
    selector = {"matchExpressions": [{"key": "a-b", "operator": "Exists"}]}
    (problem,) = (p for p in problems(scaled(read("External", "vllm:num_requests_waiting", selector=selector))))
    assert problem.path == f"{TRIGGER}.metrics[0].external.metric.selector.matchExpressions[0].key"


def test_a_value_that_only_a_query_can_hold() -> None:
    """The API server takes label values in the selector of an autoscaler; a ScaledObject's query holds any text."""
    use = read("External", "vllm:num_requests_waiting", selector={"matchLabels": {"model_name": "Qwen/Qwen2-7B"}})
    (problem,) = problems(scaled(use))
    assert problem.path == f"{LABELS}.model_name"
    assert "keda" in problem.reason
    assert problems(scaled(use), adapter=Adapter.KEDA) == ()


def test_an_external_metric_of_another_provider_may_be_called_as_it_likes() -> None:
    """Such as those of a cloud's queue: no query of ours has its name, and it stays a warning."""
    (problem,) = problems(scaled(read("External", "pubsub.example.com|subscription|undelivered")))
    assert problem.severity == "warning"


def rules_of(*uses: Any, adapter: Adapter = Adapter.PROMETHEUS_ADAPTER) -> str:
    chain = metric_chain(fleet_of(MODEL, scaled(*uses)), MetricSettings(adapter=adapter))
    return json.dumps([chain.adapter_rules, chain.scaled_objects])


@pytest.mark.parametrize("adapter", list(Adapter))
def test_what_is_refused_reaches_no_query(adapter: Adapter) -> None:
    """Not even one that is shown beside the problem."""
    selector = {"matchLabels": {INJECTION: "x", "team": "a"}}
    uses = [read("Pods", INJECTION), read("External", "vllm:num_requests_waiting", selector=selector)]
    assert "vector" not in rules_of(*uses, adapter=adapter)
    assert "num_requests_waiting" in rules_of(*uses, adapter=adapter)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ('a"} or up', '"a\\"} or up"'),
        ("\\", '"\\\\"'),
        ("\n", '"\\n"'),
        ("é", '"é"'),
        ("\ud800", '"?"'),
    ],
)
def test_values_are_quoted_as_promql_quotes_them(value: str, text: str) -> None:
    assert quoted(value) == text
