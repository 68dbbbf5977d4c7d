"""The hook, run by the real pre-commit in repositories of users.

What pre-commit would install is what is installed already, so that the hook runs as one of the system; that it can be
installed from this repository is tested where other installations are: INFERENCE_PLATFORM_VERSIONS.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.resources.serving.manifests import SMALL
from tests.workflows.projects import ROOT, Project, project_at

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent
FILES = {f"models/{each['metadata']['name']}-{at}.yaml": yaml.safe_dump(each) for at, each in enumerate(SMALL)}
OTHER = {"docs/values.yaml": "not: a manifest\n", "README.md": "# Models\n"}
ASKED = "INFERENCE_PLATFORM_VERSIONS"


def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load(MANIFEST.read_text())
    assert isinstance(found, dict)
    return found


def pre_commit(project: Project, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(home), "PRE_COMMIT_HOME": str(home)}
    command = [sys.executable, "-m", "pre_commit", *words]
    return subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def repository(tmp_path: Path, files: Mapping[str, str] = FILES, **changes: Any) -> Project:
    """A repository of a user, with the hook in its configuration and everything committed."""
    local = hook()
    config = {"repos": [{"repo": "local", "hooks": [{**local, "language": "unsupported", **changes}]}]}
    return project_at(
        tmp_path / "project", files={**files, **OTHER, ".pre-commit-config.yaml": yaml.safe_dump(config)}
    )


def test_pre_commit_takes_the_manifest(tmp_path: Path, home: Path) -> None:
    done = pre_commit(repository(tmp_path), "validate-manifest", str(MANIFEST), home=home)
    assert (done.returncode, done.stdout) == (0, "")
    assert "additional_dependencies" not in hook()  # the package itself has the command line


def test_it_says_how_much_it_checked(tmp_path: Path, home: Path) -> None:
    done = pre_commit(repository(tmp_path), "run", "--all-files", home=home)
    assert done.returncode == 0, done.stdout
    assert "validate models" in done.stdout
    assert f"{len(SMALL)} resources in {len(FILES)} files: 0 errors" in done.stdout


def test_a_change_is_checked_with_what_it_refers_to(tmp_path: Path, home: Path) -> None:
    """Only one file is staged; what it refers to is in another."""
    project = repository(tmp_path)
    last = list(FILES)[-1]
    (project.root / last).write_text(FILES[last] + "# changed\n")
    project.git("add", last)
    done = pre_commit(project, "run", home=home)
    assert done.returncode == 0, done.stdout
    assert f"{len(SMALL)} resources" in done.stdout


def test_what_is_wrong_stops_the_commit(tmp_path: Path, home: Path) -> None:
    project = repository(tmp_path)
    (name,) = [each for each in FILES if "Playground" in FILES[each]]
    (project.root / name).write_text(FILES[name].replace("modelName: ", "modelName: un-"))
    project.git("add", name)
    done = pre_commit(project, "run", home=home)
    assert done.returncode == 1
    assert f"{name}:" in done.stdout
    assert "1 error" in done.stdout


def test_it_has_nothing_to_say_of_other_files(tmp_path: Path, home: Path) -> None:
    project = repository(tmp_path)
    (project.root / "README.md").write_text("# Others\n")
    project.git("add", "README.md")
    done = pre_commit(project, "run", home=home)
    assert done.returncode == 0
    assert "Skipped" in done.stdout


def test_other_folders_and_hostile_names(tmp_path: Path, home: Path) -> None:
    files = {f"fleet/$(touch x);'{at} \"a.yaml": text for at, text in enumerate(FILES.values())}
    project = repository(tmp_path, files, args=["fleet"])
    done = pre_commit(project, "run", "--all-files", home=home)
    assert done.returncode == 0, done.stdout
    assert f"{len(SMALL)} resources" in done.stdout
    assert not (project.root / "x").exists()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, home: Path) -> None:
    done = pre_commit(repository(tmp_path, args=["fleet"]), "run", "--all-files", home=home)
    assert done.returncode == 1
    assert "fleet" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.skipif(not os.environ.get(ASKED), reason=f"installs the hook from a package index; set {ASKED}=1")
def test_it_can_be_installed_from_this_repository(tmp_path: Path, home: Path) -> None:
    project = project_at(tmp_path / "project", files={**FILES, **OTHER})
    words = ("try-repo", str(ROOT), "inference-platform-validate", "--all-files", "--verbose")
    done = pre_commit(project, *words, home=home)
    assert done.returncode == 0, done.stdout
    assert f"{len(SMALL)} resources in {len(FILES)} files: 0 errors" in done.stdout
