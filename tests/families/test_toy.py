"""A family that lives beside the tests goes through everything, with no change but its registration."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components.checks.front_door.settings import Door
from components.checks.front_door.words import Exposure
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity
from components.families import load, parse
from components.fleet.nodes.groups import node_groups
from components.fleet.rendered import Fleet
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from tests.families.program import Project, new_project, registered
from tests.toy.family import FAMILY
from toolkit.kube import Kube
from workbench.cli import app
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "tests" / "toy" / "fleet.yaml"


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(FAMILY):
        yield


def planned(environment: Environment | None = None, text: str = "") -> Plan:
    manifests = parse(text) if text else load([MANIFESTS])
    return plan(manifests, environment or Environment())


def workload(fleet: Fleet, name: str) -> Any:
    return next(each for _, each in fleet.workloads if each.name == name)


def command(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def edited(**changes: Any) -> str:
    """The manifests with another spec of what is named, by Kind."""
    documents = list(yaml.safe_load_all(MANIFESTS.read_text()))
    for document in documents:
        document["spec"] |= changes.get(document["kind"], {})
    return yaml.safe_dump_all(documents)


class TestCommands:
    def test_validate(self) -> None:
        assert command("validate", str(MANIFESTS)).exit_code == 0

    @pytest.mark.parametrize(
        ("changes", "path", "reason"),
        [
            ({"Pair": {"first": 0, "second": 0}}, "spec.second", "must be above 0"),
            ({"Pair": {"gpus": 2}}, "spec.machine", "set gpus to 1"),
            ({"Pair": {"machine": "g5.3xlarge"}}, "spec.machine", "machine 'g5.3xlarge' is not a known instance"),
            ({"Nudge": {"workload": "nobody"}}, "spec.workload", "no Deployment named 'nobody'"),
            ({"Nudge": {"metric": "vllm:num_request_waiting"}}, "spec.metric", "did you mean"),
            ({"Nudge": {"perPod": "0"}}, "spec.perPod", "above 0"),
            ({"Nudge": {"most": 0}}, "spec.most", "at least 1"),
            ({"Pair": {"frist": 1}}, "spec.frist", "did you mean 'first'?"),
        ],
    )
    def test_validate_finds_faults_at_their_field(
        self, changes: dict[str, Any], path: str, reason: str, tmp_path: Path
    ) -> None:
        file = tmp_path / "wrong.yaml"
        file.write_text(edited(**changes))
        done = command("validate", str(file), "--output", "json")
        found = [(p["path"], p["reason"]) for p in json.loads(done.output) if p["severity"] == "error"]
        assert done.exit_code == 1
        assert any(where == path and reason in why for where, why in found), found

    def test_a_second_autoscaler_names_the_first(self, tmp_path: Path) -> None:
        again = {
            "apiVersion": "toy.example/v1",
            "kind": "Nudge",
            "metadata": {"name": "once-more"},
            "spec": {"workload": "chat", "most": 2},
        }
        file = tmp_path / "twice.yaml"
        file.write_text(f"{MANIFESTS.read_text()}---\n{yaml.safe_dump(again)}")
        done = command("validate", str(file), "--output", "lines")
        assert done.exit_code == 1
        assert "Nudge/once-more: spec.workload: " in done.output
        assert "'more-of-chat' of Nudge/more-of-chat" in done.output

    def test_render(self) -> None:
        done = command("render", str(MANIFESTS))
        names = {(body["kind"], body["metadata"]["name"]) for body in yaml.safe_load_all(done.stdout)}
        assert done.exit_code == 0
        assert names == {
            *(("Deployment", name) for name in ("duo-first", "duo-second", "chat")),
            *(("Service", name) for name in ("duo-first", "duo-second", "chat-lb")),
            *(("HorizontalPodAutoscaler", name) for name in ("more-of-duo", "more-of-chat")),
        }

    def test_explain(self) -> None:
        pair = command("explain", "Pair/duo", str(MANIFESTS), "--all").output
        nudge = command("explain", "Nudge/more-of-chat", str(MANIFESTS), "--all").output
        assert "Deployment/duo-first, duo-second: pod containers[server].args[0] = org/model" in pair
        assert "endpoint of duo-second: model = org/model:second" in pair
        assert "HorizontalPodAutoscaler/more-of-chat: spec.maxReplicas = 4" in nudge

    def test_crds_and_schemas(self) -> None:
        crd = yaml.safe_load(command("crds", "Pair").stdout)
        assert crd["metadata"]["name"] == "pairs.toy.example"
        assert "toy.example/v1/Nudge" in json.loads(command("schema", "Nudge").stdout)


class TestPlan:
    def test_an_autoscaler_owns_the_replicas_of_another_resource_workload(self) -> None:
        fleet = planned().fleet
        assert "replicas" not in workload(fleet, "chat").body["spec"]
        assert "replicas" not in workload(fleet, "duo-first").body["spec"]
        assert workload(fleet, "duo-second").body["spec"]["replicas"] == 2

    def test_nodes_are_counted_for_both_workloads_and_for_what_is_scaled(self) -> None:
        (group,) = node_groups(planned().fleet)
        assert (group.instance_type, group.nodes, group.max_nodes) == ("g5.2xlarge", 4, 9)

    def test_metrics(self) -> None:
        chain = planned().chain
        assert {m["metadata"]["name"] for m in chain.monitors} == {"duo-first", "duo-second", "chat"}
        assert [rule["name"]["as"] for rule in chain.adapter_rules["custom"]] == ["vllm:num_requests_waiting"]
        assert sorted(chain.needs["prometheus"]) == ["Nudge/more-of-chat", "Nudge/more-of-duo"]

    def test_the_door_leads_to_each_endpoint(self) -> None:
        door = Door(expose=Exposure.GATEWAY, internal=True, allow_anonymous=True)
        objects = planned(Environment(door=door)).door.objects
        (route,) = (body for body in objects if body["kind"] == "AIGatewayRoute")
        models = [rule["matches"][0]["headers"][0]["value"] for rule in route["spec"]["rules"]]
        assert models == ["org/model:first", "org/model:second", "qwen2-7b"]
        backends = {body["metadata"]["name"] for body in objects if body["kind"] == "Backend"}
        assert backends == {"duo-first", "duo-second", "chat"}

    def test_policies_and_hardening(self) -> None:
        found = planned(
            Environment(network_policies=True, hardening=Hardening(PodSecurity.BASELINE, disruption_budgets=True))
        )
        policies = {p["metadata"]["name"]: p["spec"] for p in found.policies}
        assert set(policies) == {"duo-first", "duo-second", "chat"}
        assert policies["duo-second"]["podSelector"]["matchLabels"]["toy.example/stage"] == "second"
        budgets = [b for item in found.fleet.rendered for b in item.objects if b["kind"] == "PodDisruptionBudget"]
        assert {b["metadata"]["name"] for b in budgets} == {"duo-first", "duo-second", "chat"}
        pod = workload(found.fleet, "duo-first").front["spec"]
        assert pod["automountServiceAccountToken"] is False


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the toy's manifests."""
    return new_project(tmp_path, "toy", "tests.toy.family", MANIFESTS.read_text(), namespace="toys")


def test_preview(project: Project) -> None:
    done = project.workbench("preview", "--offline", "--details")
    assert done.returncode == 0, done.stderr
    for line in ("index:Pair ", "fleet-toys/duo-first", "fleet-toys/duo-second", "fleet-toys/more-of-chat"):
        assert line in done.stdout


def test_up_and_destroy_on_the_simulated_cluster(project: Project, cluster: Running) -> None:
    here = ("--kubeconfig", str(cluster.kubeconfig), "--yes")
    up = project.workbench("up", *here)
    again = project.workbench("up", *here)
    shown = project.workbench("outputs", "--output", "json")
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        pods = [pod["spec"]["nodeName"] for pod in kube.list("v1", "Pod", "toys")]
        scalers = {s["metadata"]["name"] for s in kube.list("autoscaling/v2", "HorizontalPodAutoscaler", "toys")}
        down = project.workbench("destroy", *here)
        left = [n["metadata"]["name"] for n in kube.list("v1", "Namespace") if n["metadata"]["name"] == "toys"]
        nodes = [n["metadata"]["name"] for n in kube.list("v1", "Node") if n["metadata"]["name"].startswith("g5-")]
    assert [done.returncode for done in (up, again, shown, down)] == [0] * 4, up.stderr + again.stderr + down.stderr
    assert again.stdout.startswith("toy: no changes in ")
    assert len(pods) == 4
    assert all(node.startswith("g5-2xlarge-") for node in pods)
    assert scalers == {"more-of-duo", "more-of-chat"}
    outputs = json.loads(shown.stdout)
    assert outputs["endpoints"]["duo-second"]["url"] == "http://duo-second.toys.svc.cluster.local:80/v1"
    assert outputs["models"]["duo"]["workloads"] == ["duo-first", "duo-second"]
    assert outputs["nodes"]["g5-2xlarge"]["nodes"] == 4
    assert (left, nodes) == ([], [])
