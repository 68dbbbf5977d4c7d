"""The acceptance test on AWS from beginning to end, with stand-ins for its programs and an account in memory."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import acceptance_aws
import pytest
from acceptance.account import own_range
from acceptance.errors import AcceptanceError
from acceptance.project import DOOR_NAMESPACE, AcceptanceProject

from tests.acceptance.aws.conftest import REGION, Programs
from tests.clouds.aws.moto.moto_cloud import MotoCloud
from toolkit.ports import LOOPBACK

VERBS = ("up", "preview", "destroy")
STEPS = ["create", "second update", "call", "edit", "replaced proxies", "destroy", "nothing is left"]


def run(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run the test, and return its exit code and its report."""
    code = acceptance_aws.main(["--cidr", "198.51.100.7/32", "--yes", "--folder", str(folder), *words])
    report = folder / "report.json"
    return code, json.loads(report.read_text()) if report.exists() else {}


@pytest.fixture
def unpriced(tmp_path: Path, account: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> Path:
    # moto knows neither the quota of an account nor which types a zone offers.
    monkeypatch.setattr(acceptance_aws, "check_quota", lambda region: None)
    monkeypatch.setattr(acceptance_aws, "zones_for", lambda *_: ["us-east-1a", "us-east-1b"])
    return tmp_path / "run"


@pytest.fixture
def folder(unpriced: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(AcceptanceProject, "hourly_usd", lambda project: 2.42)  # as planned; a plan takes seconds
    return unpriced


def test_every_step_passes_and_everything_is_deleted(unpriced: Path, programs: Programs) -> None:
    programs.set(program=True)
    code, report = run(unpriced)
    assert [step["name"] for step in report["steps"] if step["passed"]] == STEPS
    assert (code, report["passed"], report["region"]) == (0, True, REGION)
    assert 2 < report["usdAtMost"] <= 10
    assert programs.verbs("pulumi", VERBS) == ["up", "preview", "preview", "preview", "up", "destroy"]
    restarted = [call["words"] for call in programs.calls if "restart" in call["words"]]
    assert [words[words.index("-n") + 1] for words in restarted] == [DOOR_NAMESPACE]
    assert report["versions"]["kubectl"] == "Client Version: v1.35.2"


def test_keys_reach_the_cluster_through_stdin_and_no_report(folder: Path, programs: Programs) -> None:
    run(folder)
    applied = [json.loads(call["stdin"]) for call in programs.calls if call.get("stdin")]
    secrets = [item for content in applied for item in content["items"] if item["kind"] == "Secret"]
    (key,) = {secret["stringData"]["acceptance"] for secret in secrets}
    assert len(key) > 30
    assert not [call for call in programs.calls if key in json.dumps(call["words"])]
    assert all(key not in path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("settings", "step", "reason"),
    [
        ({"failing": {"pulumi": "up"}}, "create", "exited with 1"),
        ({"logs": {"call": {"status 503": 1}}}, "call", "with a key: {'status 503': 1}"),
        ({"logs": {"call-without-key": {"completed": 1}}}, "call", "status 401 is expected"),
        ({"changed": ["models/chat", "models/other"], "also": ["models/other"]}, "edit", "models/other"),
        ({"changed": []}, "edit", "changed nothing"),
        ({"logs": {"roll": {"completed": 9, "cut off": 1}}}, "replaced proxies", "'cut off': 1"),
        ({"failing": {"kubectl": "status"}}, "replaced proxies", "timed out"),
    ],
)
def test_a_step_that_fails_ends_the_run_and_everything_is_deleted(
    settings: dict[str, Any], step: str, reason: str, folder: Path, programs: Programs
) -> None:
    programs.set(**settings)
    code, report = run(folder)
    (failed,) = [result for result in report["steps"] if not result["passed"]]
    assert (code, failed["name"]) == (1, step)
    assert reason in failed["detail"]
    ran = STEPS.index(step) + 1
    assert [result["name"] for result in report["steps"]] == [*STEPS[:ran], "destroy", "nothing is left"]
    assert programs.verbs("pulumi", VERBS)[-1] == "destroy"


def test_a_deletion_that_fails_is_tried_again_and_reported(folder: Path, programs: Programs) -> None:
    programs.set(failing={"pulumi": "destroy"})
    code, report = run(folder)
    failed = [result["name"] for result in report["steps"] if not result["passed"]]
    assert (code, failed) == (1, ["destroy"])


def test_what_is_left_fails_the_run(folder: Path, programs: Programs, account: MotoCloud) -> None:
    def later(project: AcceptanceProject, started: Any) -> str:
        tags = [{"Key": "KubernetesCluster", "Value": project.cluster}]
        specification = [{"ResourceType": "volume", "Tags": tags}]
        account.client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=1, TagSpecifications=specification)
        return search(project, started)

    search = acceptance_aws._search
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(acceptance_aws, "_search", later)
        code, report = run(folder)
    assert (code, report["steps"][-1]["passed"]) == (1, False)
    assert report["steps"][-1]["detail"].startswith("1 resources are left")
    assert "volume vol-<id>" in report["steps"][-1]["detail"]


def test_the_time_limit_interrupts_a_step_and_everything_is_deleted(folder: Path, programs: Programs) -> None:
    code, report = run(folder, "--max-minutes", "0")
    assert code == 1
    assert "--max-minutes" in report["steps"][0]["detail"]
    assert programs.verbs("pulumi", VERBS) == ["destroy"]


def test_a_run_that_was_killed_is_cleaned_up(folder: Path, programs: Programs) -> None:
    AcceptanceProject.write(
        folder, "inference-acceptance-1", REGION, "g5.xlarge", ["us-east-1a", "us-east-1b"], "192.0.2.0/24"
    )
    assert acceptance_aws.main(["--clean-up", str(folder)]) == 0
    assert programs.verbs("pulumi", VERBS) == ["destroy"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--cidr", "198.51.100.7/32", "--max-usd", "1"], "exceeds --max-usd 1.00"),
        (["--clean-up", "."], "has no run.yaml"),
    ],
)
def test_what_cannot_start_creates_nothing(
    words: list[str], reason: str, folder: Path, programs: Programs, capsys: pytest.CaptureFixture[str]
) -> None:
    code = acceptance_aws.main(["--folder", str(folder), *words])
    assert (code, programs.verbs("pulumi", VERBS)) == (2, [])
    assert reason in capsys.readouterr().err


def test_a_run_without_credentials_says_so(
    tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    assert acceptance_aws.main(["--cidr", "198.51.100.7/32", "--folder", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == "error: Unable to locate credentials\n"
    assert programs.verbs("pulumi", VERBS) == []


def test_a_missing_program_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert acceptance_aws.main(["--cidr", "198.51.100.7/32", "--folder", str(folder)]) == 2
    assert "not on the PATH: pulumi, aws, kubectl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "expected"), [(b"198.51.100.7\n", "198.51.100.7/32"), (b"2001:db8::7\n", "2001:db8::7/128")]
)
def test_the_default_range_is_this_machines_address(body: bytes, expected: str) -> None:
    with replying(body) as url:
        assert own_range(url) == expected


@pytest.mark.parametrize("body", [b"<html>", b""])
def test_an_unknown_address_must_be_given(body: bytes) -> None:
    with replying(body) as url, pytest.raises(AcceptanceError, match="--cidr is required"):
        own_range(url)


@contextmanager
def replying(body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silence."""

    with HTTPServer((LOOPBACK, 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield f"http://{LOOPBACK}:{server.server_port}"
        thread.join()


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "::/0", "198.51.100.300"])
def test_the_api_server_is_not_open_to_everyone(cidr: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        acceptance_aws.main(["--cidr", cidr])
    assert "argument --cidr" in capsys.readouterr().err


def test_a_dry_run_shows_cost_and_steps_without_programs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert acceptance_aws.main(["--dry-run", "--max-minutes", "60"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("g5.xlarge in us-east-1: at most ")
    waits = [line for line in others if " waits at most: " in line]
    assert "aws:eks/cluster cluster waits at most: 30m to create, 1h to update, 15m to delete" in waits
    # Two nodes at most, one after the other: 62 minutes and a quarter.
    assert "aws:eks/nodeGroup nodes-g5-xlarge waits at most: 1h to create, 1h20m to update, 1h to delete" in waits
    (model,) = [line for line in waits if line.startswith("Deployment models/chat ")]
    assert "10m to create" not in model, "its cold start takes longer than the default"
    assert [line.partition(":")[0] for line in others if line not in waits] == STEPS[:-2]
