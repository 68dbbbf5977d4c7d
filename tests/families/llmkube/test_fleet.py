"""InferenceServices among others: nodes, shared objects, settings of the environment, and what is built on them."""

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.documents.writer import dump_all
from components.contract.problems import Problem
from components.fleet.options import ModelCache, Options, PodOverrides
from components.fleet.words import Edition
from components.plan.rendering import render_fleet
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    GPUS,
    Object,
    container,
    isvc,
    load,
    model,
    objects,
    pod,
    problem,
    served,
    shared,
)
from tests.fleets import errors, fleet_of, open_model, playground, warnings


class TestFleet:
    def test_a_missing_model_is_named_with_those_there_are(self) -> None:
        found = problem(isvc(model="m2"), model())
        assert found.path == "spec.modelRef"
        assert "available: m1" in found.reason

    def test_a_model_of_another_namespace_is_not_the_services(self) -> None:
        found = problem(isvc(), model(namespace="other"))
        assert "it exists in namespace other" in found.reason

    def test_a_namespace_that_nobody_names_is_that_of_the_environment(self) -> None:
        item = served(isvc(namespace=None), model(namespace="prod"), namespace="prod")
        assert item.namespace == "prod"

    def test_a_model_that_could_not_be_read_is_not_called_missing(self) -> None:
        unread = [Problem(file="f", line=1, kind="Model", name="m1", path="spec.source", reason="is wrong")]
        fleet = render_fleet(load(isvc()), Options(), unread)
        assert fleet.problems == ()
        assert fleet.rendered == ()

    def test_a_native_model_is_no_object(self) -> None:
        assert fleet_of(model()).rendered == ()

    def test_what_services_share_is_made_once_and_first(self) -> None:
        fleet = fleet_of(
            isvc("b"),
            isvc("a", priority="high"),
            isvc("c", namespace="ns2"),
            isvc("d", namespace="ns3", skipModelInit=True, extraArgs=["-hf", "a/b"]),
            model(),
            model(namespace="ns2"),
            model(namespace="ns3", source="a/b"),
        )
        assert not errors(fleet)
        assert shared(fleet) == [
            ("PriorityClass", "", "llmkube-high"),
            ("PriorityClass", "", "llmkube-normal"),
            ("PersistentVolumeClaim", "ns", "llmkube-model-cache"),
            ("PersistentVolumeClaim", "ns2", "llmkube-model-cache"),
        ]
        assert [item.kind for item in fleet.rendered[4:]] == ["InferenceService"] * 4

    def test_the_claim_is_the_operators(self) -> None:
        (item,) = [i for i in fleet_of(isvc(), model()).rendered if i.kind == "PersistentVolumeClaim"]
        kubernetes_validate.validate(item.objects[0], "1.36", strict=True)
        assert item.objects[0] == {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "llmkube-model-cache",
                "namespace": "ns",
                "labels": {
                    "app.kubernetes.io/name": "llmkube",
                    "app.kubernetes.io/component": "model-cache",
                    "app.kubernetes.io/managed-by": "llmkube-controller",
                },
            },
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100Gi"}}},
        }

    def test_a_resource_is_found_by_its_source_and_not_what_it_shares(self) -> None:
        resources = load(isvc(), model())
        fleet = render_fleet(resources, Options())
        assert [item.kind for item in fleet.rendered if item.source is resources[0]] == ["InferenceService"]

    def test_services_that_share_a_claim_are_told(self) -> None:
        """One node at a time can mount it (LLMKube spec 9.1); not so with a cache of the environment."""
        documents = (isvc("a"), isvc("b"), model())
        (found,) = warnings(fleet_of(*documents))
        assert (found.name, found.path) == ("b", "spec.modelRef")
        assert "InferenceService/a" in found.reason
        assert not fleet_of(*documents, cache=ModelCache(claim="weights")).problems

    def test_what_is_refused_makes_nothing_for_others(self) -> None:
        fleet = fleet_of(isvc("bad", resources={"cpu": "x"}), model())
        assert fleet.rendered == ()

    @pytest.mark.parametrize("other", [isvc("a-b"), isvc("a.b")])
    def test_two_that_would_make_the_same_objects_are_refused(self, other: Object) -> None:
        fleet = fleet_of(isvc("a.b"), other, model())
        (found,) = errors(fleet)
        assert found.path == "metadata.name"

    @pytest.mark.parametrize("name", ["p", "p-lb"])
    def test_a_playground_and_a_service_cannot_make_the_same_objects(self, name: str) -> None:
        documents = [isvc(name, namespace="default"), model(namespace="default"), playground("p"), open_model("m")]
        (found,) = errors(fleet_of(*documents))
        assert found.path == "metadata.name"

    def test_models_of_one_name_in_two_namespaces_are_two(self) -> None:
        assert not errors(fleet_of(model(), model(namespace="other")))
        (found,) = errors(fleet_of(model(), model()))
        assert found.kind == "Model"

    @settings(deadline=None, max_examples=25)
    @given(st.permutations(range(6)))
    def test_the_order_of_documents_does_not_matter(self, order: list[int]) -> None:
        documents = [
            isvc("b", **GPUS),
            isvc("a", priority="low"),
            isvc("c", namespace="ns2", autoscaling={"maxReplicas": 2}),
            model(),
            model(namespace="ns2"),
            model("m2"),
        ]

        def text(listed: list[Object]) -> str:
            fleet = fleet_of(*listed)
            return dump_all(body for item in fleet.rendered for body in item.objects)

        assert text([documents[i] for i in order]) == text(documents)


class TestOptions:
    def test_pods_get_what_the_environment_asks_for(self) -> None:
        overrides = PodOverrides(
            tolerations=({"key": "team", "operator": "Exists"},),
            service_account_name="reader",
            image_pull_secrets=("pull",),
            priority_class_name="shared",
            annotations={"a": "1"},
            labels={"team": "x"},
            node_selector={"pool": "gpu"},
        )
        template = objects(isvc(**GPUS), model(), overrides=overrides)["Deployment"]["spec"]["template"]
        spec = template["spec"]
        assert spec["tolerations"] == [EXISTS, {"key": "team", "operator": "Exists"}]
        assert (spec["serviceAccountName"], spec["imagePullSecrets"]) == ("reader", [{"name": "pull"}])
        assert spec["priorityClassName"] == "shared"
        assert template["metadata"]["annotations"] == {"a": "1"}
        assert template["metadata"]["labels"]["team"] == "x"
        assert spec["nodeSelector"] == {"pool": "gpu", **G5}

    def test_the_services_own_word_wins(self) -> None:
        overrides = PodOverrides(
            image_pull_secrets=("pull",),
            priority_class_name="shared",
            annotations={"a": "1"},
            labels={"team": "x", "app": "y"},
            node_selector={"node.kubernetes.io/instance-type": "g5.xlarge"},
        )
        service = isvc(
            imagePullSecrets=[{"name": "own"}],
            priority="normal",
            podAnnotations={"a": "2"},
            podLabels={"team": "z"},
            **GPUS,
        )
        template = objects(service, model(), overrides=overrides)["Deployment"]["spec"]["template"]
        assert template["spec"]["imagePullSecrets"] == [{"name": "own"}]
        assert template["spec"]["priorityClassName"] == "llmkube-normal"
        assert template["metadata"]["annotations"] == {"a": "2"}
        assert (template["metadata"]["labels"]["team"], template["metadata"]["labels"]["app"]) == ("z", "svc")
        assert template["spec"]["nodeSelector"] == G5

    def test_a_class_of_somebody_else_is_not_made_here(self) -> None:
        assert not [k for k, *_ in shared(fleet_of(isvc(priorityClassName="mine"), model())) if k == "PriorityClass"]
        named = fleet_of(isvc(priorityClassName="llmkube-low"), model())
        assert shared(named)[0] == ("PriorityClass", "", "llmkube-low")

    def test_the_edition_chooses_default_images(self) -> None:
        assert container(isvc(), model(), runtimes=Edition.CURRENT)["image"].startswith(
            "ghcr.io/ggml-org/llama.cpp:server-b"
        )

    def test_scheduler_and_grace_period(self) -> None:
        spec = pod(isvc(), model(), scheduler_name="mine", grace_seconds=7)
        assert (spec["schedulerName"], spec["terminationGracePeriodSeconds"]) == ("mine", 7)
