"""The servers that SemiAnalysisAI/InferenceX has benchmarked: none of them may be refused (``inferencex.yaml``)."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.checks.memory.cases import Fit
from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.engines.accelerators import degrees_of
from components.engines.command_line import command_line_of
from components.engines.lint import lint
from components.engines.startup.faults import start_faults
from components.families import parse
from components.plan.plan import Plan, plan

SCRIPTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("inferencex.yaml").read_text("utf-8"))
NODES = {
    "h100": "p5.48xlarge",
    "h200": "p5en.48xlarge",
    "b200": "p6-b200.48xlarge",
    "b300": "p6-b300.48xlarge",
    "rtx6000pro": "g7e.48xlarge",
}
"""Instance types with the GPUs of the benchmarks; AWS has none of AMD's."""


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for script in SCRIPTS:
        for line in script["lines"]:
            program, *args = shlex.split(line)
            yield script, {"name": "main", "image": script["image"], "command": [program], "args": args}


def test_the_table_has_every_script_with_an_image() -> None:
    assert len(SCRIPTS) == len({script["script"] for script in SCRIPTS}) >= 118


def test_every_line_is_read_and_its_flags_are_accepted() -> None:
    refused = []
    for script, container in containers():
        line = command_line_of(container)
        assert line.reading is not None, script["script"]
        # These releases print the deprecations themselves.
        reasons = [finding.reason for finding in lint(line) if finding.rule != RuleId.FLAGS_DEPRECATED]
        reasons += [fault.reason for fault in start_faults(line)]
        refused += [(script["script"], reason) for reason in reasons]
    assert not refused


def manifest(name: str, node: str, container: Mapping[str, Any]) -> dict[str, Any]:
    degrees = degrees_of(command_line_of(container))
    assert degrees is not None
    limits = {"limits": {"nvidia.com/gpu": degrees.needed}}
    spec = {
        "nodeSelector": {"node.kubernetes.io/instance-type": node},
        "containers": [{**container, "resources": limits}],
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": spec}}},
    }


@pytest.fixture(scope="module")
def planned() -> Plan:
    objects = [
        manifest(f"s{place}", NODES[script["gpu"]], container)
        for place, (script, container) in enumerate(containers())
        if script["gpu"] in NODES
    ]
    assert len(objects) >= 60
    return plan(parse(yaml.safe_dump_all(objects)))


def test_no_server_that_ran_is_refused(planned: Plan) -> None:
    pairs = list(containers())
    assert not [
        (pairs[int(problem.name[1:])][0]["script"], problem.rule, problem.reason)
        for problem in planned.problems
        if problem.severity is Severity.ERROR
    ]


def test_most_have_a_verdict_on_their_memory(planned: Plan) -> None:
    fits = [verdict.verdict.fit for verdict in planned.verdicts]
    assert sum(fit in (Fit.FITS, Fit.TIGHT) for fit in fits) >= 55
    assert Fit.EXCEEDED not in fits
