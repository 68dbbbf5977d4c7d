"""Which requests for a model go where: weights, headers in the gateway's own order, and other names."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fleet.rendered import Fleet
from tests.checks.front_door.doors import BALANCERS, PUBLIC, Object, fleet, made, one, wrong
from tests.checks.front_door.routed import backend, endpoints, rules, shared

LONG = "x" * 4097


def weights(of: Fleet) -> list[int | None]:
    (rule,) = rules(of, PUBLIC)
    return [reference.get("weight") for reference in rule["backendRefs"]]


def order(of: Fleet) -> list[str]:
    """The first backend of each rule."""
    return [rule["backendRefs"][0]["name"] for rule in rules(of, PUBLIC)]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[backend("a", 3, 70), backend("b", 1, 30)]], [70, 30]),
        ([[backend("a", 3, 100), backend("b", 1, 0)]], [100, 0]),
        # Somebody who writes 0 everywhere wants no requests; replicas at rest are started by requests.
        ([[backend("a", 3, 0), backend("b", 1, 0)]], [0, 0]),
        ([[backend("a", 0), backend("b", 0)]], [1, 1]),
        ([[backend("a", 0, 70), backend("b", 0, 30)]], [70, 30]),
        ([[backend("a", 3)]], [None]),
        ([[backend("a", 0)]], [None]),
        ([[backend("a", 3, 40)]], [None]),
        ([[backend("a", 3, 0)]], [0]),
        # 3 replicas beside 2 + 1, of which 70 % and 30 % of the requests go to either backend.
        ([[backend("a", 3)], [backend("b", 2, 70), backend("c", 1, 30)]], [30, 21, 9]),
        ([[backend("a", 1)], [backend("b", 1, 0), backend("c", 1, 1)]], [1, 0, 2]),
        ([[backend("a", 2)], [backend("b", 1, 0), backend("c", 1, 0)]], [2, 0, 0]),
        ([[backend("a", 0)], [backend("b", 0, 1), backend("c", 0, 3)]], [2, 1, 3]),
    ],
)
def test_weights_of_one_endpoint_are_kept_and_several_share_by_replicas(
    groups: list[Any], expected: list[int | None]
) -> None:
    assert weights(shared(*groups)) == expected


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.one_of(st.none(), st.integers(0, 100))), min_size=1, max_size=5),
        min_size=2,
        max_size=5,
    )
)
def test_weights_are_within_what_the_gateway_takes(drawn: list[list[tuple[int, int | None]]]) -> None:
    """``BackendRef.weight`` of the Gateway API: 0 to 1,000,000; what has a part keeps one."""
    groups = [
        [
            backend(f"b{i}-{j}", share, None if all(w is None for _, w in group) else weight or 0)
            for j, (share, weight) in enumerate(group)
        ]
        for i, group in enumerate(drawn)
    ]
    found = weights(shared(*groups))
    assert all(each is not None and 0 <= each <= 1_000_000 for each in found)
    flat = [each for group in groups for each in group]
    resting = not any(each.share for each in flat)
    for each, weight in zip(flat, found, strict=True):
        if each.weight is None and (resting or each.share):
            assert weight
        if each.weight == 0:
            assert weight == 0


def test_weights_without_a_common_factor_are_kept_as_nearly_as_they_can_be() -> None:
    found = weights(shared(*([backend(f"x{p}", 1, 1), backend(f"y{p}", 1, p - 1)] for p in (89, 97, 83, 79))))
    assert max(each or 0 for each in found) <= 1_000_000
    assert (found[1] or 0) / (found[0] or 1) == pytest.approx(88, rel=0.01)


def test_headers_stand_beside_the_models_name() -> None:
    """The gateway compares expressions with the whole value, so that what is sought in it gets a wildcard around."""
    on = {"X-Tier": ("exact", "gold"), "x-user": ("prefix", "a.b c"), "x-lang": ("regex", "^de|fr$")}
    (rule,) = rules(endpoints({"on": on}), PUBLIC)
    assert rule["matches"] == [
        {
            "headers": [
                {"type": "Exact", "name": "x-ai-eg-model", "value": "m"},
                {"type": "Exact", "name": "x-tier", "value": "gold"},
                {"type": "RegularExpression", "name": "x-user", "value": r"a\.b\ c.*"},
                {"type": "RegularExpression", "name": "x-lang", "value": ".*(?:^de|fr$).*"},
            ]
        }
    ]


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=20), st.text(max_size=9))
def test_a_prefix_is_a_text_and_no_expression(prefix: str, rest: str) -> None:
    (rule,) = rules(endpoints({"on": {"x": ("prefix", prefix)}}), PUBLIC)
    written = rule["matches"][0]["headers"][1]["value"]
    assert re.fullmatch(written, prefix + rest.replace("\n", ""))
    assert not re.fullmatch(written, chr(127) + prefix)


def test_rules_are_listed_as_the_gateway_tries_them() -> None:
    """More headers first, then more exact ones, then the order of the resource (Envoy Gateway, sort.go)."""
    of = endpoints(
        {},
        {"on": {"a": ("regex", "1")}},
        {"on": {"b": ("exact", "1")}},
        {"on": {"a": ("prefix", "1"), "b": ("prefix", "1")}},
        {"on": {"c": ("exact", "1")}},
    )
    assert order(of) == ["m-3", "m-2", "m-4", "m-1", "m"]


def test_endpoints_with_the_same_headers_answer_together() -> None:
    gold = {"x-tier": ("exact", "gold")}
    of = endpoints({"on": gold, "backends": (backend("a", 2),)}, {}, {"on": gold, "backends": (backend("b", 1),)})
    first, second = rules(of, PUBLIC)
    assert [(each["name"], each["weight"]) for each in first["backendRefs"]] == [("m", 2), ("m-2", 1)]
    assert [each["name"] for each in second["backendRefs"]] == ["m-1"]


def test_an_order_that_the_gateway_does_not_keep_is_told() -> None:
    of = endpoints({}, {"on": {"x": ("exact", "1")}})
    ((path, reason),) = wrong(PUBLIC, of, severity="warning")
    assert path == "spec.rules[1]"
    assert "tries rules with more headers first" in reason


@pytest.mark.parametrize(
    "written",
    [
        [{"on": {"x": ("exact", "1")}}, {}],
        [{"on": {"x": ("exact", "1")}}, {"on": {"x": ("exact", "2"), "y": ("exact", "1")}}],
        [{"on": {"x": ("exact", "1")}}, {"on": {"x": ("exact", "1")}}],
        [{"on": {"x": ("regex", "1")}}, {"on": {"y": ("regex", "1")}}],
    ],
    ids=["special-first", "exclusive", "equal", "as-many"],
)
def test_an_order_that_the_gateway_keeps_is_not(written: list[Object]) -> None:
    assert wrong(PUBLIC, endpoints(*written), severity="warning") == []


@pytest.mark.parametrize(
    ("on", "path", "says"),
    [
        ({"x-ai-eg-model": ("exact", "m")}, "x-ai-eg-model", "is set by the gateway"),
        ({"X-Ai-Eg-Model": ("exact", "m")}, "X-Ai-Eg-Model", "is set by the gateway"),
        ({"x-a": ("exact", "1"), "X-A": ("prefix", "2")}, "X-A", "matched twice"),
        ({"a b": ("exact", "1")}, "a b", "valid header name"),
        ({":path": ("prefix", "/v1")}, ":path", "valid header name"),
        ({"a\n": ("exact", "1")}, "a\n", "valid header name"),
        ({"x": ("exact", "")}, "x", "1 to 4096 characters"),
        ({"x": ("exact", LONG)}, "x", "1 to 4096 characters"),
        ({"x": ("prefix", "." * 2048)}, "x", "1 to 4096 characters"),
    ],
)
def test_headers_that_the_gateway_cannot_match(on: Object, path: str, says: str) -> None:
    ((found, reason),) = wrong(PUBLIC, endpoints({"on": on}))
    assert found == f"spec.rules[0].{path}"
    assert says in reason


def test_sixteen_headers_are_one_too_many_beside_the_models_name() -> None:
    many = {f"x-{number}": ("exact", "1") for number in range(16)}
    assert [path for path, _ in wrong(PUBLIC, endpoints({"on": many}))] == ["spec.rules[0]"]
    del many["x-0"]
    (rule,) = rules(endpoints({"on": many}), PUBLIC)
    assert len(rule["matches"][0]["headers"]) == 16


def test_a_backend_is_asked_by_the_name_that_it_knows() -> None:
    of = shared(
        [backend("a", 1, 1, served_name="Qwen/Qwen3"), backend("b", 1, 1), backend("c", 1, 1, served_name="m")]
    )
    (rule,) = rules(of, PUBLIC)
    assert [each.get("modelNameOverride") for each in rule["backendRefs"]] == ["Qwen/Qwen3", None, None]


def test_endpoints_of_one_service_share_a_load_balancer() -> None:
    (item,) = fleet("m").rendered
    (usual,) = item.endpoints
    adapter = replace(usual, name="m-adapter", model="adapter", body=None)
    of = Fleet((replace(item, endpoints=(usual, adapter)),), ())
    plan = made(BALANCERS, of)
    assert one(plan, "Service")["metadata"]["name"] == "m-in"
    assert [(each.model, each.address_of and each.address_of.name) for each in plan.endpoints] == [
        ("m", "m-in"),
        ("adapter", "m-in"),
    ]
