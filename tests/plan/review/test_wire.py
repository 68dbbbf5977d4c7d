"""Snapshots as JSON, to be read by older and newer versions."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.cases import CheaperType, Fit, MemoryCase, MemoryPart, MemoryVerdict, Parallel
from components.checks.memory.shapes import Layers, Shape
from components.plan.costs.bill import Amounts, Bill, CostItem, CostKind, UnitPrice
from components.plan.review.snapshot import RegisteredResource, ServedModel, Snapshot
from components.plan.review.wire import read, written
from tests.plan.review.revisions import deployment, finding, revision, workload

VERDICT = MemoryVerdict(
    Fit.TIGHT,
    "little is left",
    MemoryCase(
        Shape("m", layers=(Layers(32, 8, 128, 128),), expert_share=Decimal("0.9")), "L4", 1, share=Decimal("0.92")
    ),
    (MemoryPart("weights", 7),),
    types=(CheaperType("g6.2xlarge", 1, Parallel(2), Decimal("0.9776")),),
)
PRICE = UnitPrice(Decimal("0.10000000000000000001"), Decimal(1), Decimal(2), "somewhere")
BILL = Bill("r", "d", (CostItem("n", CostKind.NODES, Amounts(Decimal(1), Decimal(0), Decimal(2)), PRICE),))
FULL = revision(
    workload(deployment()),
    models=(ServedModel("K/n", "ml", "m", "f", (), (1, 1, 1), (0, 0, 0), ("g",), {"Deployment ml/chat": VERDICT}),),
    findings=(finding(),),
    endpoints={"a": {"url": None, "port": 80}},
    bill=BILL,
)


def test_what_is_read_is_what_was_written() -> None:
    assert read(written(FULL)) == FULL


def test_decimals_keep_all_their_digits() -> None:
    assert '"0.10000000000000000001"' in written(FULL).decode()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON), st.text(), st.text())
def test_whatever_users_write(inputs: dict[str, Any], title: str, note: str) -> None:
    snapshot = Snapshot("s", notes=(note,), resources=(RegisteredResource("u", "t", title, inputs),))
    assert read(written(snapshot)) == snapshot


def test_keys_of_newer_versions_are_passed_over() -> None:
    document = json.loads(written(FULL))
    for place in (document, document["models"][0], document["models"][0]["verdicts"]["Deployment ml/chat"]):
        place["later"] = {"a": 1}
    assert read(json.dumps(document)) == FULL


def test_what_older_versions_do_not_have_has_its_default() -> None:
    assert read('{"stack": "dev"}') == Snapshot("dev")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"stack": 1}', '{"stack": "a", "models": [{}]}', "null"])
def test_what_is_no_snapshot(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)
