"""Queries with hostile names and values of manifests, parsed by a real Prometheus: each stays one selector."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from tests.fleets import fleet_of, open_model, playground
from tests.monitoring.programs.prometheus import Prometheus, started
from tests.tries import tries

Json = dict[str, Any]
CONTROL = "\n"
"""Others are refused: character-unseen."""
PIECES = st.sampled_from(
    [*"\"'`\\{}(),#=a_:1-./é😀", *CONTROL, "=~", "[5m]", " or ", " offset ", "vector(1e9)", "up", "$1", "<<.Series>>"]
)
HOSTILE = st.lists(PIECES, max_size=6).map("".join)
NAMES = HOSTILE | st.sampled_from(["vllm:num_requests_waiting", "vllm_generation_tokens_total", "mine", "a:b"])
KEYS = HOSTILE | st.sampled_from(["team", "model_name", "namespace"])


@pytest.fixture(scope="module")
def parser(prometheus_program: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with started(prometheus_program, tmp_path_factory.mktemp("parser")) as prometheus:
        yield prometheus


@st.composite
def fleets(draw: st.DrawFn) -> tuple[list[Json], Adapter]:
    uses = draw(st.lists(st.tuples(st.sampled_from(["Pods", "External"]), NAMES), min_size=1, max_size=2))
    labels = draw(st.dictionaries(KEYS, HOSTILE, max_size=2))
    metrics = [
        {"type": kind, kind.lower(): {
            "metric": {"name": name, "selector": {"matchLabels": labels}},
            "target": {"type": "AverageValue", "averageValue": "5"}}}
        for kind, name in uses
    ]  # fmt: skip
    scaled = playground(elasticConfig={"maxReplicas": 4, "scaleTrigger": {"hpa": {"metrics": metrics}}})
    return [open_model(), scaled], draw(st.sampled_from(list(Adapter)))


def selectors(node: Any) -> list[Json]:
    """Return every selector in what Prometheus reads of a query."""
    if isinstance(node, list):
        return [found for each in node for found in selectors(each)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") in ("vectorSelector", "matrixSelector") else []
    return own + [found for key, each in node.items() if key != "matchers" for found in selectors(each)]


def queries(found: Any) -> list[str]:
    """Return what is asked of Prometheus, with what the adapter puts in the place of its own words."""
    asked = [t["metadata"]["query"] for body in found.scaled_objects for t in body["spec"]["triggers"]]
    for rule in (*found.adapter_rules["custom"], *found.adapter_rules["external"]):
        filled = rule["metricsQuery"].replace("<<.Series>>", "up").replace("<<.LabelMatchers>>", 'pod="p"')
        asked += [rule["seriesQuery"], filled.replace("<<.GroupBy>>", "pod")]
    return asked


@settings(max_examples=tries(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fleets())
def test_every_query_is_one_selector_of_the_named_series(
    parser: Prometheus, case: tuple[list[Json], Adapter]
) -> None:
    documents, adapter = case
    found = metric_chain(fleet_of(*documents), MetricSettings(adapter=adapter))
    labels = documents[1]["spec"]["elasticConfig"]["scaleTrigger"]["hpa"]["metrics"][0]
    values = {text.encode(errors="replace").decode() for text in _labels(labels).values()}
    for query in queries(found):
        (selector,) = selectors(parser.get("parse_query", query=query))
        assert {matcher["type"] for matcher in selector["matchers"]} <= {"=", "!="}
        known = {"namespace", "workload", "pod", "__name__", "exported_namespace"}
        assert {m["value"] for m in selector["matchers"] if m["name"] not in known} <= values


def _labels(use: Json) -> Json:
    labels: Json = (use.get("pods") or use["external"])["metric"]["selector"]["matchLabels"]
    return labels


def test_the_parser_tells_an_injection(parser: Prometheus) -> None:
    """What went out before names were checked and values quoted: two selectors, or no query at all."""
    injected = parser.get("parse_query", query='sum(up{a="b"} or vector(1e9) or up{c="d"})')
    assert len(selectors(injected)) == 2
    with pytest.raises(AssertionError, match="parse error"):
        parser.get("parse_query", query='sum(up{a-b="c"})')
    with pytest.raises(AssertionError, match="parse error"):
        parser.get("parse_query", query='sum(up{a="\\ud83d\\ude00"})')
