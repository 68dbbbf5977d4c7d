"""Steps of pipelines: ``python -m ci plan``, ``publish``, ``comment``, ``note``, ``quality``, ``approve``."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import github, gitlab
from .approval import compared, in_words, previewed
from .comment import comment as comment_text
from .comment import reports
from .errors import PipelineError
from .findings import code_quality, read_sarif, write_uploads
from .plans import FINDINGS, SUMMARY, Plans, Revisions, make_plans, plan_manifests, read_plans
from .received import read_bytes, read_text
from .repository import Repository
from .touched import Touched, touched

_USAGE_ERROR = 2


def plan(args: argparse.Namespace) -> int:
    """Plan every stack that the commits since the base affect, or manifests; exit with 1 if a plan has errors."""
    repository = Repository(Path(args.project).resolve())
    revisions, out = Revisions(repository.commit("HEAD"), repository.fork_point(args.base)), Path(args.out).resolve()
    affected = Touched() if args.paths else touched(repository, revisions.base)
    script = Path(sys.executable).with_name("workbench")
    workbench = [str(script)] if script.exists() else [sys.executable, "-m", "workbench"]
    # A check in CI fails for models that were not checked; --option=--no-strict accepts them.
    command = [*(args.command or (*workbench, "plan", "--strict")), *args.option]
    out.mkdir(parents=True)
    plans = []
    found = (
        [plan_manifests(repository.folder, args.paths, revisions, out, command)]
        if args.paths
        else make_plans(repository.folder, affected, revisions, out, command)
    )
    for stack_plan in found:
        reason = f"planned because of {stack_plan.because!r}"
        print(f"{stack_plan.stack}: {stack_plan.verdict} ({reason})", flush=True)  # noqa: T201
        plans.append(stack_plan)
    planned = Plans(args.pull, revisions.head, tuple(plans), affected.removed)
    (out / SUMMARY).write_text(json.dumps(planned.as_dict(), indent=1) + "\n", encoding="utf-8")
    _append(
        "GITHUB_STEP_SUMMARY",
        comment_text(planned, reports(planned, out, args.links), "in the artifacts of this run"),
    )
    previews = [stack_plan.stack for stack_plan in plans if stack_plan.stack in args.previews.split()]
    _append("GITHUB_OUTPUT", f"previews={json.dumps(previews)}\n")
    return 0 if planned.fine else 1


def publish(args: argparse.Namespace) -> int:
    """Write the comment on the pull request of a finished run, or prepare its findings for upload."""
    run = github.finished_run(json.loads(Path(_environment("GITHUB_EVENT_PATH")).read_text(encoding="utf-8")))
    rest = github.github(_environment("GITHUB_API_URL"), _environment("GITHUB_TOKEN"))
    name, folder = _environment("GITHUB_REPOSITORY"), Path(args.folder)
    try:
        plans = github.verified(rest, name, run, folder)
    except github.OutdatedError as outdated:
        print(outdated)  # noqa: T201
        return 0
    if args.findings:
        count = write_uploads(plans, folder, Path(args.findings))
        _append("GITHUB_OUTPUT", f"count={count}\npull={plans.pull}\nsha={run.sha}\n")
        return 0
    links = f"{_environment('GITHUB_SERVER_URL')}/{name}/"
    print(github.publish(rest, name, plans, folder, run.url, links))  # noqa: T201
    return 0


def comment(args: argparse.Namespace) -> int:
    """Write the comment in the run that planned: only where that runs no code of the pull request."""
    name, folder = _environment("GITHUB_REPOSITORY"), Path(args.folder)
    pull = github.pull_request(json.loads(Path(_environment("GITHUB_EVENT_PATH")).read_text(encoding="utf-8")))
    plans = read_plans(read_text(folder, SUMMARY))
    if plans.pull != pull:
        raise PipelineError(f"{SUMMARY} is of pull request {plans.pull}, and the run is of {pull}")
    rest = github.github(_environment("GITHUB_API_URL"), _environment("GITHUB_TOKEN"))
    links = f"{_environment('GITHUB_SERVER_URL')}/{name}/"
    run = f"{links}actions/runs/{_environment('GITHUB_RUN_ID')}"
    print(github.publish(rest, name, plans, folder, run, links))  # noqa: T201
    return 0


def note(args: argparse.Namespace) -> int:
    """Write the note on a GitLab merge request."""
    folder = Path(args.folder)
    rest = gitlab.gitlab(_environment("CI_API_V4_URL"), _environment("PREVIEW_TOKEN"))
    links = f"{_environment('CI_PROJECT_URL')}/"
    plans, where = read_plans(read_text(folder, SUMMARY)), args.where
    print(gitlab.publish(rest, _environment("CI_PROJECT_ID"), plans, folder, where, links))  # noqa: T201
    return 0


def quality(args: argparse.Namespace) -> int:
    """Write the findings of all stacks as a GitLab Code Quality report."""
    folder = Path(args.folder)
    plans = read_plans(read_text(folder, SUMMARY))
    logs = (read_bytes(folder, plan.stack, FINDINGS) for plan in plans.stacks)
    report = code_quality(read_sarif(data) for data in logs if data is not None)
    Path(args.out).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def approve(args: argparse.Namespace) -> int:
    """Print the digest of a preview, or compare it with the approved one."""
    preview = previewed(Path(args.preview).read_text(encoding="utf-8"))
    if args.expect is not None:
        compared(args.expect, preview)
    _append("GITHUB_OUTPUT", f"digest={preview.digest}\nchanges={preview.changes}\n")
    _append("GITHUB_STEP_SUMMARY", f"Changes: {in_words(preview)}. Digest `{preview.digest[:16]}`.\n")
    print(f"{preview.digest} {in_words(preview)}")  # noqa: T201
    return 0


def _environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise PipelineError(f"the variable {name} is not set")
    return value


def _append(variable: str, text: str) -> None:
    """Append to a file of the runner, if there is one."""
    path = os.environ.get(variable)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ci", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        subparser = commands.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        subparser.set_defaults(run=run)
        return subparser

    subparser = command(plan)
    subparser.add_argument("--base", required=True, help="branch or commit to compare with")
    subparser.add_argument("--out", required=True, help="folder to create, for the reports")
    subparser.add_argument("--project", default=".", help="folder of Pulumi.yaml")
    subparser.add_argument("--pull", type=int, default=0, help="number of the pull or merge request")
    subparser.add_argument(
        "--previews", default="", help="stacks with a role for a real preview, separated by spaces"
    )
    subparser.add_argument("--links", default="", help="allowed prefix of links in reports")
    subparser.add_argument(
        "--option", action="append", default=[], help="further option of the plan (--option=--max-gpus=8)"
    )
    subparser.add_argument("--command", nargs="+", help="command to run instead of `workbench plan`")
    subparser.add_argument("--paths", nargs="+", default=[], help="manifests to plan without a stack")
    subparser = command(publish)
    subparser.add_argument("folder", help="folder with the artifact of the first workflow")
    subparser.add_argument("--findings", help="folder to create, for SARIF to upload; no comment is written then")
    subparser = command(comment)
    subparser.add_argument("folder", help="folder of the reports")
    subparser = command(note)
    subparser.add_argument("folder", help="folder of the reports")
    subparser.add_argument("--where", required=True, help="URL of the full reports")
    subparser = command(quality)
    subparser.add_argument("folder", help="folder of the reports")
    subparser.add_argument("--out", required=True, help="file to write")
    subparser = command(approve)
    subparser.add_argument("preview", help="file with the output of `pulumi preview --json`")
    subparser.add_argument("--expect", help="approved digest")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a step. Exit code 2 and a message on errors."""
    args = _parser().parse_args(words)
    try:
        code: int = args.run(args)
    except (PipelineError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return _USAGE_ERROR
    return code


if __name__ == "__main__":
    sys.exit(main())
