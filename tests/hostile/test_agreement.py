"""All ways in agree: on samples with random changes, each reports the same problems, at the same lines.

``explain`` shows a warning at the field that it is about, so that only its errors are compared.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pulumi
import pytest
import yaml
from hypothesis import given

from components.families import parse
from components.resources.serving.model_fleet import ModelFleet
from tests.hostile import mutations
from tests.hostile.runs import MODELS, checked, project, write
from tests.hostile.test_fuzz import SEEDS, runs
from tests.recorded import deploy

Problems = frozenset[tuple[str, str]]
"""Severity and line of each."""
_PLACED = re.compile(rf"{MODELS}:[0-9]+: ")


def told(text: str) -> Problems:
    """Problems as a command prints them."""
    found = set()
    for line in text.splitlines():
        bare = line.removeprefix("warning: ").removesuffix(" (warning)")
        plain = bare.removeprefix("info: ").removesuffix(" (note)")
        if _PLACED.match(plain):
            found.add(("error" if plain == line else "note" if plain != bare else "warning", plain))
    return frozenset(found)


def errors(problems: Problems) -> Problems:
    return frozenset(problem for problem in problems if problem[0] == "error")


def by_fleet(**args: object) -> Problems:
    """Errors of a fleet in a program of somebody's own."""

    def program() -> None:
        ModelFleet("fleet", {**args, "namespace": "default"})  # type: ignore[typeddict-item]

    try:
        deploy(program)
    except pulumi.RunError as error:
        return told(str(error))
    return frozenset()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("agreement")
    project(made)
    (made / ".workbench").mkdir()
    (made / ".workbench/kubeconfig").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


def differences(text: str, folder: Path) -> dict[str, Problems]:
    """Return the ways that differ from ``validate``, and in what."""
    write(folder / MODELS, text)
    validated = told(checked("validate", MODELS, "--stack", "none").stdout)
    of_stack = told(checked("validate", MODELS, "--stack", "local").stdout)
    preview = checked("preview", "--engine", "local", "--offline", "--output", "json")
    compared = {
        "render": (told(checked("render", MODELS, "--stack", "none").stderr), validated),
        "render --stack": (told(checked("render", MODELS, "--stack", "local").stderr), of_stack),
        "preview": (told(preview.stderr), of_stack),
        "fleet of files": (by_fleet(files=[MODELS]), errors(validated)),
        **{f"explain {name}": (told(text), errors(validated)) for name, text in explained(text)},
    }
    return {way: found ^ expected for way, (found, expected) in compared.items() if found != expected}


def explained(text: str) -> Iterator[tuple[str, str]]:
    """Explain one resource, or one that is not there: the problems come first."""
    names = [loaded.title for loaded in parse(text).resources] or ["Playground/none"]
    yield names[0], checked("explain", names[0], MODELS, "--stack", "none").stderr


@given(seed=SEEDS)
@runs(0.05)
def test_every_way_in_reports_the_same(seed: int, folder: Path) -> None:
    assert differences(mutations.manifests(Random(seed)), folder) == {}


def test_what_differs_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = mutations.samples()[0]
    wrong = [{**document, "spec": {**document["spec"], "wrong": 1}} for document in sample]
    text = yaml.safe_dump_all(wrong)
    assert differences(text, folder) == {}
    assert told(checked("validate", MODELS).stdout)
    monkeypatch.setattr("workbench.rendering._report", lambda _: None)
    assert set(differences(text, folder)) == {"render", "render --stack"}
