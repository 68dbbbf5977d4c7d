"""Fields that later releases of LLMKube have: each is refused with the release that brought it."""

from collections.abc import Iterator

import pytest

from components.contract.problems import path_parts
from components.contract.schema.narrowing import schema_graph
from components.families import parse
from components.families.llmkube.family import INFERENCE_SERVICE, MODEL

KINDS = {kind.kind: kind for kind in (INFERENCE_SERVICE, MODEL)}
UPSTREAM = MODEL.upstream


def rows() -> Iterator[tuple[str, str, str]]:
    for kind, fields in UPSTREAM.fields.items():
        yield from ((kind, path, release) for path, release in fields.items())


def version(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.removeprefix("v").split(".")))


@pytest.mark.parametrize(("kind", "path", "release"), list(rows()))
def test_a_later_field_is_refused_with_its_release(kind: str, path: str, release: str) -> None:
    *parents, last = path.split(".")
    value = "{" + f"{last}: {{}}" + "}"
    for parent in reversed(parents):
        value = f"{{{parent}: {value}}}"
    text = f"apiVersion: inference.llmkube.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: x}}\n{value[1:-1]}\n"
    (reason,) = (problem.reason for problem in parse(text).problems if problem.path == path)
    assert reason == f"unknown field: LLMKube v0.8.7 has no such field; {release} has; remove it"


@pytest.mark.parametrize(("kind", "path", "release"), list(rows()))
def test_the_table_holds_what_is_later_alone(kind: str, path: str, release: str) -> None:
    schema = schema_graph(KINDS[kind])
    *parents, last = path_parts(path)
    beside = schema.fields_at(tuple(parents))
    assert beside, "its parent is a field that is known"
    assert last not in beside
    assert version(release) > version(UPSTREAM.release.removeprefix("LLMKube "))


@pytest.mark.parametrize(
    ("kind", "path", "release"),
    [  # config/crd/bases of defilantech/LLMKube, the first tag with the field
        ("InferenceService", "spec.endpoint.gateway", "v0.8.8"),
        ("InferenceService", "spec.sglangConfig", "v0.9.4"),
        ("InferenceService", "spec.suspend", "v0.9.11"),
        ("Model", "spec.mmproj", "v0.8.18"),
    ],
)
def test_some_of_it(kind: str, path: str, release: str) -> None:
    assert UPSTREAM.fields[kind][path] == release


def test_a_misspelt_field_is_none_of_a_later_release() -> None:
    text = (
        "apiVersion: inference.llmkube.dev/v1alpha1\nkind: Model\nmetadata: {name: x}\nspec: {source: a/b, frmat: c}"
    )
    (problem,) = parse(text).problems
    assert problem.reason == "unknown field; did you mean 'format'?"
