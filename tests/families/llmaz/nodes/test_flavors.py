"""llmaz spec 2.7 and 7.3: what flavors do to pods and to nodes."""

from typing import Any

import pytest

from tests.families.llmaz.nodes.flavored import ONE_GPU, OWN, SPEC, TYPE, claim, flavor, terms
from tests.fleets import (
    container,
    fleet_of,
    objects,
    open_model,
    playground,
    pod,
    pod_template,
    runner,
    service,
    the_error,
    warnings,
)


@pytest.mark.parametrize(("spec", "gpus"), [(SPEC, 1), (claim("b"), 2), (claim("b", "a"), 2), (claim("a", "b"), 1)])
def test_limits_of_the_preferred_flavor_reach_requests_and_limits(spec: Any, gpus: int) -> None:
    model = open_model(flavors=[flavor("a", {"nvidia.com/gpu": 1}), flavor("b", {"nvidia.com/gpu": 2})])
    got = container(model, OWN, playground(**spec))["resources"]
    assert got == {
        "requests": {"cpu": "1", "nvidia.com/gpu": gpus},
        "limits": {"cpu": "2", "nvidia.com/gpu": gpus},
    }


def test_cpu_and_memory_of_a_flavor_overwrite() -> None:
    model = open_model(flavors=[flavor("a", {"cpu": "7", "memory": "9Gi"})])
    assert container(model, OWN, playground(**SPEC))["resources"] == {
        "requests": {"cpu": "7", "memory": "9Gi"},
        "limits": {"cpu": "7", "memory": "9Gi"},
    }


def test_claimed_flavors_are_written_on_the_pod_in_order() -> None:
    model = open_model(flavors=[flavor("a"), flavor("b")])
    metadata = pod_template(model, OWN, playground(**claim("b", "a")))["metadata"]
    assert metadata["annotations"] == {"llmaz.io/inference-service-flavors": "b,a"}
    assert "annotations" not in pod_template(model, OWN, playground(**SPEC))["metadata"]


def test_an_unknown_flavor_is_an_error() -> None:
    problem = the_error(open_model(flavors=[flavor("a100"), flavor("l4")]), OWN, playground(**claim("l4", "a10")))
    assert problem.path == "spec.modelClaim.inferenceFlavors[1]"
    assert "a10" in problem.reason
    assert "a100" in problem.reason
    assert "l4" in problem.reason


class TestAffinity:
    def affinity(self, *flavors: dict[str, Any], spec: Any = SPEC) -> Any:
        return pod(open_model(flavors=list(flavors)), OWN, playground(**spec)).get("affinity")

    def test_one_flavor_is_required_and_nothing_is_preferred(self) -> None:
        assert self.affinity(flavor("a", selector={"zone": "x", "gpu": "a10g"})) == {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": terms({"gpu": "a10g", "zone": "x"})
                }
            }
        }

    @pytest.mark.parametrize("key", ["INSTANCE_TYPE", "instance_type", "Instance_Type"])
    def test_the_instance_type_counts_like_a_label(self, key: str) -> None:
        affinity = self.affinity(flavor("a", selector={"gpu": "a10g"}, **{key: "g5.2xlarge"}))
        (found,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert {"key": TYPE, "operator": "In", "values": ["g5.2xlarge"]} in found["matchExpressions"]
        assert {"key": "gpu", "operator": "In", "values": ["a10g"]} in found["matchExpressions"]

    def test_several_flavors_are_or_ed_and_preferred_in_order(self) -> None:
        flavors = [flavor(f"f{i}", selector={"gpu": f"g{i}"}) for i in range(8)]
        node = self.affinity(*flavors)["nodeAffinity"]
        expected = terms(*({"gpu": f"g{i}"} for i in range(8)))
        assert node["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] == expected
        assert node["preferredDuringSchedulingIgnoredDuringExecution"] == [
            {"weight": weight, "preference": one}
            for weight, one in zip((39, 24, 15, 9, 6, 3, 2, 1), expected, strict=True)
        ]

    def test_the_claim_sets_the_order(self) -> None:
        flavors = (flavor("a", selector={"g": "a"}), flavor("b", selector={"g": "b"}))
        node = self.affinity(*flavors, spec=claim("b", "a"))["nodeAffinity"]
        preferred = node["preferredDuringSchedulingIgnoredDuringExecution"]
        assert [p["preference"] for p in preferred] == terms({"g": "b"}, {"g": "a"})

    def test_unclaimed_flavors_are_no_candidates(self) -> None:
        flavors = (flavor("a", selector={"g": "a"}), flavor("b", selector={"g": "b"}))
        node = self.affinity(*flavors, spec=claim("b"))["nodeAffinity"]
        required = node["requiredDuringSchedulingIgnoredDuringExecution"]
        assert required["nodeSelectorTerms"] == terms({"g": "b"})

    def test_a_flavor_for_any_node_leaves_the_pod_free(self) -> None:
        assert self.affinity(flavor("a", selector={"g": "a"}), flavor("any")) is None
        assert self.affinity() is None

    def test_terms_of_a_template_hold_as_well(self) -> None:
        written = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms({"z": "1"}, {"z": "2"})}
            },
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
        }
        template = {"workerTemplate": {"spec": {"affinity": written, "containers": [runner()]}}}
        model = open_model(flavors=[flavor("a", selector={"g": "a"}), flavor("b", selector={"g": "b"})])
        made = objects(model, service(workloadTemplate=template))["Deployment"]
        affinity = made["spec"]["template"]["spec"]["affinity"]
        required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert required["nodeSelectorTerms"] == terms(
            {"z": "1", "g": "a"}, {"z": "1", "g": "b"}, {"z": "2", "g": "a"}, {"z": "2", "g": "b"}
        )
        assert "podAntiAffinity" in affinity


class TestTolerations:
    def tolerations(self, *flavors: dict[str, Any]) -> Any:
        return pod(open_model(flavors=list(flavors)), OWN, playground(**SPEC)).get("tolerations")

    @pytest.mark.parametrize(
        ("instance_type", "key"),
        [
            ("g5.2xlarge", "nvidia.com/gpu"),
            ("inf2.xlarge", "aws.amazon.com/neuron"),
            ("g4ad.xlarge", "amd.com/gpu"),
        ],
    )
    def test_pods_tolerate_the_taint_of_their_nodes(self, instance_type: str, key: str) -> None:
        (found,) = self.tolerations(flavor("a", INSTANCE_TYPE=instance_type))
        assert found == {"key": key, "operator": "Exists", "effect": "NoSchedule"}

    def test_flavors_of_one_vendor_need_it_once(self) -> None:
        found = self.tolerations(flavor("a", INSTANCE_TYPE="g5.xlarge"), flavor("b", INSTANCE_TYPE="g6.xlarge"))
        assert len(found) == 1

    @pytest.mark.parametrize("params", [{}, {"INSTANCE_TYPE": "m7i.xlarge"}])
    def test_without_accelerator_node_there_is_none(self, params: Any) -> None:
        assert self.tolerations(flavor("a", ONE_GPU, **params)) is None


@pytest.mark.parametrize(
    "bad", [{"selector": {"gpu": "a b"}}, {"selector": {"a/b/c": "x"}}, {"INSTANCE_TYPE": "g5 2xlarge"}]
)
def test_labels_that_no_node_can_have_are_refused(bad: Any) -> None:
    problem = the_error(open_model(flavors=[flavor("f", **bad)]), OWN, playground(**SPEC))
    assert problem.path == "spec.modelClaim.modelName"
    assert "'f'" in problem.reason


def test_unequal_flavors_are_pointed_out() -> None:
    model = open_model(flavors=[
        flavor("a", {"nvidia.com/gpu": 1}, INSTANCE_TYPE="g5.xlarge"),
        flavor("b", {"nvidia.com/gpu": 4}, INSTANCE_TYPE="g5.12xlarge"),
    ])  # fmt: skip
    (problem,) = warnings(fleet_of(model, OWN, playground(**SPEC)))
    assert "'a'" in problem.reason
    assert "same" in problem.reason
    assert not warnings(fleet_of(model, OWN, playground(**claim("b"))))


def test_a_gpu_flavor_without_instance_type_is_pointed_out() -> None:
    (problem,) = warnings(fleet_of(open_model(flavors=[flavor("a", ONE_GPU)]), OWN, playground(**SPEC)))
    assert "INSTANCE-TYPE" in problem.reason
    assert not warnings(fleet_of(open_model(flavors=[flavor("cpu", {"cpu": "4"})]), OWN, playground(**SPEC)))
