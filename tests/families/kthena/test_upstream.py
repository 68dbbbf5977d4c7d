"""Fields and values that later releases of Kthena have: each is refused with the release that brought it."""

from collections.abc import Iterator

import pytest

from components.contract.problems import path_parts
from components.contract.schema.narrowing import schema_graph
from components.families import kinds, parse
from components.families.kthena.kinds import MODEL_BOOSTER

UPSTREAM = MODEL_BOOSTER.upstream
LISTS = {"backends", "workers", "roles", "metrics", "params"}


def rows() -> Iterator[tuple[str, str, str]]:
    for kind, fields in UPSTREAM.fields.items():
        yield from ((kind, path, release) for path, release in fields.items())


def written(kind: str, path: str, value: str) -> str:
    """Return a document with a value at a path, lists through their first item."""
    for part in reversed(path.split(".")):
        value = f"{{{part}: {f'[{value}]' if part in LISTS and value != '{}' else value}}}"
    api_version = kinds().by_name(kind).api_version
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n{value[1:-1]}\n"


@pytest.mark.parametrize(("kind", "path", "release"), list(rows()))
def test_a_later_field_is_refused_with_its_release(kind: str, path: str, release: str) -> None:
    problems = parse(written(kind, path, "{}")).problems
    (reason,) = (p.reason for p in problems if p.path.replace("[0]", "") == path)
    assert reason == f"unknown field: Kthena 97b99f41 has no such field; {release} has; remove it"


@pytest.mark.parametrize(("kind", "path", "release"), list(rows()))
def test_the_table_holds_what_is_later_alone(kind: str, path: str, release: str) -> None:
    *parents, last = path_parts(path)
    place = tuple(step for part in parents for step in ((part, 0) if part in LISTS else (part,)))
    beside = schema_graph(kinds().by_name(kind)).fields_at(place)
    assert beside, "its parent is a field that is known"
    assert last not in beside
    assert release in ("v0.1.0", "v0.2.0", "v0.3.0", "v0.4.0", "v1.0.0")


@pytest.mark.parametrize(
    ("kind", "path", "release"),
    [  # charts/kthena/charts/*/crds of volcano-sh/kthena, the first tag with the field
        ("ModelBooster", "spec.backends.schedulerName", "v0.1.0"),
        ("ModelBooster", "spec.backend", "v0.2.0"),
        ("AutoscalingPolicyBinding", "spec.homogeneousTarget", "v0.2.0"),
        ("AutoscalingPolicyBinding", "spec.heterogeneousTarget", "v0.2.0"),
        ("ModelServing", "spec.plugins", "v0.3.0"),
        ("AutoscalingPolicy", "spec.disaggregatedTarget", "v1.0.0"),
    ],
)
def test_some_of_it(kind: str, path: str, release: str) -> None:
    assert UPSTREAM.fields[kind][path] == release


def test_a_later_value_is_refused_with_its_release() -> None:
    text = written("ModelServing", "spec.rolloutStrategy.type", "RoleRollingUpdate")
    (problem,) = (p for p in parse(text).problems if p.path == "spec.rolloutStrategy.type")
    found = "must be 'ServingGroupRollingUpdate', found \"RoleRollingUpdate\""
    assert problem.reason == f"{found}; Kthena 97b99f41 has no such value; v0.4.0 has"


def test_what_is_misspelt_is_none_of_a_later_release() -> None:
    text = written("ModelServing", "spec.rolloutStrategy.type", "RollingUpdate")
    (problem,) = (p for p in parse(text).problems if p.path == "spec.rolloutStrategy.type")
    assert problem.reason.endswith("did you mean 'ServingGroupRollingUpdate'?")
    (problem,) = (p for p in parse(written("ModelBooster", "spec.ownr", "x")).problems if p.path == "spec.ownr")
    assert problem.reason == "unknown field; did you mean 'owner'?"
