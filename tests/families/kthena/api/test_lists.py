"""Lists of one kind, which the contract has beside its kinds and which an API server answers with."""

from typing import Any

import pytest
import yaml

from components.families import parse
from tests.families.kthena.api.samples import DOCUMENTS, LEAST, NETWORKING, POLICY, SERVING, WORKLOAD
from tests.families.kthena.api.table import CONTRACT, KINDS


def listed(kind: str, *items: Any, **fields: Any) -> str:
    api_version = NETWORKING if kind in ("ModelServerList", "ModelRouteList") else WORKLOAD
    return yaml.safe_dump({"apiVersion": api_version, "kind": kind, "items": list(items), **fields})


def test_the_contracts_lists_are_those_of_kinds() -> None:
    lists = {row["type"] for row in CONTRACT if row["type"].endswith("List")}
    assert lists == {f"{kind}List" for kind in KINDS[:4]}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_list(kind: str) -> None:
    documents = [document for document in DOCUMENTS if document["kind"] == kind]
    found = parse(listed(f"{kind}List", *documents, metadata={"resourceVersion": "1", "continue": ""}))
    assert found.problems == ()
    assert [loaded.resource.wire() for loaded in found.resources] == documents
    assert found.count == len(documents)


def test_items_may_be_untyped() -> None:
    typed = DOCUMENTS[LEAST]
    untyped = {key: value for key, value in typed.items() if key not in ("apiVersion", "kind")}
    (loaded,) = parse(listed("ModelServingList", untyped)).resources
    assert loaded.resource.wire() == typed


def test_problems_are_told_at_the_items() -> None:
    wrong = {**DOCUMENTS[LEAST], "spec": {**DOCUMENTS[LEAST]["spec"], "replicas": -1}}
    (problem,) = parse(listed("ModelServingList", DOCUMENTS[SERVING], wrong)).problems
    assert (problem.kind, problem.name, problem.path) == ("ModelServing", "least", "spec.replicas")


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        (listed("ModelServingList", DOCUMENTS[POLICY]), "items[0]", "must be of kind ModelServing"),
        (listed("ModelServingList", extra=1), "extra", "unknown field; a list has metadata and items"),
        (listed("ModelServingList").replace("[]", "{}"), "items", "must be a list of objects"),
        (f"apiVersion: {WORKLOAD}\nkind: ModelServingList", "items", "must be a list of objects"),
        (listed("ModelServingList", "a"), "", "must be a map"),
        (listed("ModelServingsList"), "kind", "unknown kind"),
    ],
)
def test_what_is_no_list(text: str, path: str, reason: str) -> None:
    (problem,) = parse(text).problems
    assert problem.path == path
    assert reason in problem.reason
