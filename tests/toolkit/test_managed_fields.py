"""Field ownership: sets of fields as the API server writes them."""

from typing import Any

import pytest

from toolkit.kube.managed_fields import (
    Fields,
    differing,
    empty_lists,
    is_controller,
    merged_into,
    owned_fields,
    select,
    union,
    without,
)

CONTAINER: Fields = {
    'k:{"name":"server"}': {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:args": {},
        "f:ports": {".": {}, 'k:{"containerPort":8000,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
    }
}
POD = {
    "containers": [
        {"name": "server", "image": "vllm:1", "args": ["a"], "ports": [{"containerPort": 8000, "protocol": "TCP"}]},
        {"name": "proxy", "image": "envoy:1"},
    ]
}


@pytest.mark.parametrize(
    ("manager", "controls"),
    [
        ("kube-controller-manager", True),
        ("kubelet", True),
        ("keda-operator", True),
        ("vertical-pod-autoscaler", True),
        ("llmkube-controller-manager", True),
        ("manager", True),
        ("kubectl-client-side-apply", False),
        ("kubectl-edit", False),
        ("helm", False),
        ("argocd-controller", False),
        ("kustomize-controller", False),
        ("before-first-apply", False),
        ("somebody", False),
    ],
)
def test_controllers_are_told_from_those_who_apply_manifests(manager: str, controls: bool) -> None:
    assert is_controller(manager) is controls


def test_a_set_selects_the_items_of_a_list_by_their_keys() -> None:
    assert select(POD, {"f:containers": CONTAINER}) == {"containers": [POD["containers"][0]]}
    assert select(POD, {"f:containers": CONTAINER}, inverse=True) == {
        "containers": [{"name": "proxy", "image": "envoy:1"}]
    }


@pytest.mark.parametrize(
    ("value", "fields", "selected", "rest"),
    [
        ({"a": 1, "b": 2}, {"f:a": {}}, {"a": 1}, {"b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"f:a": {"f:b": {}}}, {"a": {"b": 1}}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {"f:a": {".": {}, "f:b": {}}}, {"a": {"b": 1}}, {}),
        ({"a": ["x", "y"]}, {"f:a": {'v:"x"': {}}}, {"a": ["x"]}, {"a": ["y"]}),
        ({"a": ["x", "y"]}, {"f:a": {"i:1": {}}}, {"a": ["y"]}, {"a": ["x"]}),
        ({"a": ["x"]}, {"f:a": {}}, {"a": ["x"]}, {}),
        (
            {"a": [{"n": 1, "p": "T", "x": 2}]},
            {"f:a": {'k:{"n":1,"p":"T"}': {"f:x": {}}}},
            {"a": [{"n": 1, "p": "T", "x": 2}]},
            {"a": [{"n": 1, "p": "T"}]},
        ),
        (
            {"a": [{"n": 1, "p": "T", "x": 2}]},
            {"f:a": {'k:{"n":1,"p":"T"}': {".": {}, "f:x": {}}}},
            {"a": [{"n": 1, "p": "T", "x": 2}]},
            {},
        ),
        ({"a": {}}, {"f:b": {}}, {}, {"a": {}}),
    ],
)
def test_a_set_and_its_complement(value: Any, fields: dict[str, Any], selected: Any, rest: Any) -> None:
    assert select(value, fields) == selected
    assert select(value, fields, inverse=True) == rest


def test_a_difference_of_sets_leaves_no_parent_alone() -> None:
    both: Fields = {"f:a": {".": {}, "f:b": {}}, "f:c": {}}
    assert without(both, {"f:a": {"f:b": {}}}) == {"f:c": {}}
    assert without(both, {"f:c": {}}) == {"f:a": {".": {}, "f:b": {}}}
    assert without(both, both) == {}


ITEMS: dict[str, Any] = {"l": [{"n": "a", "v": 1, "w": 1}, {"n": "b", "v": 1}]}
OWNED: Fields = {
    "f:l": {'k:{"n":"a"}': {".": {}, "f:n": {}, "f:v": {}, "f:w": {}}, 'k:{"n":"b"}': {".": {}, "f:v": {}}}
}


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        (ITEMS, {}),
        ({"l": ITEMS["l"][::-1]}, {}),
        (
            {"l": [{"n": "b", "v": 1}, {"n": "a", "v": 2, "w": 1}]},
            {"f:l": {'k:{"n":"a"}': {"f:v": {}}}},
        ),
        ({"l": [ITEMS["l"][0]]}, {"f:l": {'k:{"n":"b"}': {".": {}, "f:v": {}}}}),
        ({}, OWNED),
    ],
)
def test_the_fields_that_differ_between_two_states(after: Any, differs: Fields) -> None:
    assert differing(OWNED, ITEMS, after) == differs


APPLIER = {"manager": "ours", "operation": "Apply", "time": "2", "fieldsV1": {"f:a": {}}}
FORMER = {"manager": "kubectl", "operation": "Update", "time": "1", "fieldsV1": {"f:a": {}, "f:b": {}, "f:c": {}}}
STATUS = {"manager": "kubectl", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}}


@pytest.mark.parametrize(
    ("entries", "kept", "merged"),
    [
        ([APPLIER, STATUS], {}, [STATUS, APPLIER]),
        ([FORMER, APPLIER], {}, [{**APPLIER, "fieldsV1": {"f:a": {}, "f:b": {}, "f:c": {}}}]),
        ([FORMER], {}, [{**FORMER, "manager": "ours", "operation": "Apply"}]),
        (
            [FORMER, STATUS, APPLIER],
            {"f:c": {}},
            [{**FORMER, "fieldsV1": {"f:c": {}}}, STATUS, {**APPLIER, "fieldsV1": {"f:a": {}, "f:b": {}}}],
        ),
        ([STATUS], {}, [STATUS]),
    ],
)
def test_an_applier_takes_over_the_fields_of_former_managers(entries: Any, kept: Fields, merged: Any) -> None:
    assert merged_into("ours", entries, lambda entry: entry is FORMER, kept, {}) == merged


def test_dropped_fields_have_no_owner() -> None:
    (merged,) = merged_into("ours", [FORMER], lambda entry: entry is FORMER, {}, {"f:c": {}})
    assert merged["fieldsV1"] == {"f:a": {}, "f:b": {}}


def test_empty_lists_are_found() -> None:
    fields: Fields = {"f:l": {'k:{"n":"a"}': {".": {}, "f:e": {}, "f:m": {}, "f:v": {}}}, "f:e": {}}
    value = {"l": [{"n": "a", "e": [], "m": {}, "v": 1}], "e": [1]}
    assert empty_lists(fields, value) == {"f:l": {'k:{"n":"a"}': {"f:e": {}}}}


def test_a_union_keeps_the_fields_of_both() -> None:
    assert union({"f:a": {"f:b": {}}}, {"f:a": {"f:c": {}}, "f:d": {}}) == {
        "f:a": {"f:b": {}, "f:c": {}},
        "f:d": {},
    }


def test_the_fields_of_some_managers() -> None:
    live = {
        "metadata": {
            "managedFields": [
                {"manager": "kubectl", "fieldsV1": {"f:spec": {"f:a": {}}}},
                {
                    "manager": "kube-controller-manager",
                    "subresource": "scale",
                    "fieldsV1": {"f:spec": {"f:replicas": {}}},
                },
            ]
        }
    }
    assert owned_fields(live, is_controller) == {"f:spec": {"f:replicas": {}}}
    assert owned_fields(live, lambda name: not is_controller(name)) == {"f:spec": {"f:a": {}}}
