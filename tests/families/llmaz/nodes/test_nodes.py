"""What pods of a model ask of nodes."""

from typing import Any

import pytest

from components.clouds.aws.nodes.autoscaler import autoscaler_tags
from components.fleet.instances import instance
from components.fleet.nodes.groups import NodeGroupDemand, allocatable, node_groups
from components.fleet.options import PodOverrides
from tests.families.llmaz.nodes.flavored import ONE_GPU, OWN, SPEC, TYPE, flavor, gpu_playground
from tests.fleets import (
    fleet_of,
    objects,
    open_model,
    playground,
    pod_template,
    runner,
    service,
)

OVERRIDES = PodOverrides(
    tolerations=({"key": "team", "operator": "Exists"},),
    service_account_name="runner",
    image_pull_secrets=("registry",),
    priority_class_name="high",
    annotations={"note": "x"},
    labels={"team": "a"},
    node_selector={"disk": "nvme"},
)


class TestOverrides:
    def test_they_reach_every_pod(self) -> None:
        template = pod_template(open_model(), OWN, playground(**SPEC), overrides=OVERRIDES)
        spec = template["spec"]
        assert spec["tolerations"] == [{"key": "team", "operator": "Exists"}]
        assert spec["serviceAccountName"] == "runner"
        assert spec["imagePullSecrets"] == [{"name": "registry"}]
        assert spec["priorityClassName"] == "high"
        assert spec["nodeSelector"] == {"disk": "nvme"}
        assert template["metadata"]["annotations"] == {"note": "x"}
        assert template["metadata"]["labels"]["team"] == "a"
        assert template["metadata"]["labels"]["llmaz.io/model-name"] == "m"

    def test_a_template_that_says_otherwise_keeps_its_word(self) -> None:
        spec = {
            "containers": [runner()],
            "serviceAccountName": "mine",
            "priorityClassName": "low",
            "imagePullSecrets": [{"name": "own"}],
            "nodeSelector": {"disk": "hdd"},
            "schedulerName": "volcano",
        }
        template = {"workerTemplate": {"metadata": {"labels": {"team": "b"}}, "spec": spec}}
        made = objects(open_model(), service(workloadTemplate=template), overrides=OVERRIDES)["Deployment"]
        got = made["spec"]["template"]
        assert got["metadata"]["labels"]["team"] == "b"
        for key in ("serviceAccountName", "priorityClassName", "imagePullSecrets", "nodeSelector", "schedulerName"):
            assert got["spec"][key] == spec[key]

    def test_they_cannot_take_the_labels_that_services_select(self) -> None:
        overrides = PodOverrides(labels={"app.kubernetes.io/instance": "x", "llmaz.io/model-name": "x"})
        made = objects(open_model(), OWN, playground(**SPEC), overrides=overrides)
        labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
        assert made["Service"]["spec"]["selector"].items() <= labels.items()
        assert labels["llmaz.io/model-name"] == "m"


class TestNodeGroups:
    """One group per distinct instance type, capacity kind and zone rule (decision 58)."""

    def groups(self, *documents: dict[str, Any]) -> dict[str, NodeGroupDemand]:
        found = node_groups(fleet_of(*documents))
        assert len({group.name for group in found}) == len(found)
        return {group.name: group for group in found}

    def test_models_share_the_nodes_of_one_type(self) -> None:
        a = open_model("a", flavors=[flavor("x", ONE_GPU, INSTANCE_TYPE="g5.12xlarge")])
        b = open_model("b", flavors=[flavor("z1", {"nvidia.com/gpu": 2}, INSTANCE_TYPE="g5.12xlarge")])
        (group,) = self.groups(a, b, gpu_playground("p", "a", 3), gpu_playground("q", "b", 2)).values()
        assert (group.instance_type, group.nodes) == ("g5.12xlarge", 2)  # 3 x 1 + 2 x 2 GPUs on nodes of 4
        assert group.labels == {TYPE: "g5.12xlarge"}
        assert group.taints == ({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},)
        assert (group.capacity, group.zone) == ("on-demand", None)

    def test_fallbacks_have_a_group_without_nodes(self) -> None:
        flavors = [
            flavor("x", ONE_GPU, INSTANCE_TYPE="g6.2xlarge"),
            flavor("z1", ONE_GPU, INSTANCE_TYPE="g5.2xlarge"),
        ]
        groups = self.groups(open_model("a", flavors=flavors), gpu_playground("p", "a", 2))
        assert {g.instance_type: g.nodes for g in groups.values()} == {"g6.2xlarge": 2, "g5.2xlarge": 0}

    def test_cpu_and_memory_count_too(self) -> None:
        cpu = open_model("a", flavors=[flavor("x", {"cpu": "3", "memory": "4Gi"}, INSTANCE_TYPE="m7i.2xlarge")])
        (group,) = self.groups(cpu, OWN, playground("p", "a", replicas=3, **SPEC)).values()
        assert group.nodes == 2  # 8 cores hold two pods of 3
        assert group.taints == ()

    def test_each_selector_has_a_group_of_its_own(self) -> None:
        """A group that took in the labels of others would be another group when they change."""
        a = open_model("a", flavors=[flavor("x", ONE_GPU, {"gpu": "a10g"}, INSTANCE_TYPE="g5.xlarge")])
        b = open_model("b", flavors=[flavor("z1", ONE_GPU, {"gpu": "a10g"}, INSTANCE_TYPE="g5.xlarge")])
        c = open_model("c", flavors=[flavor("z", ONE_GPU, INSTANCE_TYPE="g5.xlarge")])
        plain, labelled = self.groups(a, b, c, *(gpu_playground(n, n, 1) for n in "abc")).values()
        assert (plain.name, plain.labels, plain.nodes) == ("g5-xlarge", {TYPE: "g5.xlarge"}, 1)
        assert labelled.name.startswith("g5-xlarge-a10g-")
        assert (labelled.labels, labelled.nodes) == ({"gpu": "a10g", TYPE: "g5.xlarge"}, 2)

    def test_selectors_that_disagree_do_not(self) -> None:
        a = open_model("a", flavors=[flavor("x", ONE_GPU, {"pool": "A_1.x"}, INSTANCE_TYPE="g5.xlarge")])
        b = open_model("b", flavors=[flavor("z1", ONE_GPU, {"pool": "b"}, INSTANCE_TYPE="g5.xlarge")])
        groups = self.groups(a, b, gpu_playground("p", "a", 1), gpu_playground("q", "b", 1))
        assert {group.labels["pool"] for group in groups.values()} == {"A_1.x", "b"}
        assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in groups)

    @pytest.mark.parametrize("values", [("a_b", "a.b"), ("x" * 63, "x" * 62)])
    def test_names_differ_and_stay_short(self, values: tuple[str, str]) -> None:
        models = [
            open_model(name, flavors=[flavor("f", ONE_GPU, {"pool": value}, INSTANCE_TYPE="g5.xlarge")])
            for name, value in zip("ab", values, strict=True)
        ]
        groups = self.groups(*models, gpu_playground("p", "a", 1), gpu_playground("q", "b", 1))
        assert {group.labels["pool"] for group in groups.values()} == set(values)
        assert all(len(name) <= 48 for name in groups)

    def test_what_init_containers_ask_for_counts_where_it_is_more(self) -> None:
        """The scheduler takes the larger of the containers' sum and each init container."""
        need = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
        more = {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}
        containers = [runner(resources=need), {"name": "side", "image": "x:1", "resources": need}]
        spec = {"containers": containers, "initContainers": [{"name": "init", "image": "x:1", "resources": more}]}
        template = {"workerTemplate": {"spec": spec}}
        (item,) = fleet_of(open_model(), service(workloadTemplate=template)).rendered
        assert [demand.requests["cpu"] for demand in item.pods] == [3]

    @pytest.mark.parametrize(
        ("selector", "capacity", "zone"),
        [
            ({"karpenter.sh/capacity-type": "spot"}, "spot", None),
            ({"eks.amazonaws.com/capacityType": "SPOT"}, "spot", None),
            ({"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, "capacity-block", None),
            ({"topology.kubernetes.io/zone": "us-east-1b"}, "on-demand", "us-east-1b"),
        ],
    )
    def test_well_known_labels_say_capacity_and_zone(self, selector: Any, capacity: str, zone: str | None) -> None:
        model = open_model("a", flavors=[flavor("x", ONE_GPU, selector, INSTANCE_TYPE="g5.xlarge")])
        plain = open_model("b", flavors=[flavor("x", ONE_GPU, INSTANCE_TYPE="g5.xlarge")])
        groups = self.groups(model, plain, gpu_playground("p", "a", 1), gpu_playground("q", "b", 1))
        assert [(g.capacity, g.zone) for g in groups.values() if g.labels != {TYPE: "g5.xlarge"}] == [
            (capacity, zone)
        ]
        assert len(groups) == 2

    def test_an_autoscaler_may_need_more_nodes_later(self) -> None:
        model = open_model("a", flavors=[flavor("x", ONE_GPU, INSTANCE_TYPE="g5.xlarge")])
        elastic = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {}}}
        scaled = gpu_playground("p", "a", 1)
        scaled["spec"] |= {"elasticConfig": elastic}
        del scaled["spec"]["replicas"]
        (group,) = self.groups(model, scaled).values()
        assert (group.nodes, group.max_nodes) == (1, 3)

    def test_the_autoscaler_is_told_by_tags(self) -> None:
        """aws-gpu spec 9."""
        model = open_model("a", flavors=[flavor("x", ONE_GPU, {"gpu": "a10g"}, INSTANCE_TYPE="g5.12xlarge")])
        (group,) = self.groups(model, gpu_playground("p", "a", 1)).values()
        template = "k8s.io/cluster-autoscaler/node-template"
        assert autoscaler_tags(group) == {
            f"{template}/label/gpu": "a10g",
            f"{template}/label/{TYPE}": "g5.12xlarge",
            f"{template}/taint/nvidia.com/gpu": "true:NoSchedule",
            f"{template}/resources/nvidia.com/gpu": "4",
        }


def test_kubelet_and_system_keep_their_share() -> None:
    """EKS images: 6 %, 1 %, 0.5 %, 0.5 % of the first cores, then 0.25 %; memory in ``tests/fleet/nodes``."""
    node = instance("g5.2xlarge")
    assert node is not None
    offered = allocatable(node)
    assert float(offered["cpu"]) == pytest.approx(7.91)
    assert 28 * 2**30 < offered["memory"] < 29 * 2**30
    assert offered["nvidia.com/gpu"] == 1
