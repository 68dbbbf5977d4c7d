"""Which stacks a change touches, in real repositories."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ci.errors import PipelineError
from ci.repository import Repository
from ci.touched import Touched, stack_name, touched
from tests.workflows.projects import FILES, project_at

CHANGES: dict[str, tuple[Mapping[str, str | None], set[str]]] = {
    "settings of one": ({"Pulumi.dev.yaml": FILES["Pulumi.dev.yaml"] + "  fleet:a: b\n"}, {"dev"}),
    "a model that one names": ({"models/dev.yaml": "kind: C\n"}, {"dev"}),
    "a model in a folder that is the project's default": ({"models/shared/new.yaml": "kind: C\n"}, {"prod"}),
    "a model that is deleted": ({"models/shared/chat.yaml": None}, {"prod"}),
    "a model that moves from one to the other": (
        {"models/dev.yaml": None, "models/shared/dev.yaml": FILES["models/dev.yaml"]},
        {"dev", "prod"},
    ),
    "a model that nobody names": ({"models/spare.yaml": "kind: C\n"}, {"dev", "prod"}),
    "the program": ({"__main__.py": "print('another')\n"}, {"dev", "prod"}),
    "code that is new": ({"components/new.py": ""}, {"dev", "prod"}),
    "the project": ({"Pulumi.yaml": FILES["Pulumi.yaml"] + "description: x\n"}, {"dev", "prod"}),
    "pages": ({"README.md": "# Another\n", "docs/page.md": "else\n", "components/a.md": ""}, set()),
    "tests and workflows": ({"tests/test_a.py": "", ".github/workflows/a.yml": "", "ci/a.py": ""}, set()),
    "nothing": ({}, set()),
    "a stack that is new": ({"Pulumi.test.yaml": "config: {}\n"}, {"test"}),
    "a stack that goes": ({"Pulumi.prod.yaml": None}, set()),
    "a file whose name is hostile": ({"models/shared/$(touch x); \"'\n|`.yaml": "kind: C\n"}, {"prod"}),
    "settings that are no YAML": ({"Pulumi.dev.yaml": "config: [\n"}, {"dev"}),
    "settings that are a list": ({"Pulumi.dev.yaml": "- a\n"}, {"dev"}),
    "settings with everything": (
        {"Pulumi.dev.yaml": "config:\n  fleet:shapes: {a: {config: shapes/a.json}}\n  fleet:n: 3\n"},
        {"dev"},
    ),
}


def find(folder: Path, base: str = "main") -> Touched:
    repository = Repository(folder)
    return touched(repository, repository.fork_point(base))


@pytest.mark.parametrize("below", ["", "infra/models"], ids=["root", "subfolder"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_a_change_touches(tmp_path: Path, change: str, below: str) -> None:
    changes, expected = CHANGES[change]
    project = project_at(tmp_path, below)
    project.commit(changes)
    assert set(find(project.folder).stacks) == expected


def test_the_reason_is_the_file(tmp_path: Path) -> None:
    project = project_at(tmp_path)
    project.commit({"models/dev.yaml": "kind: C\n", "models/shared/chat.yaml": "kind: C\n"})
    assert find(project.folder).stacks == {"dev": "models/dev.yaml", "prod": "models/shared/chat.yaml"}


def test_new_and_removed_stacks_are_told_apart(tmp_path: Path) -> None:
    project = project_at(tmp_path)
    project.commit({"Pulumi.test.yaml": "config: {}\n", "Pulumi.prod.yaml": None, "__main__.py": ""})
    found = find(project.folder)
    assert (found.new, found.removed) == (("test",), ("prod",))
    assert set(found.stacks) == {"dev", "test"}


def test_a_path_that_settings_came_to_name_counts(tmp_path: Path) -> None:
    """Shapes of models, prices: whatever a setting names, of either side."""
    files = {**FILES, "Pulumi.dev.yaml": "config:\n  fleet:shapes: {a: {config: data/a.json}}\n", "data/a.json": "{}"}
    project = project_at(tmp_path, files=files)
    project.commit({"data/a.json": "{'b': 1}"})
    assert set(find(project.folder).stacks) == {"dev"}


def test_what_the_base_alone_has_is_no_change(tmp_path: Path) -> None:
    project = project_at(tmp_path)
    project.commit({"models/dev.yaml": "kind: C\n"})
    project.git("checkout", "--quiet", "main")
    project.commit({"__main__.py": "print('main goes on')\n"})
    project.git("checkout", "--quiet", "change")
    assert set(find(project.folder).stacks) == {"dev"}


def test_other_projects_of_the_repository_touch_nothing(tmp_path: Path) -> None:
    project = project_at(tmp_path, "infra")
    (tmp_path / "app.py").write_text("print('hello')\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    project.commit({})
    assert find(project.folder).stacks == {}


def test_models_beside_the_project_count(tmp_path: Path) -> None:
    files = {**FILES, "Pulumi.dev.yaml": "config:\n  fleet:models: [../models]\n"}
    project = project_at(tmp_path, "infra", files)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.yaml").write_text("kind: A\n")
    project.commit({})
    assert set(find(project.folder).stacks) == {"dev"}


HOSTILE = ["-rf", "--upload-pack=touch x", "$(touch x)", "a;touch x", "a|b", "`touch x`", "a'\"b", "a b"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_of_a_branch_is_a_name(tmp_path: Path, name: str) -> None:
    """git allows most of these as names of branches; the rest it does not know, and is told so."""
    project = project_at(tmp_path)
    project.commit({"models/dev.yaml": "kind: C\n"})
    try:
        project.git("update-ref", f"refs/heads/{name}", "main")
        exists = True
    except AssertionError:
        exists = False
    if exists:
        assert set(find(project.folder, name).stacks) == {"dev"}
    else:
        with pytest.raises(PipelineError, match="git knows no commit"):
            find(project.folder, name)
    assert not (tmp_path / "x").exists()
    assert project.git("status", "--porcelain") == ""


def test_a_history_that_is_cut_says_what_to_do(tmp_path: Path) -> None:
    project = project_at(tmp_path / "a")
    project.git("checkout", "--quiet", "--orphan", "other")
    project.commit({})
    with pytest.raises(PipelineError, match="fetch-depth: 0"):
        find(project.folder)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "a" * 101, "é", "a\n", None, 3])
def test_what_is_no_stack(name: object) -> None:
    with pytest.raises(PipelineError, match="not the name of a stack"):
        stack_name(name)
