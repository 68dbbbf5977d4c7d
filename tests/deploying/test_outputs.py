"""What ``workbench outputs`` prints: models with their addresses, nested values as lines, and errors."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.deploying.conftest import Stage
from workbench.cli import app
from workbench.cluster import cluster as clusters
from workbench.cluster.cluster import MemberStatus
from workbench.deploying.outputs import nested_lines
from workbench.engine.state import State, StateRow

FLEET = {
    "endpoints": {
        "chat": {"api": "openai", "model": "opt", "url": "http://chat-lb.models.svc.cluster.local:8080/v1"}
    },
    "models": {"chat": {"kind": "Playground", "model": "opt", "namespace": "models", "workload": "chat"}},
    "nodes": {"g5-2xlarge": {"accelerators": 1, "instanceType": "g5.2xlarge", "nodes": 1}},
}


def deployed(stage: Stage, outputs: dict[str, Any]) -> None:
    """Leave the state of a deployment, and a cluster that runs."""
    with State(stage.folder / ".workbench/stacks", "dev") as state:
        state.write([StateRow("urn:pulumi:dev::p::kubernetes:core/v1:Namespace::n", "kubernetes:core/v1:Namespace")])
        state.set_fact("outputs", outputs)


@pytest.fixture
def cluster(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A simulated cluster that runs."""
    member = MemberStatus("etcd", 1, stage.folder)
    monkeypatch.setattr(clusters.SimulatedCluster, "status", lambda _: (member,))
    return stage


def called(stage: Stage, *words: str) -> Result:
    words = ("outputs", "--stack", "dev", "--engine", "local", "--cwd", str(stage.folder), *words)
    return CliRunner().invoke(app, words)


def test_models_are_a_table_and_other_outputs_are_lines(cluster: Stage) -> None:
    deployed(cluster, {**FLEET, "region": "eu-west-1", "hosts": ["a", "b"], "token": {"$sealed": "0"}})
    done = called(cluster)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "dev: 1 model",
        "MODEL  $/MONTH  ADDRESS",
        "chat         -  http://chat-lb.models:8080/v1",
        "hosts: a, b",
        "region: eu-west-1",
        "token: [secret]",
        "(--details: nodes; -o json: everything)",
    ]


def test_details_are_all_outputs_without_json(cluster: Stage) -> None:
    deployed(cluster, FLEET)
    lines = called(cluster, "--details").stdout.splitlines()
    start = lines.index("nodes:")
    assert lines[start : start + 5] == [
        "nodes:",
        "  g5-2xlarge:",
        "    accelerators: 1",
        "    instanceType: g5.2xlarge",
        "    nodes: 1",
    ]
    assert "    url: http://chat-lb.models.svc.cluster.local:8080/v1" in lines
    assert not any("{" in line or '"' in line for line in lines)


def test_a_program_of_its_own_has_outputs_without_models(cluster: Stage) -> None:
    deployed(cluster, {"size": 1})
    assert called(cluster).stdout == "dev: 1 output\nsize: 1\n"


def test_json_has_every_output(cluster: Stage) -> None:
    deployed(cluster, {**FLEET, "token": {"$sealed": "0"}})
    done = called(cluster, "-o", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {**FLEET, "token": "[secret]"})


@pytest.mark.parametrize("words", [(), ("-o", "json")])
def test_a_stack_that_is_not_deployed_is_an_error_with_the_next_step(cluster: Stage, words: tuple[str, ...]) -> None:
    done = called(cluster, *words)
    assert done.exit_code == 1
    assert str(done.exception) == (
        "stack 'dev' is not deployed, so it has no outputs; run `workbench up --stack dev --start-cluster`"
    )
    assert done.stdout == ("{}\n" if words else "")
    # Looking creates no state.
    assert not (cluster.folder / ".workbench/stacks").exists()


def test_a_deployment_that_failed_has_no_outputs(cluster: Stage) -> None:
    deployed(cluster, {})
    done = called(cluster)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "or its last `up` did not succeed" in str(done.exception)


def test_a_cluster_that_does_not_run_is_an_error_below_the_addresses(stage: Stage) -> None:
    deployed(stage, FLEET)
    done = called(stage)
    assert done.exit_code == 1
    assert done.stdout.startswith("dev: 1 model\n")
    assert str(done.exception) == (
        "the simulated cluster is not running, so nothing answers at these addresses; run "
        "`workbench up --stack dev --start-cluster`"
    )


def test_an_unknown_stack_names_the_known_ones(stage: Stage) -> None:
    done = CliRunner().invoke(app, ["outputs", "--stack", "prodd", "--engine", "local", "--cwd", str(stage.folder)])
    assert done.exit_code == 1
    assert str(done.exception) == "stack 'prodd' has no Pulumi.prodd.yaml; stacks with settings: dev"


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (1, ["x: 1"]),
        (True, ["x: true"]),
        (None, ["x: none"]),
        ("", ["x:"]),
        ("a\x1b[31m", ["x: a\\x1b[31m"]),
        ([], ["x: none"]),
        ({}, ["x: none"]),
        (["a", 2], ["x: a, 2"]),
        ({"b": {"c": 1}, "a": []}, ["x:", "  a: none", "  b:", "    c: 1"]),
        ([{"a": 1}, {"a": 2}], ["x:", "  1:", "    a: 1", "  2:", "    a: 2"]),
    ],
)
def test_values_are_lines(value: object, lines: list[str]) -> None:
    assert list(nested_lines("x", value)) == lines
