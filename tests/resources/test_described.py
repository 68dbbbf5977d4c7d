"""Instance types and Kubernetes versions that arguments of components describe, because the tables lack them."""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components.fleet.instances import instance
from components.resources.aws.cluster import Cluster
from components.resources.aws.gpu_node_groups import GpuNodeGroups
from components.resources.aws.karpenter_pools import KarpenterPools
from components.resources.kthena.model_serving import ModelServing
from components.resources.llmaz.open_model import OpenModel
from components.resources.llmaz.playground import Playground
from components.resources.llmkube.inference_service import InferenceService
from components.resources.llmkube.model import Model
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.simulated_nodes import SimulatedNodes
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.resources.aws.node_arguments import CLUSTER, PLACE

NAME, SYSTEM = "g99.2xlarge", "m99.large"
GPU = {"name": "A10G", "count": 1, "memory_gib": 24}
TYPES: dict[str, Any] = {NAME: {"vcpu": 8, "memory_gib": 32, "accelerator": GPU}}
FLAVOR: Any = {"name": "new", "limits": {"nvidia.com/gpu": "1"}, "params": {"INSTANCE-TYPE": NAME}}
NODES = {"flavors": [FLAVOR], "types": {NAME: {"ami_id": "ami-0123456789abcdef0"}}}
SELECTED = {"node.kubernetes.io/instance-type": NAME}
POD = {
    "nodeSelector": SELECTED,
    "containers": [
        {
            "name": "vllm",
            "image": "vllm/vllm-openai:v0.20.0",
            "args": ["--model", "Qwen/Qwen2-0.5B-Instruct"],
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
        }
    ],
}
Program = Callable[..., None]


def groups(**args: Any) -> None:
    cluster = {**CLUSTER, "endpoint": "https://example", "certificate_authority": "Y2E="}
    GpuNodeGroups("gpu", {**cluster, **NODES, **args})  # type: ignore[typeddict-item]


def pools(**args: Any) -> None:
    KarpenterPools("gpu", {**PLACE, "node_role_name": "nodes", **NODES, **args})  # type: ignore[typeddict-item]


def simulated(**args: Any) -> None:
    SimulatedNodes("gpu", {"flavors": [FLAVOR], **args})  # type: ignore[typeddict-item]


def playground(**args: Any) -> None:
    model = OpenModel("qwen", {"family_name": "qwen2", "model_id": "Qwen/Qwen2-0.5B", "flavors": [FLAVOR]})
    Playground("chat", {"model": model.manifest, **args})  # type: ignore[typeddict-item]


def service(**args: Any) -> None:
    model = Model(
        "tiny",
        {
            "source": "https://huggingface.co/a/b/resolve/main/c.gguf",
            "hardware": {"gpu": {"enabled": True, "count": 1}},
        },
    )
    InferenceService("tiny", {"model": model.manifest, "node_selector": SELECTED, "resources": {"gpu": 1}, **args})  # type: ignore[typeddict-item]


def serving(**args: Any) -> None:
    role = {"name": "server", "replicas": 1, "worker_replicas": 0, "entry_template": {"spec": POD}}
    ModelServing("own", {"template": {"roles": [role]}, **args})  # type: ignore[typeddict-item]


@pytest.mark.parametrize("program", [groups, pools, simulated, playground, service, serving])
def test_components_know_the_types_that_arguments_describe(program: Program) -> None:
    deploy(lambda: program(instance_types=TYPES), mock=Aws())
    assert instance(NAME) is None, "a type is known to the component that describes it alone"


@pytest.mark.parametrize("program", [groups, pools, simulated, playground, service, serving])
def test_a_type_that_nothing_describes_is_refused(program: Program) -> None:
    with pytest.raises(InvalidArguments, match="instanceTypes describes types that the tables do not have yet"):
        deploy(program, mock=Aws())


@pytest.mark.parametrize("program", [groups, pools, simulated, playground, service, serving])
def test_wrong_descriptions_are_named_by_argument(program: Program) -> None:
    wrong = {NAME: {**TYPES[NAME], "memory_gib": 0}}
    with pytest.raises(InvalidArguments, match=r"instance_types.*memory_gib"):
        deploy(lambda: program(instance_types=wrong), mock=Aws())


def cluster(**args: Any) -> Recorded:
    def program() -> None:
        fixed: Any = {
            "region": "us-east-1",
            "version": "1.35",
            "subnet_ids": ["a", "b"],
            "private_access_cidrs": ["10.0.0.0/16"],
            **args,
        }
        pulumi.export("name", Cluster("main", fixed).cluster_name)

    return deploy(program, mock=Aws())


def test_system_nodes_may_have_a_described_type() -> None:
    types = {SYSTEM: {"vcpu": 2, "memory_gib": 8, "arch": "arm64"}}
    found = cluster(system_instance_types=[SYSTEM], instance_types=types)["aws:eks/nodeGroup:NodeGroup::main-system"]
    assert found.inputs["instanceTypes"] == [SYSTEM]
    assert found.inputs["amiType"] == "AL2023_ARM_64_STANDARD"
    with pytest.raises(InvalidArguments, match="instanceTypes describes types that the tables do not have yet"):
        cluster(system_instance_types=[SYSTEM])


def test_a_cluster_may_have_a_described_version() -> None:
    """The releases are those of the description; other add-ons get the one that EKS chooses."""
    described = {"ami_releases": {"al2023": "1.37.0-20261201"}, "addons": {"kube-proxy": "v1.37.0-eksbuild.2"}}
    graph = cluster(version="1.37", kubernetes_versions={"1.37": described})
    assert graph["aws:eks/cluster:Cluster::main"].inputs["version"] == "1.37"
    assert graph["aws:eks/nodeGroup:NodeGroup::main-system"].inputs["releaseVersion"] == "1.37.0-20261201"
    assert graph["aws:eks/addon:Addon::main-kube-proxy"].inputs["addonVersion"] == "v1.37.0-eksbuild.2"
    assert "addonVersion" not in graph["aws:eks/addon:Addon::main-coredns"].inputs


def test_an_undescribed_version_is_refused_and_the_argument_named() -> None:
    with pytest.raises(InvalidArguments, match=r"unknown EKS version .1\.37.;.*kubernetesVersions"):
        cluster(version="1.37")
    with pytest.raises(InvalidArguments, match=r"kubernetes_versions.*must be a day such as"):
        cluster(version="1.37", kubernetes_versions={"1.37": {"standard_until": "soon"}})
