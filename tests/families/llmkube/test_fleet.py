"""InferenceServices among others: nodes, shared objects, settings of the environment, and what is built on them."""

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.api.documents.writer import dump_all
from components.api.problems import Problem
from components.fleet.options import ModelCache, Options, PodOverrides
from components.fleet.words import Edition
from components.front_door.door import FrontDoor, front_door
from components.hardening.network_policies import Allowed, network_policies
from components.hardening.workloads import Hardening, harden
from components.metrics.chain import metric_chain
from components.nodes.fit import fit
from components.nodes.groups import node_groups
from components.plan.rendering import render_fleet
from components.prerequisites.needed import ClusterFacts, prerequisites
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    GPUS,
    HTTP,
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
from tests.fleets import endpoint_of, errors, fleet_of, open_model, playground, warnings, workload_of

SELECTOR = {"app": "svc.a", "inference.llmkube.dev/service": "svc.a"}


# -- models and the fleet


class TestFleet:
    def test_a_missing_model_is_named_with_those_there_are(self) -> None:
        found = problem(isvc(model="m2"), model())
        assert found.path == "spec.modelRef"
        assert "there are m1" in found.reason

    def test_a_model_of_another_namespace_is_not_the_services(self) -> None:
        found = problem(isvc(), model(namespace="other"))
        assert "it is in namespace other" in found.reason

    def test_a_namespace_that_nobody_names_is_that_of_the_environment(self) -> None:
        item = served(isvc(namespace=None), model(namespace="prod"), namespace="prod")
        assert item.namespace == "prod"

    def test_a_model_that_could_not_be_read_is_not_called_missing(self) -> None:
        unread = [Problem("f", 1, "Model", "m1", "spec.source", "is wrong")]
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


# -- nodes


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
        assert any("asks for 2 nvidia.com/gpu" in p.reason for p in found)

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


# -- what the environment says


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


# -- where clients find it


@pytest.mark.parametrize(
    ("path", "base"),
    [
        (None, "/v1"),
        ("/v1/chat/completions", "/v1"),
        ("/v1/embeddings", "/v1"),
        ("/openai/v1/completions", "/openai/v1"),
        ("/v1/", "/v1"),
        ("/", ""),
        ("", "/v1"),
    ],
)
def test_clients_are_given_the_base_of_the_api(path: str | None, base: str) -> None:
    endpoint = {"port": 80, **({} if path is None else {"path": path})}
    item = served(isvc(endpoint=endpoint, containerPort=8080), model())
    assert endpoint_of(item).url == f"http://svc.ns.svc.cluster.local:80{base}"


@pytest.mark.parametrize(
    ("fields", "source", "name"),
    [
        ({}, HTTP, "m1"),
        ({"extraArgs": ["--alias", "chat"]}, HTTP, "chat"),
        ({"runtime": "vllm", "skipModelInit": True}, "org/repo", "org/repo"),
        ({"runtime": "vllm"}, "pvc://c/dir", "/model-source/dir"),
        (
            {"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name", "x"]},
            "org/repo",
            "x",
        ),
        ({"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name=x"]}, "org/repo", "x"),
        ({"runtime": "tgi"}, "org/repo", "m1"),
        ({"runtime": "generic"}, "org/repo", "m1"),
    ],
)
def test_clients_ask_for_the_name_that_the_server_knows(fields: Object, source: str, name: str) -> None:
    item = served(isvc(image="example.com/x:1", **fields), model(source=source))
    assert endpoint_of(item).model == name


def test_replicas_0_is_a_service_at_rest() -> None:
    item = served(isvc(replicas=0), model())
    assert workload_of(item).replicas == 0
    assert item.pods[0].pods == 0
    assert [body["kind"] for body in item.objects] == ["Deployment", "Service"]
    assert item.objects[0]["spec"]["replicas"] == 0


# -- what is built on the objects


class TestAround:
    def test_its_pods_are_scraped(self) -> None:
        chain = metric_chain(fleet_of(isvc("svc.a"), model()))
        (monitor,) = chain.monitors
        assert monitor["spec"]["selector"]["matchLabels"] == SELECTOR
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
        assert set(chain.needs) == {"prometheus"}

    def test_its_pods_are_closed_but_for_their_port(self) -> None:
        (policy,) = network_policies(fleet_of(isvc("svc.a", containerPort=9000), model()), Allowed())
        assert policy["spec"]["podSelector"]["matchLabels"] == SELECTOR
        assert {p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]} == {9000}

    def test_it_can_be_hardened(self) -> None:
        hardening = Hardening(pod_security="restricted", disruption_budgets=True, topology_spread=True)
        bodies = harden(served(isvc(replicas=2), model()), hardening).objects
        assert [body["kind"] for body in bodies] == ["Deployment", "Service", "PodDisruptionBudget"]
        spec = bodies[0]["spec"]["template"]["spec"]
        assert spec["containers"][0]["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["fsGroup"] == 102
        assert spec["topologySpreadConstraints"][0]["labelSelector"] == bodies[0]["spec"]["selector"]

    def test_a_gateway_routes_to_it(self) -> None:
        plan = front_door(
            fleet_of(isvc("svc.a", endpoint={"port": 80}), model()), FrontDoor(expose="gateway", internal=True)
        )
        (backend,) = [body for body in plan.objects if body["kind"] == "Backend"]
        assert backend["spec"]["endpoints"] == [{"fqdn": {"hostname": "svc-a.ns.svc.cluster.local", "port": 80}}]
        (route,) = [body for body in plan.objects if body["kind"] == "AIGatewayRoute"]
        assert route["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] == "m1"

    def test_a_load_balancer_of_its_own_leads_to_the_same_pods(self) -> None:
        fleet = fleet_of(isvc("svc", containerPort=9000), model())
        (body,) = front_door(fleet, FrontDoor(expose="load-balancer", internal=True)).objects
        assert body["spec"]["selector"] == {"app": "svc", "inference.llmkube.dev/service": "svc"}
        assert body["spec"]["ports"][0]["targetPort"] == 9000

    def test_a_gateway_cannot_route_speech(self) -> None:
        service = isvc(runtime="personaplex", image="example.com/moshi:1")
        plan = front_door(fleet_of(service, model(source="org/repo")), FrontDoor(expose="gateway", internal=True))
        assert any("moshi" in found.reason for found in plan.problems)
        assert plan.objects == ()

    def test_its_autoscaler_needs_an_adapter(self) -> None:
        fleet = fleet_of(isvc(autoscaling={"maxReplicas": 1}), model())
        listed = prerequisites(fleet, (), ClusterFacts())
        assert "prometheus-adapter" in [each.chart.name for each in listed]
