"""Every registered resource that waits has timeouts, which settings override."""

from typing import Any

import pulumi
import pytest

from components.clouds.aws.facts.waits import does_not_wait, waits
from components.contract.texts.durations import seconds
from components.plan.timeouts.objects import SKIP_AWAIT, provider_timeouts
from components.resources.aws.bastion import Bastion
from components.resources.llmaz.playground import Playground
from components.resources.serving.arguments import InvalidArguments
from tests.clouds.aws.environments import flavor
from tests.fleets import open_model
from tests.provider_model.facts import facts_of
from tests.recorded import Entry, Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.stacks.reached import dev
from tests.stacks.shipped import ON_AWS, as_shipped, run
from workbench.engine.values import reveal

pytestmark = pytest.mark.usefixtures("here")

FULL: dict[str, Any] = {
    "modelCache": {"fsx": {"zone": "us-east-1a"}},
    "network": {"zones": ["us-east-1a", "us-east-1b"], "podCidr": "100.64.0.0/16"},
    "cluster": {"version": "1.35", "bastion": True},
    "dns": {},
}
"""Types that no shipped stack has."""
OPEN_MODEL = open_model(flavors=[flavor("g6.2xlarge")])
RELEASE = "kubernetes:helm.sh/v3:Release"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


def graphs() -> list[Recorded]:
    return [*(as_shipped(stack) for stack in ON_AWS), run("dev", **FULL)]


def is_object(entry: Entry) -> bool:
    return entry.type.startswith("kubernetes:") and "kind" in entry.inputs


def test_every_aws_resource_that_waits_has_them() -> None:
    seen = set()
    for graph in graphs():
        for entry in graph.graph:
            if not entry.type.startswith("aws:"):
                continue
            row = waits().get(entry.type)
            assert (row is None) == does_not_wait(entry.type), f"{entry.type} must be in one list of waits.yaml"
            if row is not None:
                seen.add(entry.type)
                assert entry.registration.timeouts.keys() == row[0].texts.keys(), entry.key
                for operation, text in row[0].texts.items():
                    assert seconds(entry.registration.timeouts[operation]) >= seconds(text), entry.key
    assert seen >= {NODE_GROUP, "aws:eks/cluster:Cluster", "aws:fsx/lustreFileSystem:LustreFileSystem"}


def test_every_object_that_waits_has_them() -> None:
    kinds = set()
    for graph in graphs():
        for entry in filter(is_object, graph.graph):
            provided = provider_timeouts(reveal(dict(entry.inputs)))
            if provided is not None:
                kinds.add(entry.inputs["kind"])
                assert entry.registration.timeouts.keys() >= provided.texts.keys(), entry.key
            else:
                assert "create" not in entry.registration.timeouts, entry.key
    assert kinds >= {"Deployment", "Service", "Namespace"}


def test_helm_gets_the_input_too() -> None:
    for graph in graphs():
        for entry in graph.of(RELEASE):
            assert entry.registration.timeouts == dict.fromkeys(("create", "update", "delete"), "15m")
            assert entry.inputs["timeout"] == 900, "as before: a change would upgrade every release"


def test_models_on_new_nodes_get_more_than_their_cold_start() -> None:
    """The budgets of the cold starts of the shipped stacks are 777 to 850 seconds, and the default is ten minutes."""
    for graph in map(as_shipped, ON_AWS):
        for entry in graph.of("kubernetes:apps/v1:Deployment"):
            assert seconds(entry.registration.timeouts["create"]) >= 850 * 1.25, entry.key


class TestSettings:
    def test_they_override(self) -> None:
        timeouts = {"models": "45m", "charts": "20m", "cluster": "50m", "nodeGroups": "3h", "network": "40m"}
        graph = dev(timeouts=timeouts, prerequisites={"install": True})
        expected = {
            "kubernetes:apps/v1:Deployment": "45m",
            RELEASE: "20m",
            "aws:eks/cluster:Cluster": "50m",
            NODE_GROUP: "3h",
            "aws:ec2/natGateway:NatGateway": "40m",
        }
        for type_, text in expected.items():
            found = graph.of(type_)
            assert found, type_
            for entry in found:
                assert set(entry.registration.timeouts.values()) == {text}, entry.key
        assert {entry.inputs["timeout"] for entry in graph.of(RELEASE)} == {20 * 60}
        # The provider has no timeout for the update of a subnet, and would warn about one.
        assert dict(graph.of("aws:ec2/subnet:Subnet")[0].registration.timeouts) == {"create": "40m", "delete": "40m"}

    @pytest.mark.parametrize("text", ["30", "0s", "soon", "1d"])
    def test_they_are_durations(self, text: str) -> None:
        with pytest.raises(pulumi.RunError, match=r"timeouts.models: must be a duration such as 30m"):
            dev(timeouts={"models": text})

    def test_models_need_not_be_awaited(self) -> None:
        waiting, not_waiting = (dev(waitForModels=value) for value in (True, False))

        def skipped(graph: Recorded) -> set[str]:
            return {
                entry.inputs["kind"]
                for entry in filter(is_object, graph.graph)
                if (entry.inputs["metadata"].get("annotations") or {}).get(SKIP_AWAIT) == "true"
            }

        assert skipped(waiting) == set()
        assert skipped(not_waiting) == {"Deployment", "Service"}
        assert [entry.key for entry in waiting.graph] == [entry.key for entry in not_waiting.graph]


def awaited(graph: Recorded) -> dict[str, set[str]]:
    """Return the values of ``pulumi.com/waitFor``, by kind."""
    found: dict[str, set[str]] = {}
    for entry in filter(is_object, graph.graph):
        condition = (entry.inputs["metadata"].get("annotations") or {}).get("pulumi.com/waitFor")
        if condition:
            found.setdefault(entry.inputs["kind"], set()).add(condition)
            assert {"create", "update", "delete"} <= entry.registration.timeouts.keys(), entry.key
    return found


class TestConditions:
    """Kinds that the provider does not know are awaited by the condition that their controllers set."""

    def test_groups_of_pods(self) -> None:
        graph = as_shipped("prod")
        assert awaited(graph) == {"LeaderWorkerSet": {"condition=Available"}}
        for entry in graph.of("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"):
            assert seconds(entry.registration.timeouts["create"]) > 850 * 1.25

    def test_resources_of_operators(self) -> None:
        models = [
            f"stacks/models/{name}.yaml" for name in ("qwen-chat", "llmkube-vllm-qwen32b", "kthena-serving-gang")
        ]
        settings: dict[str, Any] = {"hardening": {}, "runtimes": "upstream"}
        graph = run("dev", realization="operator", models=models, gpuNodes={"zones": ["us-east-1a"]}, **settings)
        assert awaited(graph) == {
            "Playground": {"condition=Available"},
            "InferenceService": {"condition=Available"},
            "ModelServing": {"condition=Available"},
        }

    def test_nothing_where_no_controller_runs(self) -> None:
        assert awaited(dev(simulatedNodes=True, models=["stacks/models/llama-405b-multinode.yaml"])) == {}

    def test_nothing_if_models_are_not_awaited(self) -> None:
        graph = run("prod", waitForModels=False)
        assert awaited(graph) == {}
        for entry in graph.of("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"):
            assert entry.inputs["metadata"]["annotations"][SKIP_AWAIT] == "true"


class TestComponents:
    def test_an_argument_overrides(self) -> None:
        def program() -> None:
            Bastion(
                "b",
                {
                    "region": "us-east-1",
                    "vpc_id": "vpc-1",
                    "subnet_id": "subnet-1",
                    "cluster_security_group_id": "sg-1",
                    "timeouts": {"cluster": "33m"},
                },
            )

        graph = deploy(program, mock=Aws())
        assert set(graph.of("aws:ec2/instance:Instance")[0].registration.timeouts.values()) == {"33m"}

    def test_a_caller_may_set_others(self) -> None:
        """By a transformation, as in any program."""

        def longer(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
            if args.type_ != "aws:ec2/instance:Instance":
                return None
            own = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="2h"))
            return pulumi.ResourceTransformationResult(args.props, pulumi.ResourceOptions.merge(args.opts, own))

        def program() -> None:
            args = {"region": "us-east-1", "vpc_id": "v", "subnet_id": "s", "cluster_security_group_id": "g"}
            Bastion("b", args, pulumi.ResourceOptions(transformations=[longer]))  # type: ignore[arg-type]

        graph = deploy(program, mock=Aws())
        assert dict(graph.of("aws:ec2/instance:Instance")[0].registration.timeouts) == {"create": "2h"}

    def test_a_component_of_one_model(self) -> None:
        def program() -> None:
            Playground("awaited", {"model": OPEN_MODEL, "ready_timeout": "50m"})
            Playground("not-awaited", {"model": OPEN_MODEL, "ready_timeout": "50m", "wait_until_ready": False})

        graph = deploy(program)
        for name, skipped in (("awaited", None), ("not-awaited", "true")):
            entry = graph[f"kubernetes:apps/v1:Deployment::{name}"]
            assert entry.registration.timeouts["update"] == "50m"
            assert (entry.inputs["metadata"].get("annotations") or {}).get(SKIP_AWAIT) == skipped

    def test_its_timeout_is_a_duration(self) -> None:
        def program() -> None:
            Playground("p", {"model": OPEN_MODEL, "ready_timeout": "soon"})

        with pytest.raises(InvalidArguments, match="ready_timeout: must be a duration such as 30m"):
            deploy(program)


def test_the_table_agrees_with_the_model_of_the_provider() -> None:
    """Both are copied from the provider's source, independently of each other."""
    for type_, (timeouts, _) in waits().items():
        limits = {operation: minutes * 60 for operation, minutes in facts_of(type_).limits.items()}
        assert {key: value for key, value in timeouts._asdict().items() if value is not None} == limits, type_


def test_the_deletion_of_a_pool_waits_until_its_models_serve_elsewhere() -> None:
    """With disruption budgets, one replica after the other has to start on another node before the next one moves."""
    pools = "kubernetes:karpenter.sh/v1:NodePool"
    changes: dict[str, Any] = {
        "gpuNodes": {"provisioner": "karpenter"},
        "models": ["stacks/models/gemma-elastic.yaml"],
    }
    times = {}
    for budgets in (False, True):
        graph = dev(hardening={"disruptionBudgets": budgets}, **changes)
        times[budgets] = max(seconds(entry.registration.timeouts["delete"]) for entry in graph.of(pools))
    assert times[False] == 30 * 60
    (deployment,) = dev(**changes).of("kubernetes:apps/v1:Deployment")
    assert times[True] >= seconds(deployment.registration.timeouts["create"])
    assert times[True] > 30 * 60


@pytest.mark.parametrize("awaited", [True, False])
def test_services_of_a_door_wait_for_the_pods_of_models(awaited: bool) -> None:
    """The provider waits for each Service until its pods are ready, whichever component creates it."""
    graph = dev(frontDoor={"expose": "load-balancer", "internal": True}, waitForModels=awaited)
    services = [entry for entry in graph.of("kubernetes:core/v1:Service") if "-front-door-" in entry.name]
    longest = max(
        seconds(entry.registration.timeouts["create"]) for entry in graph.of("kubernetes:apps/v1:Deployment")
    )
    assert services
    for entry in services:
        skips = (entry.inputs["metadata"].get("annotations") or {}).get(SKIP_AWAIT) == "true"
        assert skips is not awaited
        assert seconds(entry.registration.timeouts["create"]) >= longest
