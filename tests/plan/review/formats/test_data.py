"""The report for other programs."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.plan.review.formats.hostile import hostile
from tests.plan.review.formats.samples import ALONE, NOTHING, SOUND, WHOLE
from workbench.planning.formats.data import as_json, schema

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/plan.schema.json"
REVIEWS = {"whole": WHOLE, "nothing": NOTHING, "alone": ALONE, "hostile": hostile("\ud800\n")}


def test_the_schema_is_the_one_that_is_published() -> None:
    """``python -m tests.plan.review.formats.test_data`` writes it; a removed or renamed key needs a new version."""
    assert PAGE.read_text(encoding="utf-8") == published()


@pytest.mark.parametrize("name", REVIEWS)
def test_every_document_keeps_to_the_schema(name: str) -> None:
    found = json.loads(as_json(REVIEWS[name]))
    text = json.dumps(found).replace("\\ud800", "x")  # the validator reads no halves of characters
    jsonschema_rs.validate(schema(), json.loads(text))


def test_the_schema_refuses_other_documents() -> None:
    found = json.loads(as_json(WHOLE))
    del found["review"]["head"]["models"]
    assert not jsonschema_rs.is_valid(schema(), found)
    assert not jsonschema_rs.is_valid(schema(), {**json.loads(as_json(WHOLE)), "schemaVersion": 2})


def test_what_programs_ask_first_is_on_top() -> None:
    found = json.loads(as_json(SOUND))
    assert {key: found[key] for key in ("schemaVersion", "stack", "changesNothing", "passes", "monthlyUsd")} == {
        "schemaVersion": 1,
        "stack": "dev",
        "changesNothing": False,
        "passes": True,
        "monthlyUsd": {
            "before": {"now": "1460.00", "least": "730.00", "most": "1460.00"},
            "after": {"now": "2920.00", "least": "730.00", "most": "4380.00"},
        },
    }
    # With errors, no total is known.
    found = json.loads(as_json(WHOLE))
    assert (found["passes"], found["monthlyUsd"]) == (False, {"before": None, "after": None})
    assert json.loads(as_json(NOTHING))["changesNothing"] is True
    assert json.loads(as_json(ALONE))["monthlyUsd"]["before"] is None


def leaves(value: Any) -> int:
    """Count what a review holds, field by field."""
    if is_dataclass(value):
        return sum(leaves(getattr(value, each.name)) for each in fields(value)) or 1
    if isinstance(value, dict):
        return sum(map(leaves, value.values())) if value else 1
    if isinstance(value, list | tuple):
        return sum(map(leaves, value)) if value else 1
    return 1


def test_nothing_is_left_out() -> None:
    assert leaves(json.loads(as_json(WHOLE))["review"]) == leaves(WHOLE)


def test_the_same_review_is_the_same_text() -> None:
    assert as_json(WHOLE) == as_json(WHOLE)
    assert as_json(WHOLE).isascii()


def published() -> str:
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    PAGE.write_text(published(), encoding="utf-8")
