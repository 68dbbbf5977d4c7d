"""Waits that outlast the credentials of an update."""

import re
from typing import Any

import pytest
import yaml

from components.clouds.aws.environment import AwsEnvironment
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.contract.texts.durations import seconds
from components.families import parse
from components.fleet.timeouts import Waits
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.clouds.aws.environments import environment, flavor
from tests.fleets import open_model, service

HOUR = 3600


def reported(waits: Waits, *, replicas: int = 4, grace: int = 30, **nodes: Any) -> list[Problem]:
    """What a stack reports of a model with one GPU per replica, on nodes with one GPU."""
    where = environment(**nodes)
    container = {"name": "model-runner", "image": "vllm/vllm-openai:v0.20.0"}
    pod = {"containers": [container], "terminationGracePeriodSeconds": grace}
    documents = [
        open_model(flavors=[flavor("g6.2xlarge")]),
        service("s", "m", replicas=replicas, workloadTemplate={"workerTemplate": {"spec": pod}}),
    ]
    cloud = AwsEnvironment("us-east-1", where)
    made = plan(parse(yaml.safe_dump_all(documents)), Environment(cloud=cloud, waits=waits, file="Pulumi.dev.yaml"))
    return [p for p in made.problems if p.rule in (RuleId.UPDATE_SESSION, RuleId.UPDATE_DRAIN)]


def test_four_nodes_take_longer_than_an_hour() -> None:
    """10 minutes for the first new node, and 26 for each of four: 1 h 54 min."""
    (found,) = reported(Waits(by_stack=True, for_models=False))
    assert (found.severity, found.path) == (Severity.NOTE, "credentials.sessionDuration")
    assert "an update of node group g6-2xlarge may take up to 2h, and credentials that CI" in found.reason


def test_the_advice_ends_the_finding() -> None:
    (found,) = reported(Waits(by_stack=True))
    (setting,) = re.findall(r"set (\S+) here", found.reason)
    assert reported(Waits(by_stack=True, session=seconds(setting))) == []
    assert reported(Waits(by_stack=True, session=seconds(setting) - HOUR)) != []


def test_an_edit_that_needs_no_longer_session_leaves_the_finding_as_it_is() -> None:
    """1 h 28 min and 1 h 54 min: both need a session of two hours."""
    assert reported(Waits(by_stack=True), replicas=3) == reported(Waits(by_stack=True), replicas=4)
    assert reported(Waits(by_stack=True), replicas=3) != reported(Waits(by_stack=True), replicas=8)


def test_with_a_known_session_it_is_a_warning() -> None:
    (found,) = reported(Waits(by_stack=True, session=HOUR))
    assert found.severity is Severity.WARNING
    assert "the credentials of an update last 1 h" in found.reason


@pytest.mark.parametrize(
    "waits",
    [
        Waits(by_stack=True, session=12 * HOUR),
        Waits(),  # a program, of which nothing is known
    ],
)
def test_nothing_to_report(waits: Waits) -> None:
    assert reported(waits) == []


def test_a_session_cannot_be_longer_than_twelve_hours() -> None:
    (found,) = reported(Waits(by_stack=True), replicas=40)
    assert "no session of a role is that long" in found.reason


@pytest.mark.parametrize(("grace", "forced", "warned"), [(900, False, False), (901, False, True), (901, True, False)])
def test_pods_that_a_drain_does_not_wait_for(grace: int, *, forced: bool, warned: bool) -> None:
    """EKS gives pods 15 minutes (EKS user guide, Understand each phase of node updates)."""
    found = reported(Waits(), grace=grace, force_update=forced)
    assert [problem.rule for problem in found] == [RuleId.UPDATE_DRAIN] * warned
