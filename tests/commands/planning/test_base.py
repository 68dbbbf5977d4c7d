"""``workbench plan --base``: the other revision comes out of git, and nothing of the repository is written to."""

from pathlib import Path

import pytest

from tests.commands.planning.repositories import (
    commit,
    fingerprint,
    git,
    plan,
    repository,
    write_model,
    write_project,
)

MANIFEST = Path("models/chat.yaml")
SAME = "nothing changes"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


def test_nothing_changes_against_the_commit_itself(project: Path) -> None:
    done = plan(project, "--base", "HEAD")
    assert (done.returncode, done.stderr) == (0, "")
    assert SAME in done.stdout


def test_what_is_not_committed_is_compared(project: Path) -> None:
    write_model(project / MANIFEST, replicas=3)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "spec.replicas: 1 → 3" in done.stdout


def test_a_comment_changes_nothing(project: Path) -> None:
    text = (project / MANIFEST).read_text()
    (project / MANIFEST).write_text(f"# a comment\n\n{text}")
    assert SAME in plan(project, "--base", "HEAD").stdout


def test_the_repository_stays_as_it_is(project: Path) -> None:
    """Also with changes in the work tree, in the index, and files that git does not know."""
    write_model(project / MANIFEST, replicas=2)
    write_model(project / "models" / "staged.yaml", "staged")
    git(project, "add", "models/staged.yaml")
    write_model(project / "models" / "untracked.yaml", "untracked")
    before = fingerprint(project)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "Deployment models/untracked" in done.stdout
    assert fingerprint(project) == before


def test_only_what_the_branch_changes_is_shown(project: Path) -> None:
    """What others committed to main meanwhile is not this change's."""
    git(project, "switch", "--quiet", "--create", "mine")
    write_model(project / MANIFEST, replicas=3)
    commit(project)
    git(project, "switch", "--quiet", "main")
    write_model(project / "models" / "others.yaml", "others")
    commit(project)
    git(project, "switch", "--quiet", "mine")
    done = plan(project, "--base", "main")
    assert "spec.replicas: 1 → 3" in done.stdout
    assert "others" not in done.stdout


@pytest.mark.parametrize("ref", ["HEAD~1", "v1", "abbreviated"])
def test_all_names_of_commits(project: Path, ref: str) -> None:
    first = git(project, "rev-parse", "HEAD")
    git(project, "tag", "-a", "-m", "x", "v1")
    write_model(project / MANIFEST, replicas=3)
    commit(project)
    done = plan(project, "--base", first[:8] if ref == "abbreviated" else ref)
    assert "spec.replicas: 1 → 3" in done.stdout


@pytest.mark.parametrize("ref", ["nope", "", "--help", "HEAD:models", "HEAD\nHEAD", "'; echo x"])
def test_a_ref_that_names_no_commit(project: Path, ref: str) -> None:
    done = plan(project, f"--base={ref}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a commit in" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_repository(tmp_path: Path) -> None:
    done = plan(write_project(tmp_path / "project"), "--base", "HEAD")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not in a readable git repository" in done.stderr


def test_no_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    done = plan(project, "--base", "HEAD")
    assert (done.returncode, done.stdout) == (1, "")
    assert "git is not on the PATH" in done.stderr


def test_a_repository_without_commits(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "project")
    git(folder, "init", "--quiet")
    done = plan(folder, "--base", "HEAD")
    assert done.returncode == 2
    assert "is not a commit in" in done.stderr


def test_a_project_in_a_subfolder_with_models_beside_it(tmp_path: Path) -> None:
    root = tmp_path / "repository with spaces"
    project = write_project(root / "infra structure", models="../shared/models")
    write_model(root / "shared" / "models" / "a b.yaml", "other")
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    write_model(root / "shared" / "models" / "a b.yaml", "other", replicas=3)
    before = fingerprint(root)
    done = plan(project, "--base", "HEAD")
    assert "spec.replicas: 1 → 3" in done.stdout
    assert fingerprint(root) == before


def test_a_project_that_the_base_does_not_have(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "empty")
    project = write_project(root / "new")
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "Deployment models/chat" in done.stdout


def test_a_stack_that_the_base_does_not_have_is_all_new(project: Path) -> None:
    git(project, "rm", "--quiet", "--cached", "Pulumi.dev.yaml")
    git(project, "commit", "--quiet", "-m", "without")
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "a new environment, " in done.stdout
    assert "Deployment models/chat" in done.stdout


def test_a_stack_that_is_removed(project: Path) -> None:
    (project / "Pulumi.dev.yaml").unlink()
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "deleted" in done.stdout
    alone = plan(project)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "stack 'dev' has no Pulumi.dev.yaml" in alone.stderr


def test_a_shallow_clone_compares_with_the_branch_itself_and_says_so(project: Path, tmp_path: Path) -> None:
    git(project, "switch", "--quiet", "--create", "mine")
    write_model(project / MANIFEST, replicas=3)
    commit(project)
    git(project, "switch", "--quiet", "main")
    commit(project)
    clone = tmp_path / "clone"
    git(
        tmp_path,
        "clone",
        "--quiet",
        "--depth=1",
        "--no-single-branch",
        "--branch=mine",
        f"file://{project}",
        str(clone),
    )
    before = fingerprint(clone)
    done = plan(clone, "--base", "origin/main")
    assert "spec.replicas: 1 → 3" in done.stdout
    assert "no common ancestor" in done.stdout
    assert fingerprint(clone) == before


def test_a_linked_work_tree(project: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(project, "worktree", "add", "--quiet", "-b", "mine", str(linked))
    write_model(linked / MANIFEST, replicas=3)
    before = fingerprint(tmp_path)
    done = plan(linked, "--base", "main")
    assert "spec.replicas: 1 → 3" in done.stdout
    assert fingerprint(tmp_path) == before


def test_models_in_a_submodule(project: Path, tmp_path: Path) -> None:
    teams = tmp_path / "teams"
    write_model(teams / "team.yaml", "team")
    git(teams, "init", "--quiet", "--initial-branch=main")
    commit(teams)
    git(project, "submodule", "--quiet", "add", str(teams), "models/teams")
    commit(project)
    before = fingerprint(project)
    assert SAME in plan(project, "--base", "HEAD").stdout
    assert fingerprint(project) == before
    write_model(project / "models" / "teams" / "team.yaml", "team", replicas=3)
    assert "spec.replicas: 1 → 3" in plan(project, "--base", "HEAD").stdout


def test_odd_file_names_and_links(project: Path) -> None:
    write_model(project / "models" / "two words\nand a line.yaml", "odd")
    (project / "models" / "linked.yaml").symlink_to("../elsewhere.yaml")
    write_model(project / "elsewhere.yaml", "linked")
    (project / "nowhere").symlink_to("/nowhere/at/all")
    (project / "outside").symlink_to("../../outside")
    commit(project)
    done = plan(project, "--base", "HEAD")
    assert (done.returncode, done.stderr) == (0, "")
    assert SAME in done.stdout


def test_settings_of_the_base_that_cannot_be_read(project: Path) -> None:
    good = (project / "Pulumi.dev.yaml").read_text()
    (project / "Pulumi.dev.yaml").write_text("config: [")
    commit(project)
    (project / "Pulumi.dev.yaml").write_text(good)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "Pulumi.dev.yaml:1:" in done.stdout
    assert str(project) not in done.stdout
    assert "/tmp" not in done.stdout


def test_a_model_that_the_base_refuses(project: Path) -> None:
    text = (project / MANIFEST).read_text()
    (project / MANIFEST).write_text(text.replace("familyName", "family"))
    commit(project)
    (project / MANIFEST).write_text(text)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "program fails for the base" in done.stdout
