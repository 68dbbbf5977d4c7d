"""What InferenceServices ask of nodes."""

import pytest

from components.fleet.nodes.fit import fit
from components.fleet.nodes.groups import node_groups
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    GPUS,
    Object,
    isvc,
    model,
    pod,
    problem,
    served,
)
from tests.fleets import fleet_of


class TestNodes:
    def test_the_selectors_instance_type_makes_a_node_group(self) -> None:
        fleet = fleet_of(isvc(replicas=2, **GPUS), model())
        (group,) = node_groups(fleet)
        assert (group.instance_type, group.nodes) == ("g5.12xlarge", 1)
        assert group.taints == ({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},)
        (demand,) = served(isvc(replicas=2, **GPUS), model()).pods
        assert (demand.pods, demand.surge_pods) == (2, 0)
        assert demand.requests == {"nvidia.com/gpu": 2}
        assert not [p for p in fit(fleet) if p.severity == "error"]

    @pytest.mark.parametrize(
        "selector",
        [
            G5,
            {"beta.kubernetes.io/instance-type": "g5.12xlarge"},
            {"karpenter.k8s.aws/instance-family": "g5", "karpenter.k8s.aws/instance-size": "12xlarge"},
        ],
    )
    def test_labels_of_eks_and_karpenter_name_it_too(self, selector: Object) -> None:
        item = served(isvc(resources={"gpu": 1}, nodeSelector=selector), model())
        assert item.pods[0].choices[0].instance_type == "g5.12xlarge"
        assert pod(isvc(resources={"gpu": 1}, nodeSelector=selector), model())["nodeSelector"] == selector

    def test_how_nodes_are_bought_and_where_goes_with_the_selector(self) -> None:
        selector = {**G5, "eks.amazonaws.com/capacityType": "SPOT", "topology.kubernetes.io/zone": "eu-west-1a"}
        (group,) = node_groups(fleet_of(isvc(resources={"gpu": 1}, nodeSelector=selector), model()))
        assert (group.capacity, group.zone) == ("spot", "eu-west-1a")

    def test_gpus_without_an_instance_type_are_a_warning_as_with_flavors(self) -> None:
        found = problem(isvc(resources={"gpu": 1}), model(), severity="warning")
        assert found.path == "spec.nodeSelector"
        assert "node.kubernetes.io/instance-type" in found.reason

    def test_a_pod_without_gpu_names_none_and_any_node_will_do(self) -> None:
        item = served(isvc(), model())
        assert not fleet_of(isvc(), model()).problems
        assert item.pods[0].choices == ()

    def test_more_gpus_than_the_type_has_do_not_fit(self) -> None:
        selector = {"node.kubernetes.io/instance-type": "g5.xlarge"}
        found = fit(fleet_of(isvc(resources={"gpu": 2}, nodeSelector=selector), model()))
        assert any("requests 2 nvidia.com/gpu" in p.reason for p in found)

    def test_alternatives_of_the_environment_become_an_affinity(self) -> None:
        spec = pod(isvc(**GPUS), model(), alternatives={"g5.12xlarge": ("g6.12xlarge",)})
        assert "nodeSelector" not in spec
        node = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert node["nodeSelectorTerms"] == [
            {
                "matchExpressions": [
                    {
                        "key": "node.kubernetes.io/instance-type",
                        "operator": "In",
                        "values": ["g5.12xlarge", "g6.12xlarge"],
                    }
                ]
            }
        ]
        assert spec["tolerations"] == [EXISTS]

    def test_a_label_that_allows_one_type_alone_allows_no_alternatives(self) -> None:
        selector = {"beta.kubernetes.io/instance-type": "g5.12xlarge"}
        service = isvc(resources={"gpu": 2}, nodeSelector=selector)
        spec = pod(service, model(), alternatives={"g5.12xlarge": ("g6.12xlarge",)})
        assert spec["nodeSelector"] == selector
        assert "affinity" not in spec

    def test_a_pod_without_gpu_on_a_gpu_node_tolerates_its_taint(self) -> None:
        assert pod(isvc(nodeSelector=G5), model())["tolerations"] == [EXISTS]

    def test_surge_of_pods_without_gpu_is_a_quarter_rounded_up(self) -> None:
        (demand,) = served(isvc(replicas=5), model(source="pvc://c/m.gguf")).pods
        assert (demand.pods, demand.surge_pods, demand.max_pods) == (5, 2, None)

    @pytest.mark.parametrize(("text", "good"), [("96Gi", True), ("97Gi", False)])
    def test_gpu_memory_is_held_against_the_nodes(self, text: str, good: bool) -> None:
        """Four GPUs that are sold with 24 GB each."""
        service = isvc(resources={"gpu": 4, "gpuMemory": text}, nodeSelector=G5)
        if good:
            assert not fleet_of(service, model()).problems
        else:
            assert problem(service, model()).path == "spec.resources.gpuMemory"
