"""Public names stay, and the schemas of files that others read have versions."""

import json
import re
from typing import Any

import jsonschema_rs
import pytest

from tests.stability.names import GOLDEN, ROOT, golden, gone, names

SCHEMAS = {
    "plan": "docs/plan.schema.json",
    "inspect": "docs/inspect.schema.json",
    "settings": "stacks/settings.schema.json",
    "prices": "stacks/prices.schema.json",
}


def test_no_public_name_is_gone() -> None:
    """After a rename: keep the old name as an alias, or break it in CHANGELOG.md; then remove its line by hand."""
    assert gone(golden(), names()) == []


def test_new_names_are_in_the_list() -> None:
    assert gone(names(), golden()) == [], "run make stable-names"


def test_the_list_is_sorted_and_of_every_kind() -> None:
    lines = GOLDEN.read_text().splitlines()
    assert lines == sorted(set(lines))
    kinds = {line.partition(" ")[0] for line in lines}
    assert kinds == {"component", "argument", "output", "setting", "command", "option", "finding"}


def test_a_name_that_is_gone_is_found() -> None:
    assert gone(["finding a", "finding b"], ["finding b", "finding c"]) == ["finding a"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_has_an_id_with_its_version(name: str) -> None:
    schema: dict[str, Any] = json.loads((ROOT / SCHEMAS[name]).read_text())
    assert re.fullmatch(rf"urn:inference-platform:schema:{name}:0\.\d+", schema["$id"])
    jsonschema_rs.validator_for(schema)
    page = (ROOT / "docs/stability.md").read_text()
    assert f"`{schema['$id']}`" in page


def test_an_id_does_not_hide_references() -> None:
    """References into a schema with an id are still those of the file."""
    schema = json.loads((ROOT / SCHEMAS["prices"]).read_text())
    assert not jsonschema_rs.is_valid(
        schema, {"regions": {"us-east-1": {"instances": {"g5.xlarge": {"onDemand": "x"}}}}}
    )
