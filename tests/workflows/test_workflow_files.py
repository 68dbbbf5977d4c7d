"""The workflows themselves: linted, pinned, with the least rights, and safe for pull requests from anybody."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from livefleet.go_tools import Tool
from tests.layers.modules import modules
from tests.monitoring.programs.tools import TOOLS, built_or_skip
from tests.workflows.workflows import FOLDER, ROOT, SAME_REPOSITORY, Workflow, expressions, faults, workflows
from workbench.creating.answers import CiChoice, ClusterChoice
from workbench.creating.command import DEFAULTS
from workbench.creating.repository import repository

ACTIONLINT = Tool("actionlint", ("github.com/rhysd/actionlint/cmd/actionlint",), modules=TOOLS)
ALL = workflows()
BY_NAME = {each.name: each for each in ALL}


@pytest.fixture(scope="session")
def actionlint() -> Path:
    return built_or_skip(ACTIONLINT)["actionlint"]


def lint(program: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run actionlint, with the shellcheck that stands beside Python."""
    shellcheck = ROOT / ".venv" / "bin" / "shellcheck"
    command = [str(program), "-color=false", "-shellcheck", str(shellcheck) if shellcheck.exists() else "shellcheck"]
    return subprocess.run(
        [*command, *map(str, paths)], cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )


def test_actionlint_finds_nothing(actionlint: Path) -> None:
    done = lint(actionlint, *sorted(FOLDER.glob("*.yml")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_actionlint_finds_nothing_in_workflows_for_other_repositories(actionlint: Path, tmp_path: Path) -> None:
    """Those of ``workbench init``, and that of the example."""
    for cluster in ClusterChoice:
        written = repository(replace(DEFAULTS, ci=CiChoice.GITHUB, cluster=cluster), "fleet")
        for path, text in written.items():
            if path.startswith(".github/workflows/"):
                (tmp_path / f"{cluster}-{Path(path).name}").write_text(text)
    assert len(list(tmp_path.iterdir())) == 4
    done = lint(actionlint, *sorted(tmp_path.iterdir()), ROOT / "examples/pull-requests/plan.yml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def validate(schema: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Hold files against a schema that check-jsonschema carries: nothing is downloaded."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    return subprocess.run([*command, *map(str, paths)], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("schema", "pattern", "wrong"),
    [
        ("vendor.github-workflows", ".github/workflows/*.yml", ("runs-on:", "run-on:")),
        ("vendor.gitlab-ci", "ci/gitlab/*.yml", ("expire_in: 30 days", "expire_in: [30]")),
        ("vendor.github-actions", "action.yml", ("using: composite", "using: bash")),
    ],
)
def test_published_schemas_take_them(schema: str, pattern: str, wrong: tuple[str, str], tmp_path: Path) -> None:
    """GitHub's by SchemaStore, GitLab's own (app/assets/javascripts/editor/schema/ci.json)."""
    paths = sorted(ROOT.glob(pattern))
    done = validate(schema, *paths)
    assert done.returncode == 0, done.stdout
    for path in paths:
        (tmp_path / path.name).write_text(path.read_text().replace(*wrong))
    assert validate(schema, *sorted(tmp_path.iterdir())).returncode == 1


def test_actionlint_and_shellcheck_would_find_something(actionlint: Path, tmp_path: Path) -> None:
    text = (FOLDER / "preview.yml").read_text()
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(text.replace("needs: plan", "needs: nobody").replace("- run: make env", "- run: cd $HOME/$1"))
    done = lint(actionlint, wrong)
    assert done.returncode == 1
    assert "nobody" in done.stdout
    assert "SC2086" in done.stdout


@pytest.mark.parametrize("workflow", ALL, ids=lambda workflow: workflow.name)
def test_no_workflow_does_what_none_may(workflow: Workflow) -> None:
    assert list(faults(workflow)) == []


PLANTED: dict[str, tuple[str, str, str, str]] = {
    "target": ("preview.yml", "on:\n  pull_request:", "on:\n  pull_request_target:", "runs on pull_request_target"),
    "all rights": ("preview.yml", "permissions: {}", "permissions: write-all", "gives rights to all jobs"),
    "a right for anybody": ("preview.yml", "contents: read", "contents: write", "plan: anybody's code gets contents"),
    "a token for forks": ("preview.yml", f"{SAME_REPOSITORY}\n      &&", "", "preview: anybody's code gets id-token"),
    "a secret": ("preview.yml", "vars.PULUMI_PREVIEW_STACKS", "secrets.TOKEN", "plan: anybody's code sees a secret"),
    "a tag": (
        "ci.yml",
        "@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
        "@v7",
        "actions/checkout@v7 is not pinned",
    ),
    "a script": (
        "preview.yml",
        "- run: make env",
        "- run: make ${{ github.head_ref }}",
        "plan: a script holds an expr",
    ),
    "no timeout": ("ci.yml", "    timeout-minutes: 90\n", "", "check: has no timeout"),
    "the token stays": ("ci.yml", "persist-credentials: false", "fetch-depth: 1", "check: checkout leaves the token"),
    "the head": (
        "preview-publish.yml",
        "sparse-checkout: ci",
        "ref: ${{ github.event.workflow_run.head_sha }}",
        "comment: checks out something else",
    ),
    "its own files": ("preview-publish.yml", "${{ runner.temp }}/plans", "plans", "comment: downloads among its own"),
    "no group": ("deploy.yml", "concurrency:\n  group: deploy\n", "env:\n  a: b\n", "has no concurrency group"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_what_none_may_do_is_found(case: str) -> None:
    name, text, other, fault = PLANTED[case]
    assert text in BY_NAME[name].text
    found = list(faults(Workflow(name, BY_NAME[name].text.replace(text, other))))
    assert [each for each in found if each.startswith(fault)], found


def test_rights_are_these_and_no_others() -> None:
    """Each row is a decision: who adds a right adds it here."""
    rights = {(workflow.name, name): job["permissions"] for workflow in ALL for name, job in workflow.jobs.items()}
    reads, oidc = {"contents": "read"}, {"contents": "read", "id-token": "write"}
    run = {"actions": "read", "contents": "read"}
    assert rights == {
        ("ci.yml", "check"): reads,
        ("ci.yml", "engine"): reads,
        ("deploy-stack.yml", "preview"): oidc,
        ("deploy-stack.yml", "up"): oidc,
        ("deploy.yml", "dev"): oidc,
        ("deploy.yml", "staging"): oidc,
        ("deploy.yml", "prod"): oidc,
        ("nightly.yml", "long"): reads,
        ("preview-publish.yml", "comment"): {**run, "pull-requests": "write"},
        ("preview-publish.yml", "findings"): {**run, "pull-requests": "read", "security-events": "write"},
        ("preview.yml", "plan"): reads,
        ("release.yml", "build"): reads,
        ("release.yml", "attest"): {"id-token": "write", "attestations": "write"},
        ("release.yml", "pypi"): {"id-token": "write"},
        ("release.yml", "github"): {"contents": "write"},
        ("preview.yml", "preview"): oidc,
        ("upstream.yml", "difference"): {"contents": "read", "issues": "write"},
    }


def test_an_action_has_one_version_in_all_workflows() -> None:
    found: dict[str, set[str]] = {}
    for workflow in ALL:
        for action, version in re.findall(r"uses: ([^\s@]+@[0-9a-f]{40}) # (\S+)", workflow.text):
            found.setdefault(action.partition("@")[0], set()).add(f"{action} {version}")
    assert {action: len(pins) for action, pins in found.items()} == dict.fromkeys(found, 1)
    assert "pulumi/actions" in found


def test_the_pulumi_command_is_the_version_of_the_library() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    found = re.search(r"^pulumi==(\S+)", lock, re.MULTILINE)
    assert found
    pins = [
        step["with"]["pulumi-version"]
        for each in ALL
        for step in each.steps
        if "pulumi/actions" in step.get("uses", "")
    ]
    assert len(pins) == 5
    assert set(pins) == {found[1]}


def test_no_secret_is_needed_anywhere() -> None:
    """Roles come by OIDC, state and its key from them: there is nothing to steal."""
    assert [each for workflow in ALL for each in expressions(workflow.content) if "secrets." in each] == []


def test_a_release_is_signed_and_published_without_the_code_of_the_project() -> None:
    """Only the job that can do nothing else runs it; each of its steps is a target that runs on a laptop."""
    jobs = BY_NAME["release.yml"].jobs
    scripts = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert all(script.startswith("make ") for script in scripts["build"])
    targets = {script.split()[1] for script in scripts["build"]}
    assert targets == {"env", "release-notes", "sdks", "check-release", "dist"}
    assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for target in targets)
    assert scripts["attest"] == scripts["pypi"] == []
    (script,) = scripts["github"]
    assert script.startswith('gh release create "$TAG" --verify-tag')
    assert [jobs[name]["needs"] for name in ("attest", "pypi", "github")] == ["build", "attest", "pypi"]
    assert not any(
        "checkout" in step.get("uses", "") for name in scripts if name != "build" for step in jobs[name]["steps"]
    )


def test_stacks_are_deployed_one_after_the_other() -> None:
    jobs = BY_NAME["deploy.yml"].jobs
    assert [job["with"]["stack"] for job in jobs.values()] == ["dev", "staging", "prod"]
    assert (jobs["staging"]["needs"], jobs["prod"]["needs"]) == ("dev", ["dev", "staging"])
    assert all("!failure() && !cancelled()" in jobs[name]["if"] for name in ("staging", "prod"))
    for name in ("dev", "staging", "prod"):
        assert (ROOT / f"Pulumi.{name}.yaml").exists()


def test_what_is_deployed_was_approved() -> None:
    """The reviewers of an environment wait between the preview and the job that deploys; both look at one digest."""
    jobs = BY_NAME["deploy-stack.yml"].jobs
    assert jobs["preview"]["environment"] == "preview-${{ inputs.stack }}"
    assert jobs["up"]["environment"] == "${{ inputs.stack }}"
    steps = jobs["up"]["steps"]
    (approved,) = [at for at, step in enumerate(steps) if "--expect" in step.get("run", "")]
    (up,) = [at for at, step in enumerate(steps) if step.get("with", {}).get("command") == "up"]
    assert approved < up
    assert steps[approved]["env"]["APPROVED"] == "${{ needs.preview.outputs.digest }}"


def test_the_second_workflow_follows_the_first() -> None:
    triggers = BY_NAME["preview-publish.yml"].content["on"]
    assert triggers["workflow_run"]["workflows"] == [BY_NAME["preview.yml"].content["name"]]


def test_scripts_call_steps_that_there_are() -> None:
    from ci.__main__ import _parser

    words = [
        found
        for workflow in ALL
        for step in workflow.steps
        for found in re.findall(r"python -m ci (.+)", step.get("run", "").replace("\\\n", " "))
    ]
    assert len(words) == 5
    for each in words:
        _parser().parse_args([word.strip('"') for word in re.sub(r'"\$(\w+)"', r"1", each).split()])


def test_what_publishes_installs_only_the_parser() -> None:
    """The jobs with rights run nothing of the project but ``ci``, and one package of others, pinned by its hash."""
    command = [sys.executable, "-S", "-E", "-m", "ci", "publish", "."]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]}
    )
    assert (done.returncode, done.stderr) == (2, "error: the variable GITHUB_EVENT_PATH is not set\n")
    found = {name.partition(".")[0] for module in modules("ci") for name in module.imports}
    assert found - sys.stdlib_module_names == {"ci", "markdown_it", "yaml"}


def test_the_parser_is_the_version_of_the_lock() -> None:
    def entries(path: str) -> dict[str, frozenset[str]]:
        text = (ROOT / path).read_text().replace("\\\n", " ")
        lines = [line.split() for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]
        return {name: frozenset(more) for name, *more in lines}

    own, all_of_them = entries("ci/requirements.lock"), entries("requirements.lock")
    assert {name.partition("==")[0] for name in own} == {"markdown-it-py", "mdurl"}
    assert all(hashes and hashes == all_of_them[name] for name, hashes in own.items())


def test_what_writes_comments_installs_the_parser_before() -> None:
    install = (
        "python -m pip install --no-deps --only-binary=markdown-it-py,mdurl --require-hashes -r ci/requirements.lock"
    )
    (job,) = (
        [str(step.get("run", "")) for step in content["steps"]]
        for name, content in BY_NAME["preview-publish.yml"].content["jobs"].items()
        if name == "comment"
    )
    assert job.index(install) < next(place for place, run in enumerate(job) if "ci publish" in run)
    gitlab = (ROOT / "ci/gitlab/preview.gitlab-ci.yml").read_text()
    assert gitlab.index(install) < gitlab.index("python -m ci note")


def test_workflows_are_yaml_of_one_document() -> None:
    for path in FOLDER.iterdir():
        assert path.suffix == ".yml"
        assert len(list(yaml.safe_load_all(path.read_text()))) == 1
