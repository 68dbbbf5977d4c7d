"""The schema binds: Pulumi's rules (tests/registry/binding.py), each tried on a schema that breaks it."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from components.resources.plugin import NAME, SCHEMA
from tests.layers.modules import ROOT
from tests.registry.binding import faults
from tests.registry.schema import PAGE, page

GOLDEN: dict[str, Any] = json.loads(SCHEMA.read_text())
GOOD: dict[str, Any] = {
    "name": "toy",
    "version": "1.0.0",
    "namespace": "acme",
    "resources": {
        "toy:index:Part": {
            "isComponent": True,
            "inputProperties": {
                "inner": {"$ref": "#/types/toy:index:Inner", "plain": True},
                "any": {"$ref": "pulumi.json#/Any"},
            },
            "requiredInputs": ["inner"],
            "properties": {"names": {"type": "array", "items": {"type": "string"}}},
        }
    },
    "types": {"toy:index:Inner": {"type": "object", "properties": {"deep": {"$ref": "#/types/toy:index:Inner"}}}},
}  # fmt: skip
Edit = Callable[[dict[str, Any]], object]


def put(*path: str, value: Any) -> Edit:
    def edit(schema: dict[str, Any]) -> None:
        for key in path[:-1]:
            schema = schema[key]
        schema[path[-1]] = value

    return edit


PART = ("resources", "toy:index:Part")
INPUT = (*PART, "inputProperties", "x")
BROKEN: dict[str, tuple[Edit, str]] = {
    "no name": (put("name", value=""), "#/name: invalid package name ''"),
    "a reserved name": (put("name", value="pulumi"), "#/name: invalid package name 'pulumi'"),
    "a bad version": (put("version", value="1.0"), "#/version: must be a semantic version"),
    "a bad namespace": (put("namespace", value="Acme"), "#/namespace: invalid namespace 'Acme'"),
    "an unknown key": (put("icon", value="x"), "#: icon is not supported here"),
    "functions": (put("functions", value={"toy:index:f": {}}), "#/functions: functions are not checked"),
    "two parts": (put("resources", "toy:Part", value={"isComponent": True}), "#/resources/toy:Part: invalid token"),
    "a digit first": (put("types", "toy:index:1", value={"type": "object"}), "#/types/toy:index:1: invalid token"),
    "another package": (put("types", "other:index:T", value={"type": "object"}), "/other:index:T: must have"),
    "a provider": (put("resources", "toy:index:Provider", value={"isComponent": True}),
                   "#/resources/toy:index:Provider: provider is a reserved word"),
    "below index": (put("types", "toy:index/a:T", value={"type": "object"}),
                    "#/types/toy:index/a:T: nested modules under index"),
    "a reserved type": (put("types", "toy:index:pulumi", value={"type": "object"}),
                        "#/types/toy:index:pulumi: pulumi is a reserved name"),
    "case alone": (put("resources", "toy:index:part", value={"isComponent": True}),
                   "#/resources/toy:index:part: differs from toy:index:Part only in case"),
    "no component": (put(*PART, "isComponent", value=False), "#/resources/toy:index:Part: is no component"),
    "an unknown key of a resource": (put(*PART, "methods", value={}), "#/resources/toy:index:Part: methods is not"),
    "a reserved output": (put(*PART, "properties", "urn", value={"type": "string"}),
                          "#/resources/toy:index:Part/properties/urn: urn is a reserved"),
    "a reserved argument": (put(*PART, "inputProperties", "pulumi", value={"type": "string"}),
                            "#/resources/toy:index:Part/inputProperties/pulumi: pulumi is a reserved"),
    "a space": (put(*PART, "inputProperties", "a b", value={"type": "string"}),
                "#/resources/toy:index:Part/inputProperties/a b: must contain only printable"),
    "required and unknown": (put(*PART, "requiredInputs", value=["y"]),
                             "#/resources/toy:index:Part/requiredInputs: unknown required property 'y'"),
    "an unknown type": (put(*INPUT, value={"type": "float"}), "/x/type: unknown type kind 'float'"),
    "no type": (put(*INPUT, value={}), "/x/type: unknown type kind None"),
    "a list of nothing": (put(*INPUT, value={"type": "array"}), '/x: missing "items" property'),
    "a bad element": (put(*INPUT, value={"type": "array", "items": {"type": "null"}}), "/x/items/type: unknown type"),
    "a bad value": (put(*INPUT, value={"type": "object", "additionalProperties": {"type": "x"}}),
                    "/x/additionalProperties/type: unknown type"),
    "a string with items": (put(*INPUT, value={"type": "string", "items": {"type": "string"}}), "string cannot have"),
    "a union": (put(*INPUT, value={"oneOf": [{"type": "string"}]}), "oneOf is not supported here"),
    "a constant": (put(*INPUT, value={"type": "string", "const": "a"}), "const is not supported here"),
    "a dangling reference": (put(*INPUT, value={"$ref": "#/types/toy:index:Out"}), "type toy:index:Out not found"),
    "a reference elsewhere": (put(*INPUT, value={"$ref": "/aws/v7.0.0/schema.json#/types/a:b:C"}),
                              "/x: invalid type reference"),
    "a reference with items": (put(*INPUT, value={"$ref": "pulumi.json#/Any", "items": {"type": "string"}}),
                               "/x: a reference cannot have items"),
    "an enum": (put("types", "toy:index:E", value={"type": "string"}), "#/types/toy:index:E: type must be object"),
    "a cycle": (put("types", "toy:index:Inner", "required", value=["deep"]),
                "#/types/toy:index:Inner: has an unsatisfiable cycle"),
}  # fmt: skip


def test_the_schema_binds() -> None:
    assert len(GOLDEN["resources"]) > 50
    assert [*faults(GOLDEN)] == []


def test_a_small_schema_binds() -> None:
    assert [*faults(GOOD)] == []


@pytest.mark.parametrize("case", BROKEN)
def test_a_schema_that_breaks_a_rule_is_found(case: str) -> None:
    edit, fault = BROKEN[case]
    broken = copy.deepcopy(GOOD)
    edit(broken)
    assert [each for each in faults(broken) if fault in each], [*faults(broken)]


def test_the_registry_can_publish_it() -> None:
    """What tools/resourcedocsgen of pulumi/registry refuses: writePackageMetadata in cmd/metadata.go."""
    assert GOLDEN["publisher"]
    assert GOLDEN["displayName"]
    assert GOLDEN["description"]
    assert "category/infrastructure" in GOLDEN["keywords"]
    assert "kind/component" in GOLDEN["keywords"]
    assert GOLDEN["logoUrl"].endswith("/docs/logo.svg")
    assert (ROOT / "docs/logo.svg").is_file()


@pytest.mark.parametrize("page", ["_index.md", "installation-configuration.md"])
def test_the_registry_takes_the_pages(page: str) -> None:
    """They start with front matter, and have no link that its site cannot resolve (its doc_lint.py)."""
    text = (ROOT / "docs" / page).read_text()
    assert text.startswith("---\n")
    front = yaml.safe_load(text.split("---\n")[1])
    assert front.keys() == {"title", "meta_desc", "layout"}
    assert front["layout"] == "package"
    assert "](." not in text
    assert "](/" not in text
    assert ".md)" not in text.replace("https://github.com", "")


def test_the_page_has_the_example_of_the_schema() -> None:
    text = PAGE.read_text()
    assert text == page(text, GOLDEN)
    assert text.count("{{% choosable language ") == text.count("{{% /choosable %}}") == 6
    assert page(text.replace("modelId:", "modelID:"), GOLDEN) == text


def test_addresses_are_of_one_repository() -> None:
    repository: str = GOLDEN["repository"]
    owner = repository.removeprefix("https://github.com/")
    assert GOLDEN["pluginDownloadURL"] == f"github://api.github.com/{owner}"
    assert GOLDEN["logoUrl"].startswith(f"https://raw.githubusercontent.com/{owner}/")
    assert GOLDEN["language"]["go"]["importBasePath"].startswith(f"github.com/{owner}/")
    assert owner.endswith(f"/{NAME}")
