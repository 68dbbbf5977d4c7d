"""Two engines behind one endpoint, and a StatefulSet, go through everything without a change elsewhere."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.checks.front_door.settings import Door
from components.checks.front_door.words import Exposure
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity
from components.families import load
from components.fleet.nodes.groups import node_groups
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from tests.families.program import Project, new_project, registered
from tests.hostile.runs import Printed, run
from tests.toy.family import FAMILY
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "tests" / "toy" / "blend.yaml"
SETS = {"mix-first", "mix-second", "mix-kept", "chat"}


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(FAMILY):
        yield


def planned(environment: Environment | None = None) -> Plan:
    return plan(load([MANIFESTS]), environment or Environment())


def command(*words: str) -> Printed:
    return run(words[0], *words[1:], str(MANIFESTS))


class TestCommands:
    def test_validate(self) -> None:
        assert command("validate").code == 0

    def test_validate_finds_a_fault_at_its_field(self, tmp_path: Path) -> None:
        (tmp_path / "wrong.yaml").write_text(MANIFESTS.read_text().replace("keptReplicas: 2", "keptReplicas: 0"))
        done = run("validate", str(tmp_path / "wrong.yaml"), "--output", "lines")
        assert done.code == 1
        assert "Nudge/more-of-kept: spec.workload: no StatefulSet named 'mix-kept'" in done.stdout + done.stderr

    def test_render(self) -> None:
        bodies = {
            (each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(command("render").stdout)
        }
        assert set(bodies) == {
            *(("Deployment", name) for name in ("mix-first", "mix-second", "chat")),
            ("StatefulSet", "mix-kept"),
            *(("Service", name) for name in ("mix", "mix-kept", "chat-lb")),
            *(("HorizontalPodAutoscaler", name) for name in ("more-of-kept", "more-of-chat")),
        }
        selector = bodies["Service", "mix"]["spec"]["selector"].items()
        labels = {
            name: body["spec"]["template"]["metadata"]["labels"].items()
            for (kind, name), body in bodies.items()
            if kind in ("Deployment", "StatefulSet")
        }
        assert {name for name, own in labels.items() if selector <= own} == {"mix-first", "mix-second"}
        assert "replicas" not in bodies["StatefulSet", "mix-kept"]["spec"]
        assert "replicas" not in bodies["Deployment", "chat"]["spec"]

    def test_explain(self) -> None:
        lines = " ".join(command("explain", "Blend/mix", "--all").stdout.split())  # without the breaks of lines
        assert "Deployment/mix-first: pod containers[server].args --model Qwen/Qwen2-7B-Instruct" in lines
        assert "Deployment/mix-second: pod containers[server].args --model-path Qwen/Qwen2-7B-Instruct" in lines
        assert "StatefulSet/mix-kept: pod containers[server].image = vllm/vllm-openai:v0.20.0" in lines


class TestPlan:
    def test_nodes_are_counted_for_all_three_workloads(self) -> None:
        # At rest 2 + 1 of the Deployments, and the least replicas of two autoscalers; at most 3 and 4 of these.
        # One more each for the Playground's rolling update; Deployments that are recreated have no surge.
        (group,) = node_groups(planned().fleet)
        assert (group.instance_type, group.nodes) == ("g5.2xlarge", 2 + 1 + 1 + 1)
        assert group.max_nodes >= 2 + 1 + 3 + 4

    def test_each_workload_is_scraped_by_the_metrics_of_its_engine(self) -> None:
        found = planned()
        assert {monitor["metadata"]["name"] for monitor in found.chain.monitors} == SETS
        engines = {each.name: each.server.line.engine for _, each in found.fleet.workloads}
        assert engines == {"mix-first": "vllm", "mix-second": "sglang", "mix-kept": "vllm", "chat": "vllm"}

    def test_one_endpoint_leads_to_both_deployments(self) -> None:
        door = Door(expose=Exposure.GATEWAY, internal=True, allow_anonymous=True)
        objects = planned(Environment(door=door)).door.objects
        (route,) = (body for body in objects if body["kind"] == "AIGatewayRoute")
        rules = {rule["matches"][0]["headers"][0]["value"]: rule["backendRefs"] for rule in route["spec"]["rules"]}
        assert set(rules) == {"mix", "mix-kept", "qwen2-7b"}
        assert [each["weight"] for each in rules["mix"]] == [2, 1]

    def test_policies_and_hardening(self) -> None:
        found = planned(
            Environment(network_policies=True, hardening=Hardening(PodSecurity.BASELINE, disruption_budgets=True))
        )
        policies = {each["metadata"]["name"]: each["spec"]["podSelector"]["matchLabels"] for each in found.policies}
        assert set(policies) == SETS
        assert policies["mix-kept"]["toy.example/part"] == "mix-kept"
        pods = [each.front["spec"] for _, each in found.fleet.workloads if each.name.startswith("mix-")]
        assert [pod["automountServiceAccountToken"] for pod in pods] == [False] * 3


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the manifests of a Blend, and network policies for its pods."""
    return new_project(
        tmp_path,
        "blend",
        "tests.toy.family",
        MANIFESTS.read_text(),
        namespace="blends",
        hardening={"networkPolicies": True},
    )


def test_preview(project: Project) -> None:
    done = project.workbench("preview", "--offline", "--details")
    assert done.returncode == 0, done.stderr
    for line in ("fleet-blends/mix-first", "fleet-blends/mix-second", "fleet-blends/mix-kept"):
        assert line in done.stdout


def test_up_and_destroy_on_the_simulated_cluster(project: Project, cluster: Running) -> None:
    here = ("--kubeconfig", str(cluster.kubeconfig), "--yes")
    up = project.workbench("up", *here)
    again = project.workbench("up", *here)
    shown = project.workbench("outputs", "--output", "json")
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        pods = {pod["metadata"]["name"] for pod in kube.list("v1", "Pod", "blends")}
        policies = {each["metadata"]["name"] for each in kube.list("networking.k8s.io/v1", "NetworkPolicy", "blends")}
        down = project.workbench("destroy", *here)
        left = [n["metadata"]["name"] for n in kube.list("v1", "Namespace") if n["metadata"]["name"] == "blends"]
    assert [done.returncode for done in (up, again, shown, down)] == [0] * 4, up.stderr + again.stderr + down.stderr
    assert again.stdout.startswith("blend: no changes in ")
    assert {name.rpartition("-")[0] for name in pods if name.startswith("mix-kept")} == {"mix-kept"}
    assert len([name for name in pods if name.startswith(("mix-first-", "mix-second-"))]) == 3
    assert policies == SETS
    outputs = json.loads(shown.stdout)
    mix = outputs["models"]["mix"]
    # 2 of vLLM, 1 of SGLang, and at least 1 of the StatefulSet, which an autoscaler owns.
    assert mix["replicas"] == 2 + 1 + 1
    assert mix["workloads"] == ["mix-first", "mix-second", "mix-kept"]
    assert outputs["endpoints"]["mix"]["url"] == "http://mix.blends.svc.cluster.local:80/v1"
    assert outputs["endpoints"]["mix-kept"]["model"] == "mix-kept"
    assert left == []
