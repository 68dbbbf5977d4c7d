"""Releases of an API: which fields, values, rules and kinds each of them has."""

import copy
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import ValidationError

from components.contract.base import ApiModel, Int32, Json, Rule, Violation
from components.contract.checking import check
from components.contract.kinds import Kind, Kinds
from components.contract.load import LoadedResource, parse
from components.contract.meta import Resource
from components.contract.misfits import fitting_releases
from components.contract.releases import Release, Releases, Span, described
from components.contract.schema.crds import crd
from components.contract.schema.defaults import with_defaults
from components.contract.schema.jsonschema import json_schema

RELEASES = Releases("toys", "Toys", "v1", (Release("v1"), Release("v2", operator="0.2"), Release("v3")))


class Backend(ApiModel):
    """A part that two forms of the kind share."""

    name: str
    old: Annotated[Int32 | None, Span(until="v1", required=True)] = None
    new: Annotated[Int32 | None, Span(since="v2", minimum=3)] = None


def _not_one(spec: Json) -> Iterator[Violation]:
    if (spec.backends is None) == (spec.backend is None):
        yield (), "set exactly one of backends and backend"


def _mode_b(spec: Json) -> Iterator[Violation]:
    if spec.mode == "b":
        yield ("mode",), ", found 'b'"


class ToySpec(ApiModel):
    """Everything that any release has."""

    backends: Annotated[list[Backend] | None, Span(until="v1", required=True, minItems=1)] = None
    backend: Annotated[Backend | None, Span(since="v2", required=True)] = None
    mode: Annotated[Literal["a", "b"], Span(until="v1", enum=["a"]), Span(since="v2")] = "a"
    scheduler: Annotated[str | None, Span(until="v1"), Span(since="v2", default="volcano")] = None

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("one form: ", _not_one, ""),
        Rule("mode must not be b", _mode_b, "self.mode != 'b'", span=Span(since="v3")),
    )


class Toy(Resource):
    """A kind of several releases."""

    api_version: Literal["toys.dev/v1"]
    kind: Literal["Toy"]
    spec: ToySpec


TOY = Kind("toys.dev/v1", "Toy", Toy, "toys", namespaced=True, releases=RELEASES)
LATER = Kind("toys.dev/v1", "Toy", Toy, "toys", namespaced=True, releases=RELEASES, span=Span(since="v2"))

OLD = {"backends": [{"name": "x", "old": 1}]}
NEW = {"backend": {"name": "x", "new": 3}}


def toy(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "toys.dev/v1", "kind": "Toy", "metadata": {"name": "a"}, "spec": copy.deepcopy(spec)}


@pytest.mark.parametrize(
    ("release", "spec", "problems"),
    [
        ("", OLD, {}),
        ("", NEW, {}),
        ("", {**NEW, "mode": "b"}, {}),
        ("", {**OLD, **NEW}, {"spec": "set exactly one of backends and backend"}),
        ("v1", OLD, {}),
        ("v1", NEW, {"spec.backends": "is required by Toys v1", "spec.backend": "v2 to v3 have it"}),
        ("v1", {"backends": []}, {"spec.backends": "must have at least 1 item, found [] in Toys v1"}),
        ("v1", {"backends": [{"name": "x"}]}, {"spec.backends.0.old": "is required by Toys v1"}),
        ("v1", {**OLD, "mode": "b"}, {"spec.mode": 'must be one of "a", found "b" in Toys v1'}),
        ("v2", NEW, {}),
        ("v2", {**NEW, "mode": "b"}, {}),
        ("v2", {"backend": {"name": "x", "new": 2}}, {"spec.backend.new": "must be at least 3, found 2 in Toys v2"}),
        (
            "v2",
            {"backend": {"name": "x", "old": 1}},
            {"spec.backend.old": "v1 has it; choose one that has it (releases.toys,"},
        ),
        ("v3", {**NEW, "mode": "b"}, {"spec.mode": "must not be b, found 'b'"}),
        ("v3", {**NEW, "moed": "a"}, {"spec.moed": "unknown field; did you mean 'mode'?"}),
    ],
)
def test_an_object_is_checked_in_the_release_that_is_set(
    release: str, spec: dict[str, Any], problems: dict[str, str]
) -> None:
    _, found = check(toy(spec), TOY.at(release))
    reported = {".".join(map(str, path)): reason for path, reason in found}
    assert reported.keys() == problems.keys()
    for path, part in problems.items():
        assert part in reported[path]


@pytest.mark.parametrize(
    ("spec", "releases"), [(OLD, ["v1"]), (NEW, ["v2", "v3"]), ({"backend": {"name": "x", "old": 1}}, [])]
)
def test_releases_that_accept_all_fields(spec: dict[str, Any], releases: list[str]) -> None:
    resource, _ = check(toy(spec), TOY)
    assert resource is not None
    assert fitting_releases(resource, TOY) == releases


def test_a_kind_that_the_release_lacks() -> None:
    resource, problems = check(toy(OLD), LATER.at("v1"))
    assert resource is None
    assert problems == [
        (
            ("kind",),
            "Toys v1 has no kind Toy; v2 to v3 have it; choose one that has it (releases.toys, a component's "
            "argument release, or --release toys=RELEASE), or convert the manifests with 'workbench migrate'",
        )
    ]


@pytest.mark.parametrize(
    ("release", "fields", "required", "rules"),
    [
        ("", {"backends", "mode", "scheduler"}, ["backends"], 0),  # the contract's release
        ("v1", {"backends", "mode", "scheduler"}, ["backends"], 0),
        ("v2", {"backend", "mode", "scheduler"}, ["backend"], 0),
        ("v3", {"backend", "mode", "scheduler"}, ["backend"], 1),
    ],
)
def test_the_definition_of_a_release(release: str, fields: set[str], required: list[str], rules: int) -> None:
    schema = crd(TOY.at(release))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert schema["properties"].keys() == fields
    assert schema["required"] == required
    assert len(schema.get("x-kubernetes-validations", ())) == rules
    assert "x-span" not in str(schema)


def test_the_json_schema_without_a_release_has_all_fields() -> None:
    schema = json_schema(TOY)
    assert {"backends", "backend"} <= schema["$defs"]["ToySpec"]["properties"].keys()
    assert "x-span" not in str(schema)


@pytest.mark.parametrize(
    ("release", "spec", "scheduler"),
    [("", OLD, None), ("", NEW, "volcano"), ("v1", OLD, None), ("v3", NEW, "volcano")],
)
def test_defaults_are_those_of_the_release(release: str, spec: dict[str, Any], scheduler: str | None) -> None:
    manifests = parse(str(toy(spec)), Kinds([TOY.at(release)]))
    (loaded,) = manifests.resources
    assert with_defaults(loaded)["spec"].get("scheduler") == scheduler


def test_a_rule_of_some_releases_is_not_checked_in_a_part_without_a_kind() -> None:
    assert ToySpec.model_validate({**NEW, "mode": "b"}).mode == "b"
    with pytest.raises(ValidationError):
        ToySpec.model_validate({})


@pytest.mark.parametrize(
    ("names", "text"),
    [(["v1"], "v1"), (["v1", "v2"], "v1 to v2"), (["v1", "v3"], "v1 and v3"), (["v1", "v2", "v3"], "v1 to v3")],
)
def test_consecutive_releases_are_a_range(names: list[str], text: str) -> None:
    assert described(names, RELEASES) == text


def test_releases_from_one_to_another() -> None:
    assert RELEASES.between("v1", "v3") == ["v1", "v2", "v3"]
    assert RELEASES.between("v3", "v2") == ["v3", "v2"]
    assert RELEASES.find("v2").operator == "0.2"
    assert RELEASES.newest == "v3"
    with pytest.raises(KeyError):
        RELEASES.find("v4")


def test_loaded_resources_know_their_release() -> None:
    (loaded,) = parse(str(toy(NEW)), Kinds([TOY.at("v2")])).resources
    assert isinstance(loaded, LoadedResource)
    assert loaded.kind.release == "v2"
    assert loaded.kind == TOY
