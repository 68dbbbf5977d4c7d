"""Findings that annotations and settings ignore, and what is wrong with ignoring."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components.checks.front_door.settings import Door
from components.checks.front_door.words import Exposure
from components.contract.findings.annotations import PREFIX
from components.contract.findings.ids import FINAL, RuleId
from components.contract.problems import Problem, Severity, field_path
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.fleets import GPU, open_model, playground
from tests.layers.modules import ROOT
from tests.plan.faults import CASES, Fault
from tests.plan.test_one_plan import documents
from workbench.cli import app

Object = dict[str, Any]
TWO_GPUS = open_model(flavors=[{**GPU, "limits": {"nvidia.com/gpu": 2}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
RIGHT = open_model(flavors=[{**GPU, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
SAMPLES = [*ROOT.glob("stacks/models/*.yaml"), *ROOT.glob("stacks/variants/*.yaml"), *ROOT.glob("stacks/spot/*.yaml")]


def ignoring(body: Object, **reasons: str) -> Object:
    """Return an object that ignores rules, their ids written with ``_``."""
    body = copy.deepcopy(body)
    annotations = {f"{PREFIX}{name.replace('_', '-')}": reason for name, reason in reasons.items()}
    body["metadata"]["annotations"] = {**body["metadata"].get("annotations", {}), **annotations}
    return body


def planned(*bodies: Object, environment: Environment | None = None) -> Plan:
    return plan(objects(bodies), environment or Environment())


def told(result: Plan) -> list[tuple[str, str, str]]:
    return [(each.rule, each.severity, each.path.rpartition("/")[2].rstrip("]")) for each in result.problems]


def test_nothing_is_ignored_by_itself() -> None:
    result = planned(TWO_GPUS, playground())
    assert [(each.rule, each.is_error) for each in result.problems] == [(RuleId.NODES_TOO_SMALL, True)]
    assert result.ignored == ()


def test_a_finding_is_ignored_with_its_reason() -> None:
    result = planned(TWO_GPUS, ignoring(playground(), nodes_too_small="two GPUs are shared as four"))
    assert result.problems == ()
    (ignored,) = result.ignored
    assert ignored.reason == ignored.problem.ignored == "two GPUs are shared as four"
    assert ignored.problem.rule is RuleId.NODES_TOO_SMALL
    assert ignored.problem.severity is Severity.ERROR
    assert [item.name for item in result.fleet.rendered] == ["p"], "it is made all the same"


def test_another_rule_is_not() -> None:
    result = planned(TWO_GPUS, ignoring(playground(), flags_unknown="our own build"))
    assert [(rule, severity) for rule, severity, _ in told(result)] == [("nodes-too-small", "error")]


def test_what_speaks_of_one_resource_says_nothing_of_another() -> None:
    """Two of one name in two namespaces, of one file and without lines."""
    first, second = playground(), playground()
    first["metadata"]["namespace"], second["metadata"]["namespace"] = "a", "b"
    result = planned(TWO_GPUS, ignoring(first, nodes_too_small="shared"), second)
    assert [(each.namespace, each.rule) for each in result.problems] == [("b", RuleId.NODES_TOO_SMALL)]
    assert [each.problem.namespace for each in result.ignored] == ["a"]


def test_an_annotation_of_the_other_namespace_finds_nothing() -> None:
    flawed, right = playground(backendRuntimeConfig={"args": ["--no-such"]}), playground()
    flawed["metadata"]["namespace"], right["metadata"]["namespace"] = "a", "b"
    bodies = (ignoring(flawed, flags_unknown="own build"), ignoring(right, flags_unknown="own build"))
    result = planned(RIGHT, *bodies)
    assert [(each.namespace, each.rule) for each in result.problems] == [("b", RuleId.IGNORE_UNUSED)]


MISTAKES = [
    ({"flags_unknwon": "x"}, [("ignore-wrong", "error", "flags-unknwon")], "did you mean 'flags-unknown'?"),
    ({"contract": "x"}, [("ignore-wrong", "error", "contract")], "contract cannot be ignored"),
    ({"settings": "x"}, [("ignore-wrong", "error", "settings")], "settings cannot be ignored"),
    ({"flags_unknown": ""}, [("ignore-wrong", "error", "flags-unknown")], "needs a reason"),
    ({"flags_unknown": " \n"}, [("ignore-wrong", "error", "flags-unknown")], "needs a reason"),
    (
        {"flags_unknown": "x"},
        [("ignore-unused", "warning", "flags-unknown")],
        "flags-unknown has no finding here",
    ),
    ({"flags_unknown": "x", "ignore_unused": "only in prod"}, [], ""),
    ({"ignore_unused": "x"}, [], ""),
]


@pytest.mark.parametrize(("reasons", "found", "reason"), MISTAKES, ids=[str(n) for n in range(len(MISTAKES))])
def test_mistakes(reasons: dict[str, str], found: list[tuple[str, str, str]], reason: str) -> None:
    result = planned(RIGHT, ignoring(playground(), **reasons))
    assert told(result) == found
    assert all(reason in each.reason for each in result.problems)


@pytest.mark.parametrize("name", sorted(FINAL))
def test_what_is_final_cannot_be_ignored(name: RuleId) -> None:
    result = planned(RIGHT, ignoring(playground(), **{name: "I know better"}))
    assert told(result) == [("ignore-wrong", "error", str(name))]


def test_an_error_of_the_contract_stays() -> None:
    result = planned(ignoring(playground(replicas=-1), contract="x"), open_model())
    assert [each.rule for each in result.problems if each.is_error] == [RuleId.CONTRACT]


def test_what_depends_on_the_place_is_missed_only_where_that_is_known() -> None:
    body = ignoring(playground(), nodes_pending="prod alone")
    assert told(planned(RIGHT, body)) == []
    somewhere = Environment(cluster=ClusterFacts())
    assert told(planned(RIGHT, body, environment=somewhere)) == [("ignore-unused", "warning", "nodes-pending")]


def test_nothing_is_missed_beside_an_error() -> None:
    """A pod that is not made has no findings; the annotation may be right."""
    result = planned(ignoring(playground(model="absent"), flags_unknown="x"))
    assert [rule for rule, _, _ in told(result)] == ["reference-missing"]


def test_secrets_in_reasons_are_masked() -> None:
    token = "hf_" + "aB3" * 11
    result = planned(TWO_GPUS, ignoring(playground(), nodes_too_small=f"says {token}\nerror: forged"))
    (ignored,) = result.ignored
    assert token not in ignored.reason
    assert "\n" not in ignored.reason


def _door() -> Environment:
    """A gateway in a private network, without TLS and authentication."""
    return Environment(door=Door(expose=Exposure.GATEWAY, internal=True), file="Pulumi.x.yaml")


def test_findings_of_settings_are_ignored_by_settings() -> None:
    anonymous = _door()
    bodies = (RIGHT, playground())
    before = [each for each in planned(*bodies, environment=anonymous).problems if not each.kind]
    assert RuleId.ACCESS_ANONYMOUS in {each.rule for each in before}
    result = planned(*bodies, environment=replace(anonymous, ignore={"access-anonymous": "behind a VPN"}))
    assert [(each.problem.rule, each.reason) for each in result.ignored] == [("access-anonymous", "behind a VPN")]
    assert RuleId.ACCESS_ANONYMOUS not in {each.rule for each in result.problems}


@pytest.mark.parametrize(
    ("ignore", "rule", "part"),
    [
        ({"acces-anonymous": "x"}, "ignore-wrong", "did you mean 'access-anonymous'?"),
        ({"settings": "x"}, "ignore-wrong", "settings cannot be ignored"),
        ({"access-anonymous": ""}, "ignore-wrong", "needs a reason"),
        ({"field-no-effect": "x"}, "ignore-unused", "has no effect: rule field-no-effect has no finding here"),
    ],
    ids=["unknown", "final", "no reason", "unused"],
)
def test_mistakes_in_settings(ignore: dict[str, str], rule: str, part: str) -> None:
    bodies = (RIGHT, playground())
    result = planned(*bodies, environment=Environment(ignore=ignore, file="Pulumi.x.yaml"))
    (problem,) = result.problems
    assert (problem.file, problem.rule, problem.path) == (
        "Pulumi.x.yaml",
        rule,
        field_path(("ignore", next(iter(ignore)))),
    )
    assert part in problem.reason


def test_a_setting_says_nothing_of_resources() -> None:
    result = planned(TWO_GPUS, playground(), environment=Environment(ignore={"nodes-too-small": "x"}))
    assert [rule for rule, severity, _ in told(result) if severity == "error"] == ["nodes-too-small"]


IGNORABLE = [
    (kind, fault)
    for kind, fault in CASES
    if not FINAL & {each.rule for each in planned(*documents(kind, fault)).problems if each.is_error}
]


@pytest.mark.parametrize(("kind", "fault"), IGNORABLE, ids=lambda value: getattr(value, "path", value))
def test_an_ignored_error_leaves_nothing_out(kind: str, fault: Fault) -> None:
    """What has an error that may be ignored is made, and so is all that depends on it."""
    bodies = documents(kind, fault)
    wrong = {each.rule for each in planned(*bodies).problems if each.is_error}
    assert wrong
    served = ignoring(bodies[-1], **dict.fromkeys(wrong, "known"))
    result = planned(*bodies[:-1], served)
    assert [each for each in result.problems if each.is_error] == []
    assert {each.problem.rule for each in result.ignored if each.problem.severity == Severity.ERROR} == wrong
    assert [item.name for item in result.fleet.rendered if item.workloads] == ["s"]


def test_some_errors_may_be_ignored() -> None:
    assert len(IGNORABLE) > 5


def documents_in(file: Path) -> list[Object]:
    return [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]


def _made(bodies: list[Object], realization: Realization) -> Iterator[Object]:
    """What is created of all samples; what no operator makes of them is of no matter here."""
    options = Options(realization=realization, namespace="models")
    return planned(*bodies, environment=Environment(options=options, other_kinds=OtherKinds.SKIP)).objects


@pytest.mark.parametrize("realization", list(Realization))
def test_annotations_that_ignore_reach_nothing_that_is_created(realization: Realization) -> None:
    bodies = [body for file in SAMPLES for body in documents_in(file)]
    once, twice = ([ignoring(body, flags_unknown=why) for body in bodies] for why in ("one reason", "another"))
    plain, first, second = (list(_made(each, realization)) for each in (bodies, once, twice))
    assert len(plain) > 30
    assert first == second == plain
    assert PREFIX not in json.dumps(first)


def test_the_command_lists_what_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    body = ignoring(playground(), nodes_too_small="two GPUs are shared as four")
    file.write_text(yaml.safe_dump_all([TWO_GPUS, body]))
    done = CliRunner().invoke(app, ["validate", str(file)])
    assert done.exit_code == 0, done.output
    assert done.stdout == "2 resources in 1 file: 0 errors, 1 ignored (--details: ignored findings)\n"
    lines = CliRunner().invoke(app, ["validate", str(file), "--details"]).stdout.splitlines()
    assert lines[0].startswith(f"ignored[nodes-too-small] {file}:")
    assert "  reason: two GPUs are shared as four" in lines
    (line,) = CliRunner().invoke(app, ["validate", str(file), "--output", "lines"]).stdout.splitlines()
    assert line.endswith("[nodes-too-small] (ignored: two GPUs are shared as four)")
    found = json.loads(CliRunner().invoke(app, ["validate", str(file), "--output", "json"]).stdout)
    assert [(each["rule"], each["ignored"]) for each in found] == [("nodes-too-small", "two GPUs are shared as four")]


def test_a_problem_that_is_ignored_is_no_error() -> None:
    problem = Problem(
        file="f", line=1, kind="K", name="n", path="spec", reason="is wrong", rule=RuleId.NODES_TOO_SMALL
    )
    assert problem.is_error
    assert not replace(problem, ignored="because").is_error
