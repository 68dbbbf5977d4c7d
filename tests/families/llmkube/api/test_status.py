"""Status as it is read back from a cluster (LLMKube spec 1.2, 1.3)."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.contract.checking import check
from components.families.llmkube.types.inference_service import InferenceService, Model
from tests.contract.changing import changed
from tests.families.llmkube.api.samples import (
    DOCUMENTS,
    LEAST,
    WEIGHTS,
    kind_of,
)
from tests.families.llmkube.api.test_rules import problems

CONDITION = {
    "type": "Available",
    "status": "True",
    "reason": "InferenceReady",
    "message": "",
    "lastTransitionTime": "2026-01-31T12:00:00Z",
}
STATUS = {
    "phase": "Ready",
    "readyReplicas": 1,
    "replicas": 1,
    "desiredReplicas": 1,
    "endpoint": "http://least.default.svc.cluster.local:8080/v1/chat/completions",
    "modelReady": True,
    "queuePosition": 0,
    "effectivePriority": 10000,
    "lastUpdated": "2026-01-31T12:00:00Z",
    "conditions": [{**CONDITION, "observedGeneration": 1}],
}
MODEL_STATUS = {
    "phase": "Ready",
    "cacheKey": "608d0e1313135e5b",
    "path": "/models/608d0e1313135e5b/m1.gguf",
    "sourceETag": '"x"',
    "sourceContentLength": 2**40,
    "acceleratorReady": True,
    "gguf": {"architecture": "llama", "contextLength": 131072, "fileVersion": 3},
    "conditions": [CONDITION, {**CONDITION, "type": "example.com/Synced", "status": "Unknown"}],
}


def live(base: int, status: dict[str, Any]) -> dict[str, Any]:
    """Return a document as the API server answers with it."""
    document = changed(DOCUMENTS[base], {"status": status})
    document["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 1, "managedFields": [{"manager": "m"}]}
    document["metadata"]["creationTimestamp"] = "2026-01-31T12:00:00Z"
    return document


def test_a_live_inference_service_is_read() -> None:
    status = InferenceService.model_validate(live(LEAST, STATUS)).status
    assert status is not None
    assert (status.phase, status.ready_replicas, status.model_ready, status.endpoint) == (
        "Ready",
        1,
        True,
        STATUS["endpoint"],
    )
    assert status.conditions is not None
    assert [(c.type, c.status, c.observed_generation) for c in status.conditions] == [("Available", "True", 1)]
    assert status.wire() == STATUS


def test_a_live_model_is_read() -> None:
    status = Model.model_validate(live(WEIGHTS, MODEL_STATUS)).status
    assert status is not None
    assert (status.cache_key, status.source_etag, status.source_content_length) == ("608d0e1313135e5b", '"x"', 2**40)
    assert status.gguf is not None
    assert status.gguf.context_length == 131072
    assert status.wire() == MODEL_STATUS


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"phase": "Downloading"}, ("phase",)),  # a phase of Models
        ({"readyReplicas": "1"}, ("readyReplicas",)),
        ({"lastUpdated": "yesterday"}, ("lastUpdated",)),
        ({"conditions": [{**CONDITION, "type": "not a type"}]}, ("conditions", 0, "type")),
        ({"conditions": [{**CONDITION, "type": "a" * 317}]}, ("conditions", 0, "type")),
        ({"conditions": [{**CONDITION, "reason": ""}]}, ("conditions", 0, "reason")),
        ({"conditions": [{**CONDITION, "reason": "a" * 1025}]}, ("conditions", 0, "reason")),
        ({"conditions": [{**CONDITION, "reason": "has blanks"}]}, ("conditions", 0, "reason")),
        ({"conditions": [{**CONDITION, "message": "a" * 32769}]}, ("conditions", 0, "message")),
        ({"conditions": [{**CONDITION, "status": True}]}, ("conditions", 0, "status")),
        ({"conditions": [{**CONDITION, "observedGeneration": -1}]}, ("conditions", 0, "observedGeneration")),
        (
            {"conditions": [{**CONDITION, "lastTransitionTime": "2026-01-31"}]},
            ("conditions", 0, "lastTransitionTime"),
        ),
        ({"conditions": [{"type": "Available", "status": "True"}]}, ("conditions", 0, "reason")),
        ({"conditions": [CONDITION, {**CONDITION, "status": "False"}]}, ()),
    ],
)
def test_a_status_that_breaks_the_contract_is_not_read(change: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        InferenceService.model_validate(live(LEAST, {**STATUS, **change}))
    assert ("status", *path) in [error["loc"] for error in caught.value.errors()]


@pytest.mark.parametrize(
    ("type_", "good"),
    [
        ("Available", True),
        ("a9.b-9.example.com/Synced_9.x-y", True),
        ("9a/9", True),
        ("8.7-6.5x4z/3y2Z", True),
        ("7-8.9-2.z-2/3.4-5", True),
        ("example..com/Synced", False),
        ("Example.com/Synced", False),
        ("-a/b", False),
        ("a/b/c", False),
        ("a/", False),
        ("Ready-", False),
        ("Ready\n", False),
        ("", False),
    ],
)
def test_types_of_conditions(type_: str, *, good: bool) -> None:
    document = live(LEAST, {"conditions": [{**CONDITION, "type": type_}]})
    if good:
        assert InferenceService.model_validate(document).status is not None
        return
    with pytest.raises(ValidationError, match="must be CamelCase such as Available"):
        InferenceService.model_validate(document)


@pytest.mark.parametrize(
    ("reason", "good"),
    [("A", True), ("a9,b:C_9", True), ("Z5", True), ("z,7_8", True), ("9a", False), ("a,", False), ("a\n", False)],
)
def test_reasons_of_conditions(reason: str, *, good: bool) -> None:
    document = live(LEAST, {"conditions": [{**CONDITION, "reason": reason}]})
    if good:
        assert InferenceService.model_validate(document).status is not None
        return
    with pytest.raises(ValidationError, match="must be CamelCase such as InferenceReady"):
        InferenceService.model_validate(document)


def test_two_conditions_of_one_type_are_told_apart_by_index() -> None:
    with pytest.raises(ValidationError, match="'Available' is used twice; types must be unique"):
        Model.model_validate(live(WEIGHTS, {"conditions": [CONDITION, CONDITION]}))


def test_status_is_dropped_but_its_fields_must_be_known() -> None:
    document = changed(DOCUMENTS[LEAST], {"status": {"phase": 5}})
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    assert "status" not in resource.wire()
    assert problems(WEIGHTS, {"status": {"cachekey": "x"}}) == [
        ("status/cachekey", "unknown field; did you mean 'cacheKey'?")
    ]
