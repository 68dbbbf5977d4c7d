"""`adopt --aws` and its files: what is written, planned and previewed."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from components.contract import clock
from stacks.environment import deploy
from stacks.settings import read
from tests.adopting.aws import one_cluster
from tests.adopting.aws.one_cluster import SOME_IDS
from tests.adopting.support import deployment
from tests.clouds.aws.environments import flavor
from tests.fleets import open_model, playground
from tests.recorded import deploy as record
from tests.resources.aws.aws_mock import Aws
from workbench.cli import app
from workbench.errors import WorkbenchError

NOW = datetime.datetime(2026, 11, 24, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(one_cluster.terraform(SOME_IDS)))
    return path


def written(folder: Path, stack: str = "prod") -> dict[str, Any]:
    config = yaml.safe_load((folder / f"Pulumi.{stack}.yaml").read_text())["config"]
    return {key.removeprefix("inference-platform:"): value for key, value in config.items()}


def model(folder: Path, *flavors: Any) -> None:
    config = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    bodies = [open_model(flavors=list(flavors)), playground("p", "m", replicas=1, backendRuntimeConfig=config)]
    (folder / "models").mkdir(exist_ok=True)
    (folder / "models/chat.yaml").write_text(yaml.safe_dump_all(bodies))


def test_the_stack_uses_what_exists(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "fleet"
    done = run("adopt", folder, "--terraform", state, "--stack", "prod")
    assert done.exit_code == 0, done.output
    settings = written(folder)
    assert settings.pop("models") == ["models"]
    assert settings.pop("pulumi:disable-default-providers") == ["kubernetes", "aws"]
    assert settings == one_cluster.expected(SOME_IDS)
    assert done.stdout.splitlines()[:4] == [
        "AWS: cluster prod in us-east-1",
        "  vpc-0123456789abcdef0: us-east-1a subnet-0123456789abcde00, us-east-1b subnet-0123456789abcde01",
        "  g5.2xlarge (on-demand, at most 4): existing a10g",
        "  g6.xlarge (spot, at most 8): existing l4-spot",
    ]
    assert "need frontDoor.balancerCidrs: [10.0.0.0/16], those of the VPC" in done.stdout
    assert "    node group system: has no accelerators; " in done.stdout


def test_it_is_planned_and_creates_neither_network_nor_cluster_nor_nodes(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fleet"
    assert run("adopt", folder, "--terraform", state, "--stack", "prod").exit_code == 0
    model(folder, flavor("g5.2xlarge", pool="chat"))
    checked = run("validate", "--stack", "prod", "--cwd", folder)
    assert checked.exit_code == 0, checked.output
    planned = run("plan", "--stack", "prod", "--cwd", folder)
    assert planned.exit_code == 0, planned.output
    settings = written(folder)
    config = {
        f"inference-platform:{key}" if ":" not in key else key: value if isinstance(value, str) else json.dumps(value)
        for key, value in settings.items()
    }
    config = {key.removeprefix("inference-platform:"): value for key, value in config.items() if "pulumi:" not in key}
    monkeypatch.chdir(folder)
    graph = record(lambda: deploy(read()), preview=True, config=config, mock=Aws())
    on_aws = [entry for entry in graph.graph if entry.type.startswith("aws:")]
    assert on_aws == []
    (pods,) = [entry for entry in graph.graph if entry.type.endswith(":Deployment")]
    terms = json.dumps(pods.inputs["spec"]["template"]["spec"]["affinity"])
    assert "g5.2xlarge" in terms
    tolerations = pods.inputs["spec"]["template"]["spec"]["tolerations"]
    assert {"key": "team", "operator": "Equal", "value": "chat", "effect": "NoSchedule"} in tolerations


def test_only_types_without_groups_get_nodes(tmp_path: Path, state: Path) -> None:
    """The local engine previews the stack: it reads the cluster, and creates the group of one type."""
    folder = tmp_path / "fleet"
    assert run("adopt", folder, "--terraform", state, "--stack", "prod").exit_code == 0
    model(folder, flavor("g5.2xlarge", name="a", pool="chat"), flavor("g6e.xlarge", name="b"))
    done = run("preview", "--stack", "prod", "--engine", "local", "--cwd", folder, "--offline", "--details")
    assert done.exit_code == 0, done.output
    for absent in ("aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "nodes-g5-2xlarge", "aws:kms/key:Key"):
        assert absent not in done.output
    assert "nodes-g6e-xlarge" in done.output


def test_what_existing_groups_lack_is_found_by_the_plan(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "fleet"
    assert run("adopt", folder, "--terraform", state, "--stack", "prod").exit_code == 0
    model(folder, flavor("g5.2xlarge", pool="other"))
    done = run("validate", "--stack", "prod", "--cwd", folder)
    assert done.exit_code == 1
    assert "gpuNodes.types.g5.2xlarge.existingGroups: models need nodes" in done.output


def test_rendered_files_go_to_the_same_project(tmp_path: Path, state: Path) -> None:
    rendered, folder = tmp_path / "rendered.yaml", tmp_path / "fleet"
    rendered.write_text(yaml.safe_dump(deployment("chat", "models")))
    done = run("adopt", folder, "--terraform", state, "--from", rendered, "--stack", "prod")
    assert done.exit_code == 0, done.output
    settings = written(folder)
    assert (settings["cloud"], settings["otherKinds"]) == ("aws", "apply")
    assert "kubeconfig" not in settings
    assert (folder / "models/models/chat.yaml").exists()


def test_a_dry_run_reports_as_data_and_writes_nothing(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "fleet"
    done = run("adopt", folder, "--terraform", state, "--dry-run", "--output", "json")
    report = json.loads(done.stdout)
    assert not folder.exists()
    assert report["aws"]["settings"] == one_cluster.expected(SOME_IDS)
    assert {"subject", "reason"} == set().union(*report["aws"]["unexpressed"])
    assert report["files"] == []


def test_an_existing_project_keeps_its_files_and_models(tmp_path: Path, state: Path) -> None:
    (tmp_path / "stacks/models").mkdir(parents=True)
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    done = run("adopt", tmp_path, "--terraform", state, "--stack", "prod")
    assert done.exit_code == 0, done.output
    assert written(tmp_path)["models"] == ["stacks/models"]
    assert (tmp_path / "Pulumi.yaml").read_text() == "name: mine\nruntime: python\n"
    again = run("adopt", tmp_path, "--terraform", state, "--stack", "prod")
    assert isinstance(again.exception, WorkbenchError)
    assert "nothing was written, because these exist: Pulumi.prod.yaml" in str(again.exception)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--aws", "a", "--terraform", "b"), "--aws and --terraform: pass one of them"),
        (("--aws", "a", "--kubeconfig", "b"), "--kubeconfig: b does not exist"),
        (("--from", "a", "--context", "b"), "pass one of --kubeconfig"),
        (("--region", "us-east-1", "--from", "a"), "--region and --profile: only with --aws"),
        (("--terraform", "absent.json"), "--terraform: absent.json: cannot be read: No such file"),
    ],
)
def test_usage_errors(words: tuple[str, ...], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("adopt", "fleet", *words)
    assert isinstance(done.exception, WorkbenchError)
    assert done.exception.exit_code == 2
    assert str(done.exception).startswith(text)
