"""Random documents of LLMKube's kinds, made from the contract's table: valid ones pass, wrong ones are named."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from components.contract.checking import check
from tests.families.llmkube.api.documents import FieldPath, inference_services, models
from tests.families.llmkube.api.samples import DOCUMENTS, Document, kind_of
from tests.families.llmkube.api.wrong import Wrong, bad_values, paths, with_value, wrong
from tests.tries import tries

many = settings(max_examples=tries(2000), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: f"{d['kind']}-{d['metadata']['name']}")
def test_documents_by_hand_are_good(document: Document) -> None:
    assert_good(document)


@many
@given(inference_services())
def test_random_inference_services_are_good(document: Document) -> None:
    assert_good(document)


@many
@given(models())
def test_random_models_are_good(document: Document) -> None:
    assert_good(document)


def assert_good(document: Document) -> None:
    """It passes, and nothing of it is lost."""
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    assert resource.wire() == document


@many
@given(wrong("InferenceService"))
def test_wrong_inference_services_are_refused_at_the_field(example: Wrong) -> None:
    assert_refused(example)


@many
@given(wrong("Model"))
def test_wrong_models_are_refused_at_the_field(example: Wrong) -> None:
    assert_refused(example)


def assert_refused(example: Wrong) -> None:
    resource, found = check(example.document, kind_of(example.document))
    assert resource is None
    assert [path for path, _ in found] == [example.path]


@pytest.mark.parametrize("kind", ["InferenceService", "Model"])
def test_each_bad_value_of_each_field_is_refused(kind: str) -> None:
    """Not at random: nothing in the table is left to luck."""
    for path, row in paths(f"{kind}.spec", ("spec",)):
        bad = bad_values(row)
        assert bad, path
        for below, value in bad:
            document = with_value(kind, path, value)
            resource, found = check(document, kind_of(document))
            assert resource is None, (path, value)
            assert [at for at, _ in found] == [(*path, *below)], (path, value)


def test_documents_by_hand_use_every_field() -> None:
    """So that what is tried on a real API server reaches each of them."""
    for kind in ("InferenceService", "Model"):
        written = [document for document in DOCUMENTS if document["kind"] == kind]
        for path, _ in paths(f"{kind}.spec", ("spec",)):
            assert any(has(document, path) for document in written), path


def has(value: Any, path: FieldPath) -> bool:
    """Tell whether a path is written, in any item of a list."""
    if not path:
        return True
    if isinstance(value, list):
        return any(has(item, path[1:]) for item in value)
    return path[0] in value and has(value[path[0]], path[1:])
