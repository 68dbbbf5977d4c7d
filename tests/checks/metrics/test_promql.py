"""What a PromQL query reads."""

import pytest

from components.checks.metrics.promql import outer_aggregation, selectors


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("up", [("up", {}, set())]),
        ("vllm:num_requests_waiting", [("vllm:num_requests_waiting", {}, set())]),
        ('sum(a{namespace="x", pod=~"p-.*"})', [("a", {"namespace": "x"}, {"pod"})]),
        ("sum by (pod) (rate(a_total[5m]))", [("a_total", {}, set())]),
        ("sum(a) by (namespace, model) / on (pod) group_left (node) b", [("a", {}, set()), ("b", {}, set())]),
        ("max(a) or vector(0)", [("a", {}, set())]),
        ('{__name__="a:b",namespace="x"}', [("a:b", {"namespace": "x"}, set())]),
        ('histogram_quantile(0.95, sum(rate(a_bucket{x!="y"}[2m])) by (le))', [("a_bucket", {}, {"x"})]),
        ('a{text="b{c}"} offset 5m unless on() c', [("a", {"text": "b{c}"}, set()), ("c", {}, set())]),
        ("a # b\n+ c", [("a", {}, set()), ("c", {}, set())]),
        ("clamp_max(a, 1e3) > bool 5", [("a", {}, set())]),
        ("", []),
    ],
)
def test_selectors_are_found_with_their_matchers(
    query: str, expected: list[tuple[str, dict[str, str], set[str]]]
) -> None:
    assert [(each.name, dict(each.labels), set(each.others)) for each in selectors(query)] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("avg(a)", "avg"),
        ("sum by (pod) (a)", "sum"),
        ("sum(a) by (pod)", "sum"),
        ("avg(a) * count(a)", ""),
        ("(avg(a))", ""),
        ("rate(a[5m])", ""),
        ("a", ""),
        ("", ""),
    ],
)
def test_the_outermost_aggregation_is_found(query: str, expected: str) -> None:
    assert outer_aggregation(query) == expected
