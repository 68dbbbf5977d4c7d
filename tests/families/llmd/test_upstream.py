"""Fields that later releases of llm-d's autoscaler have: each is refused with the release that brought it."""

import pytest

from components.contract.problems import path_parts
from components.contract.schema.narrowing import schema_graph
from components.families import parse
from tests.families.llmd.api.samples import API, VARIANT
from tests.families.llmd.api.table import KIND

UPSTREAM = VARIANT.upstream
FIELDS = UPSTREAM.fields[KIND]
LISTS = {"accelerators"}


def written(path: str) -> str:
    """Return a document with an empty map at a path, lists through their first item."""
    value = "{}"
    for part in reversed(path.split(".")):
        value = f"{{{part}: {f'[{value}]' if part in LISTS else value}}}"
    return f"apiVersion: {API}\nkind: {KIND}\nmetadata: {{name: x}}\n{value[1:-1]}\n"


@pytest.mark.parametrize("path", FIELDS)
def test_a_later_field_is_refused_with_its_release(path: str) -> None:
    found = [problem for problem in parse(written(path)).problems if problem.path.replace("[0]", "") == path]
    assert [problem.reason for problem in found] == [
        f"unknown field: llm-d WVA c0f645c has no such field; {FIELDS[path]} has; remove it"
    ]


@pytest.mark.parametrize("path", FIELDS)
def test_the_table_holds_what_is_later_alone(path: str) -> None:
    *parents, last = path_parts(path)
    place = tuple(step for part in parents for step in ((part, 0) if part in LISTS else (part,)))
    beside = schema_graph(VARIANT).fields_at(place)
    assert beside, "its parent is a field that is known"
    assert last not in beside


def test_the_releases() -> None:
    """WVA spec 13, and config/crd/bases of llm-d/llm-d-workload-variant-autoscaler: the first tag with the field."""
    assert FIELDS == {
        "spec.modelProfile.accelerators.perfParms": "v0.0.1",
        "status.currentAlloc.load.avgInputTokens": "v0.0.1",
        "status.currentAlloc.load.avgOutputTokens": "v0.0.1",
        "status.currentAlloc.ttftAverage": "v0.0.1",
        "status.conditions": "v0.0.2",
        "spec.variantCost": "v0.0.5",
        "spec.scaleTargetRef": "v0.5.0",
    }


def test_a_manifest_of_a_later_release_is_told_all_of_it() -> None:
    """As v0.0.2 has them: what is missing here is told beside what is new there."""
    text = f"""
apiVersion: {API}
kind: {KIND}
metadata: {{name: x}}
spec:
  modelID: m
  sloClassRef: {{name: a, key: b}}
  modelProfile:
    accelerators:
      - acc: A100
        accCount: 1
        perfParms: {{decodeParms: {{alpha: "20.28", beta: "0.72"}}, prefillParms: {{gamma: "0", delta: "0"}}}}
        maxBatchSize: 4
"""
    found = {problem.path.rpartition(".")[2]: problem.reason for problem in parse(text).problems}
    assert set(found) == {"alpha", "beta", "perfParms"}
    assert found["alpha"] == found["beta"] == "is required; set it"
    assert "v0.0.1 has" in found["perfParms"]


def test_what_is_misspelt_is_none_of_a_later_release() -> None:
    (problem,) = (p for p in parse(written("spec.scaleTargetRefs")).problems if p.path == "spec.scaleTargetRefs")
    assert problem.reason.startswith("unknown field; known fields: ")
