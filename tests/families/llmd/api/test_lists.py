"""VariantAutoscalingList, which the contract has beside the kind and which an API server answers with."""

from typing import Any

import pytest
import yaml

from components.families import parse
from tests.families.llmd.api.samples import API, DOCUMENTS, LEAST
from tests.families.llmd.api.table import FIELDS, LIST


def listed(*items: Any, kind: str = LIST, **fields: Any) -> str:
    return yaml.safe_dump({"apiVersion": API, "kind": kind, "items": list(items), **fields})


def test_the_list_has_the_contracts_fields() -> None:
    assert {row["field"] for row in FIELDS[LIST] if row["required"] == "yes"} == {"apiVersion", "kind", "items"}
    found = parse(listed(*DOCUMENTS, metadata={"resourceVersion": "1", "continue": ""}))
    assert found.problems == ()
    assert [loaded.resource.wire() for loaded in found.resources] == list(DOCUMENTS)
    assert parse(listed(*DOCUMENTS)).problems == ()


def test_items_may_be_untyped() -> None:
    typed = DOCUMENTS[LEAST]
    untyped = {key: value for key, value in typed.items() if key not in ("apiVersion", "kind")}
    (loaded,) = parse(listed(untyped)).resources
    assert loaded.resource.wire() == typed


def test_problems_are_told_at_the_items() -> None:
    wrong = {**DOCUMENTS[LEAST], "spec": {**DOCUMENTS[LEAST]["spec"], "modelID": ""}}
    (problem,) = parse(listed(DOCUMENTS[LEAST], wrong)).problems
    assert (problem.kind, problem.name, problem.path) == ("VariantAutoscaling", "vllme-deployment", "spec.modelID")


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        (listed({"kind": "Model"}), "items[0]", "must be of kind VariantAutoscaling"),
        (listed(extra=1), "extra", "unknown field; a list has metadata and items"),
        (listed().replace("[]", "{}"), "items", "must be a list of objects"),
        (f"apiVersion: {API}\nkind: {LIST}", "items", "must be a list of objects"),
        (listed(kind="VariantAutoscalingsList"), "kind", "unknown kind"),
    ],
)
def test_what_is_no_list(text: str, path: str, reason: str) -> None:
    (problem,) = parse(text).problems
    assert problem.path == path
    assert reason in problem.reason
