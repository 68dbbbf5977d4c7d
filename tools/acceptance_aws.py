"""Run the project once on AWS, with limits on cost and time. ``make acceptance-aws`` runs it.

Creates a network, an EKS cluster and one GPU node with a model behind an internal gateway; calls the model, edits it,
replaces the gateway's proxies under load; deletes everything, and searches the account for what is left. Whatever
happens, everything is deleted at the end. Needs the Pulumi CLI, the AWS CLI and kubectl, and credentials for AWS.

    python tools/acceptance_aws.py --dry-run                 # what would be created, and its cost; no account needed
    python tools/acceptance_aws.py                           # asks before it creates anything
    python tools/acceptance_aws.py --clean-up FOLDER         # after a run that was killed
"""

import argparse
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory

from acceptance.account import check_quota, client, own_range, zones_for
from acceptance.errors import AcceptanceError
from acceptance.leftovers import delete_keys, leftovers
from acceptance.project import ROOT, AcceptanceProject
from acceptance.report import AcceptanceReport, StepResult
from acceptance.steps import Deadline, Steps
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

DESTROY_MINUTES = 60
"""Time for deletion, beyond the limit; drains and load balancers take most of it."""
PROGRAMS = {"pulumi": ["version"], "aws": ["--version"], "kubectl": ["version", "--client"]}


def main(words: Sequence[str] | None = None) -> int:
    """Run the test. Exit code 1 if a step fails or something is left, 2 if it cannot start."""
    args = _parser().parse_args(words)
    try:
        if args.clean_up:
            return _clean_up(AcceptanceProject.of(args.clean_up))
        return _test(args)
    except (AcceptanceError, BotoCoreError, ClientError) as error:  # of AWS: no credentials, or no permission
        sys.stderr.write(f"error: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--region", default="us-east-1", help="AWS region (default: us-east-1)")
    parser.add_argument("--instance-type", default="g5.xlarge", help="type of the GPU node (default: g5.xlarge)")
    parser.add_argument("--zones", help="two zones, comma-separated; by default two that offer the instance type")
    parser.add_argument(
        "--cidr", type=_range, help="range that may connect to the API server; by default your address"
    )
    parser.add_argument(
        "--max-usd", dest="cost_limit", type=float, default=10.0, help="highest estimated cost (default: 10)"
    )
    parser.add_argument("--max-minutes", type=float, default=120.0, help="minutes until deletion (default: 120)")
    parser.add_argument("--folder", type=Path, help="folder of the run (default: .workbench/acceptance-aws/NAME)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done and its cost, and stop")
    parser.add_argument("--yes", action="store_true", help="do not ask before creating resources")
    parser.add_argument("--clean-up", type=Path, metavar="FOLDER", help="only delete what a run left")
    return parser


def _range(text: str) -> str:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if network.prefixlen == 0:
        raise argparse.ArgumentTypeError("must not be the whole internet")
    return str(network)


def _test(args: argparse.Namespace) -> int:
    started = datetime.now(UTC)
    name = f"inference-acceptance-{started:%m%d%H%M}-{secrets.token_hex(2)}"
    if args.dry_run:
        with TemporaryDirectory() as folder:
            project, _ = _estimated(args, Path(folder) / name, name)
            for title, waits in project.timeouts().items():
                _say(f"{title} waits at most: {', '.join(f'{text} to {name}' for name, text in waits.items())}")
            for title, step in _plan(Steps(project, Deadline(0))):
                _say(f"{title}: {step.__doc__}")
        return 0
    versions = _versions()
    args.cidr = args.cidr or own_range()
    check_quota(args.region)
    project, usd = _estimated(args, args.folder or ROOT / ".workbench" / "acceptance-aws" / name, name)
    _say(f"folder of the run: {project.folder}")
    if not args.yes and input("Create these resources in your account? [y/N] ").strip().lower() != "y":
        raise AcceptanceError("nothing was created")
    steps = Steps(project, Deadline(time.monotonic() + args.max_minutes * 60))
    results = _run(_plan(steps), steps)
    results.append(_result("nothing is left", lambda: _search(project, started)))
    report = AcceptanceReport(args.region, versions, results, usd)
    report.write(project.folder)
    _say(f"{'passed' if report.passed else 'failed'}; redacted report: {project.folder / 'report.md'}")
    return 0 if report.passed else 1


def _estimated(args: argparse.Namespace, folder: Path, name: str) -> tuple[AcceptanceProject, float]:
    """Write the project, and return it with the highest cost of the run in USD.

    Raises:
        AcceptanceError: the cost exceeds the limit.
    """
    cidr = args.cidr or "203.0.113.0/24"
    zones = [f"{args.region}a", f"{args.region}b"] if args.dry_run else zones_for(args.region, args.instance_type)
    zones = args.zones.split(",") if args.zones else zones
    project = AcceptanceProject.write(folder.resolve(), name, args.region, args.instance_type, zones, cidr)
    minutes = args.max_minutes + DESTROY_MINUTES
    usd = project.hourly_usd() * minutes / 60
    _say(f"{args.instance_type} in {args.region}: at most {usd:.2f} USD for {minutes:.0f} minutes, estimated")
    if usd > args.cost_limit:
        raise AcceptanceError(
            f"this exceeds --max-usd {args.cost_limit:.2f}; lower --max-minutes, or raise --max-usd"
        )
    return project, usd


def _plan(steps: Steps) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("create", steps.create),
        ("second update", steps.repeat),
        ("call", steps.call),
        ("edit", steps.edit),
        ("replaced proxies", steps.roll),
    ]


def _run(planned: Sequence[tuple[str, Callable[[], str]]], steps: Steps) -> list[StepResult]:
    """Run the steps up to the first that fails, and delete everything, also after Ctrl-C."""
    results = []
    try:
        for title, step in planned:
            results.append(_result(title, step))
            if not results[-1].passed:
                break
    except KeyboardInterrupt:
        results.append(StepResult("interrupted", passed=False, seconds=0, detail="by Ctrl-C"))
    results.append(_result("destroy", lambda: _destroy(steps)))
    return results


def _result(title: str, step: Callable[[], str]) -> StepResult:
    _say(f"\n== {title}")
    begun = time.monotonic()
    try:
        passed, detail = True, step()
    except AcceptanceError as error:
        passed, detail = False, str(error)
    except Exception as error:  # resources must be deleted whatever happens
        passed, detail = False, f"{type(error).__name__}: {error}"
    _say(f"{'passed' if passed else 'FAILED'}: {detail}")
    return StepResult(title, passed, time.monotonic() - begun, detail)


def _destroy(steps: Steps) -> str:
    """Delete everything; a second attempt continues where the first one stopped."""
    command = steps.project.workbench("destroy", "--engine", "pulumi", "--yes")
    try:
        steps.run(command, quiet=False, limited=False)
    except AcceptanceError as error:
        _say(f"{error}; trying once more")
        steps.run(command, quiet=False, limited=False)
    # The stack keeps the key of its cluster on purpose.
    project = steps.project
    delete_keys(project.cluster, lambda service: client(service, project.region))
    return "everything in the state was deleted"


def _search(project: AcceptanceProject, started: datetime) -> str:
    left = leftovers(project.cluster, started, lambda service: client(service, project.region))
    if left:
        resources = ", ".join(f"{item.kind} {item.id}" for item in left)
        raise AcceptanceError(f"{len(left)} resources are left, which cost money until you delete them: {resources}")
    return "no resource with the tags of the run exists"


def _clean_up(project: AcceptanceProject) -> int:
    steps = Steps(project, Deadline(0))
    since = datetime.fromtimestamp((project.folder / "run.yaml").stat().st_mtime, UTC)
    results = [
        _result("destroy", lambda: _destroy(steps)),
        _result("nothing is left", lambda: _search(project, since)),
    ]
    return 0 if all(result.passed for result in results) else 1


def _versions() -> dict[str, str]:
    """Return the first line of each program's version.

    Raises:
        AcceptanceError: a program is missing; names every one.
    """
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise AcceptanceError(f"not on the PATH: {', '.join(missing)}")
    return {program: _first_line([program, *words]) for program, words in PROGRAMS.items()}


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
