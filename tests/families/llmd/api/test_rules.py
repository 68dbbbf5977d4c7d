# ruff: noqa: E501 - tables of values
"""What a VariantAutoscaling may be (WVA spec 2, 3): what passes, what does not, and what is said."""

from typing import Any

import pytest

from components.contract.checking import check
from components.families import parse
from components.families.llmd.types import VariantAutoscaling
from tests.contract.changing import REMOVED, changed, problems_of
from tests.families.llmd.api.samples import DOCUMENTS, FULL, LEAST, STATUS, profile
from tests.families.llmd.api.samples import VARIANT as ANY_RELEASE

VARIANT = ANY_RELEASE.at("c0f645c")

ACC0 = "spec/modelProfile/accelerators/0"
ALLOC = "status/currentAlloc"

GOOD: dict[str, dict[str, Any]] = {
    "whole numbers": {f"{ACC0}/alpha": "7", f"{ACC0}/beta": "0"},
    "zeros in front and behind": {f"{ACC0}/alpha": "007.70", f"{ACC0}/beta": "0.000"},
    "a hundred digits": {f"{ACC0}/alpha": "1" * 100 + ".5"},
    "one of each": {f"{ACC0}/accCount": 1, f"{ACC0}/maxBatchSize": 1},
    "as a float": {f"{ACC0}/accCount": 4.0},
    "64 bits": {f"{ACC0}/accCount": 2**63 - 1, f"{ACC0}/maxBatchSize": 2**31},
    "a name of one character": {f"{ACC0}/acc": "x"},
    "an accelerator twice": {"spec/modelProfile/accelerators": [profile(), profile()]},
    "any text": {"spec/modelID": "\n", "spec/sloClassRef": {"name": " ", "key": "${X}'\""}},
    "no label": {"metadata/labels": REMOVED},
    "a name with dots": {"metadata/name": "a.b"},
    "nothing observed": {"status": {}},
}


@pytest.mark.parametrize("changes", GOOD.values(), ids=GOOD)
def test_good(changes: dict[str, Any]) -> None:
    assert problems_of(changed(DOCUMENTS[LEAST], changes), VARIANT) == []


DECIMAL = "must be an unsigned number in quotes, such as '20.58', found "
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    **{
        f"{field} {value!r}": ({f"{ACC0}/{field}": value}, f"{ACC0}/{field}", DECIMAL)
        for field in ("alpha", "beta")
        for value in ("", ".5", "1.", "-1", "+1", "1e-2", "1,5", " 1", "1 ", "1\n", "1.5\n", "\n1", "٢", "1.٢", "\uff11", "0x1", "NaN", "inf", "1_0", "1.2.3", "${X}")
    },
    "a number without quotes": ({f"{ACC0}/alpha": 20.58}, f"{ACC0}/alpha", "must be a string, found 20.58; put it in quotes"),
    "no number at all": ({f"{ACC0}/beta": None}, f"{ACC0}/beta", "is required beside the other number of the line; set it"),
    "no accelerators": ({"spec/modelProfile/accelerators": []}, "spec/modelProfile/accelerators", "must have at least 1 item, found 0"),
    "no list": ({"spec/modelProfile/accelerators": profile()}, "spec/modelProfile/accelerators", "must be a list"),
    "no units": ({f"{ACC0}/accCount": 0}, f"{ACC0}/accCount", "must be at least 1, found 0"),
    "no requests": ({f"{ACC0}/maxBatchSize": -4}, f"{ACC0}/maxBatchSize", "must be at least 1, found -4"),
    "more than 64 bits": ({f"{ACC0}/accCount": 2**63}, f"{ACC0}/accCount", f"must be at most {2**63 - 1}"),
    "half a unit": ({f"{ACC0}/accCount": 0.5}, f"{ACC0}/accCount", "must be an integer, found 0.5"),
    "units in quotes": ({f"{ACC0}/accCount": "1"}, f"{ACC0}/accCount", "must be an integer"),
    "nameless accelerator": ({f"{ACC0}/acc": ""}, f"{ACC0}/acc", "must have at least 1 character"),
    "nameless model": ({"spec/modelID": ""}, "spec/modelID", "must have at least 1 character"),
    "no model": ({"spec/modelID": REMOVED}, "spec/modelID", "is required; set it"),
    "no class": ({"spec/sloClassRef": REMOVED}, "spec/sloClassRef", "is required by llm-d WVA c0f645c; set it"),
    "no key": ({"spec/sloClassRef/key": REMOVED}, "spec/sloClassRef/key", "is required; set it"),
    "empty key": ({"spec/sloClassRef/key": ""}, "spec/sloClassRef/key", "must have at least 1 character"),
    "empty name": ({"spec/sloClassRef/name": ""}, "spec/sloClassRef/name", "must have at least 1 character"),
    "no profile": ({"spec/modelProfile": REMOVED}, "spec/modelProfile", "is required by llm-d WVA c0f645c; set it"),
    "no spec": ({"spec": REMOVED}, "spec", "is required; set it"),
    "spec of null": ({"spec": None}, "spec", "is required; set it"),
    "wrong capitals": ({"spec/modelId": "a"}, "spec/modelId", "unknown field; did you mean 'modelID'?"),
    "capitals in the name": ({"metadata/name": "A100"}, "metadata/name", "must be a DNS-1123 subdomain"),
    "unknown in the status": ({"status/currentAlloc/loads": {}}, "status/currentAlloc/loads", "unknown field; did you mean 'load'?"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "path", "reason"), BAD.values(), ids=BAD)
def test_bad(changes: dict[str, Any], path: str, reason: str) -> None:
    (problem,) = problems_of(changed(DOCUMENTS[LEAST], changes), VARIANT)
    assert problem[0] == path
    assert reason in problem[1]


def test_a_writer_is_told_everything_at_once() -> None:
    changes = {
        "metadata/name": "A",
        "spec/modelID": "",
        "spec/sloClassRef/key": REMOVED,
        f"{ACC0}/acc": 1,
        f"{ACC0}/alpha": "1\n",
        f"{ACC0}/beta": 0.41,
        f"{ACC0}/maxBatchSize": 0,
        "status/applied": True,
    }
    assert {path for path, _ in problems_of(changed(DOCUMENTS[LEAST], changes), VARIANT)} == set(changes)


# -- status


@pytest.mark.parametrize("document", DOCUMENTS, ids=("least", "full"))
def test_what_the_controller_saw_is_kept(document: dict[str, Any]) -> None:
    """The plan may take the load from there; other kinds drop their status, as on creation."""
    resource, found = check(document, VARIANT)
    assert found == []
    assert resource is not None
    assert resource.wire() == document


STATUS_FAULTS: dict[str, Any] = {
    "accelerator": "",
    "numReplicas": -1,
    "maxBatch": 2**63,
    "variantCost": "-1",
    "itlAverage": "NaN",
    "waitAverage": "1\n",
    "load": {"arrivalRate": "1"},
}


@pytest.mark.parametrize(
    "changes",
    [
        *({f"{ALLOC}/{field}": value} for field, value in STATUS_FAULTS.items()),
        *({f"{ALLOC}/{field}": REMOVED} for field in STATUS_FAULTS),
        {f"{ALLOC}/load/avgLength": 1},
        {"status/desiredOptimizedAlloc/accelerator": "A"},
        {"status/desiredOptimizedAlloc/numReplicas": REMOVED},
        {"status/desiredOptimizedAlloc/lastRunTime": "yesterday"},
        {"status/actuation": {}},
    ],
    ids=lambda changes: " ".join(f"{path}={'' if value is REMOVED else value}" for path, value in changes.items()),
)
def test_a_wrong_status_is_none(changes: dict[str, Any]) -> None:
    """Nobody writes a status, and the API server drops it on creation, whatever its values are."""
    document = changed(DOCUMENTS[FULL], changes)
    resource, found = check(document, VARIANT)
    assert found == []
    assert isinstance(resource, VariantAutoscaling)
    assert resource.status is None


def test_each_part_of_a_status_may_be_alone() -> None:
    for part, value in STATUS.items():
        resource, _ = check({**DOCUMENTS[LEAST], "status": {part: value}}, VARIANT)
        assert resource is not None
        assert resource.wire()["status"] == {part: value}


def test_files_keep_it_too() -> None:
    text = "\n".join(
        (
            "apiVersion: llmd.ai/v1alpha1",
            "kind: VariantAutoscaling",
            "metadata: {name: a}",
            "spec: {modelID: m, sloClassRef: {name: a, key: b}, modelProfile: {accelerators: "
            "[{acc: A100, accCount: 1, alpha: '1', beta: '1', maxBatchSize: 2}]}}",
            "status: {currentAlloc: null, actuation: {applied: false}}",
        )
    )
    found = parse(text)
    assert found.problems == ()
    (loaded,) = found.resources
    assert loaded.resource.wire()["status"] == {"actuation": {"applied": False}}
