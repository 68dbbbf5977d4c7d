"""Every prerequisite is one pinned release with values that its chart knows, of the type that it wants."""

import re
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
import yaml

from components.fleet.placement import tolerates
from components.plan.prerequisites.charts import charts
from components.resources.aws import charts as aws_charts
from components.resources.aws.args import ClusterAutoscalerArgs, LoadBalancerControllerArgs
from components.resources.prerequisites import accelerators, metrics, networking, operators, workloads
from components.resources.prerequisites.chart import ChartComponent
from tests.recorded import Entry, Recorded, deploy

RELEASE = "kubernetes:helm.sh/v3:Release"
RULES = {"custom": [{"seriesQuery": "a"}], "external": [{"seriesQuery": "b"}]}
Make = Callable[[pulumi.ResourceOptions], ChartComponent]
LBC: LoadBalancerControllerArgs = {"cluster_name": "c", "region": "us-east-1", "vpc_id": "vpc-1"}

COMPONENTS: dict[str, Make] = {
    "metrics-server": lambda o: metrics.MetricsServer("x", opts=o),
    "prometheus": lambda o: metrics.Prometheus("x", {"storage_gib": 50}, o),
    "prometheus-adapter": lambda o: metrics.PrometheusAdapter("x", {"rules": RULES}, o),
    "keda": lambda o: metrics.Keda("x", opts=o),
    "nvidia-device-plugin": lambda o: accelerators.NvidiaDevicePlugin("x", opts=o),
    "gpu-operator": lambda o: accelerators.GpuOperator("x", {}, o),
    "dcgm-exporter": lambda o: accelerators.DcgmExporter("x", opts=o),
    "neuron-device-plugin": lambda o: aws_charts.NeuronDevicePlugin("x", opts=o),
    "efa-device-plugin": lambda o: aws_charts.EfaDevicePlugin("x", opts=o),
    "cluster-autoscaler": lambda o: aws_charts.ClusterAutoscaler(
        "x", {"cluster_name": "c", "region": "us-east-1"}, o
    ),
    "karpenter": lambda o: aws_charts.Karpenter("x", {"cluster_name": "c", "interruption_queue": "q"}, o),
    "load-balancer-controller": lambda o: aws_charts.LoadBalancerController("x", LBC, o),
    "envoy-gateway": lambda o: networking.EnvoyGateway("x", opts=o),
    "ai-gateway-crds": lambda o: networking.AiGatewayKinds("x", opts=o),
    "ai-gateway": lambda o: networking.AiGateway("x", opts=o),
    "leader-worker-set": lambda o: workloads.LeaderWorkerSetController("x", opts=o),
    "volcano": lambda o: workloads.Volcano("x", opts=o),
    "cert-manager": lambda o: workloads.CertManager("x", opts=o),
    "llmaz": lambda o: operators.LlmazOperator("x", opts=o),
    "llmkube": lambda o: operators.LlmkubeOperator("x", opts=o),
    "kthena": lambda o: operators.KthenaOperator("x", opts=o),
    "kthena-router": lambda o: operators.KthenaRouter("x", opts=o),
}


def made(make: Make) -> Recorded:
    def program() -> None:
        provider = pulumi_kubernetes.Provider("p", kubeconfig="k")
        component = make(pulumi.ResourceOptions(providers=[provider]))
        pulumi.export("namespace", component.namespace)
        pulumi.export("version", component.version)

    return deploy(program)


def release(name: str) -> Entry:
    (found,) = made(COMPONENTS[name]).of(RELEASE)
    return found


def test_every_chart_has_a_component() -> None:
    assert set(COMPONENTS) == set(charts())


@pytest.mark.parametrize("name", COMPONENTS)
class TestEach:
    def test_it_is_one_pinned_release(self, name: str) -> None:
        pin, found = charts()[name], release(name)
        assert (found.inputs["chart"], found.inputs["version"]) == (pin.chart, pin.version)
        assert (found.inputs["name"], found.inputs["namespace"]) == (pin.release, pin.namespace)
        assert found.inputs.get("repositoryOpts", {}).get("repo", "") == pin.repo
        waits = name != "kthena-router"
        assert (found.inputs["atomic"], found.inputs.get("skipAwait", False)) == (waits, not waits)
        assert found.parent.startswith("inference-platform:index:")
        assert found.provider == "pulumi:providers:kubernetes::p"

    def test_its_outputs(self, name: str) -> None:
        exports = made(COMPONENTS[name]).exports
        assert exports == {"namespace": charts()[name].namespace, "version": charts()[name].version}

    def test_the_system_namespace_is_not_made(self, name: str) -> None:
        found = release(name).inputs
        assert found["createNamespace"] is (found["namespace"] != "kube-system")


CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinitionPatch"


@pytest.mark.parametrize(
    ("name", "plurals"),
    [
        ("kthena", ["autoscalingpolicies", "autoscalingpolicybindings", "modelboosters", "modelservings"]),
        ("kthena-router", ["modelroutes", "modelservers"]),
        ("llmaz", ["backendruntimes", "openmodels", "playgrounds", "services"]),
        ("llmkube", []),
        ("cert-manager", []),
    ],
)
def test_definitions_come_before_the_release_and_stay(name: str, plurals: list[str]) -> None:
    recorded = made(COMPONENTS[name])
    definitions = recorded.of(CRD)
    assert [definition.name for definition in definitions] == [f"x-{plural}" for plural in plurals]
    for definition in definitions:
        assert definition.parent == release(name).parent
        assert definition.registration.retain_on_delete
    assert set(release(name).dependencies) >= {definition.key for definition in definitions}


def test_definitions_are_those_of_the_version() -> None:
    recorded = made(lambda o: operators.KthenaOperator("x", {"version": "v1.0.0"}, o))
    assert [definition.name for definition in recorded.of(CRD)] == [
        "x-autoscalingpolicies",
        "x-modelboosters",
        "x-modelservings",
    ]


def tolerated(tolerations: list[dict[str, str]]) -> bool:
    """Whether agents run on nodes with the taints of accelerators, of add-ons, and of one's own."""
    keys = ("nvidia.com/gpu", "aws.amazon.com/neuron", "CriticalAddonsOnly", "example.com/team")
    taints = [
        {"key": key, "value": "true", "effect": effect} for key in keys for effect in ("NoSchedule", "NoExecute")
    ]
    return all(any(tolerates(each, taint) for each in tolerations) for taint in taints)


def values(name: str) -> Any:
    return release(name).inputs["values"]


class TestValuesThatMatter:
    """lws-hpa spec 2.2."""

    def test_prometheus_looks_at_every_monitor_and_rule(self) -> None:
        spec = values("prometheus")["prometheus"]["prometheusSpec"]
        for kind in ("podMonitor", "serviceMonitor", "rule", "probe", "scrapeConfig"):
            assert spec[f"{kind}SelectorNilUsesHelmValues"] is False
        storage = spec["storageSpec"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"]
        assert storage == "50Gi"

    def test_prometheus_does_not_wait_for_a_managed_control_plane(self) -> None:
        found = values("prometheus")
        assert [found[key]["enabled"] for key in ("kubeEtcd", "kubeScheduler", "kubeControllerManager")] == [
            False
        ] * 3

    def test_the_adapter_finds_our_prometheus_and_serves_only_its_rules(self) -> None:
        found = values("prometheus-adapter")
        assert found["prometheus"] == {"url": "http://kube-prometheus-stack-prometheus.monitoring.svc", "port": 9090}
        assert found["rules"] == {"default": False, **RULES}

    def test_the_adapter_leaves_external_metrics_to_keda(self) -> None:
        rules = metrics.adapter_values({"rules": RULES, "external": False})["rules"]
        assert rules == {"default": False, "custom": RULES["custom"], "external": []}

    def test_the_device_plugin_goes_to_our_gpu_nodes_and_so_does_discovery(self) -> None:
        found = values("nvidia-device-plugin")
        (term,) = found["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        assert term["matchExpressions"] == [{"key": "k8s.amazonaws.com/accelerator", "operator": "Exists"}]
        assert tolerated(found["tolerations"])
        assert tolerated(found["nfd"]["worker"]["tolerations"])
        assert found["gfd"] == {"enabled": True}

    def test_the_autoscaler_finds_groups_that_were_handed_over_alone(self) -> None:
        """EKS tags all its groups with the first two (EKS user guide, managed node groups)."""
        found = values("cluster-autoscaler")
        assert found["autoDiscovery"]["tags"] == [
            "k8s.io/cluster-autoscaler/enabled",
            "k8s.io/cluster-autoscaler/c",
            "inference-platform/autoscaled",
        ]
        assert found["extraArgs"]["enforce-node-group-min-size"] is True
        assert "autoscalingGroups" not in found

    def test_the_autoscaler_keeps_the_bounds_that_it_is_told(self) -> None:
        told = [{"name": "asg-1", "minSize": 1, "maxSize": 4}]
        args: ClusterAutoscalerArgs = {"cluster_name": "c", "region": "us-east-1", "bounds": told}
        (found,) = made(lambda o: aws_charts.ClusterAutoscaler("x", args, o)).of(RELEASE)
        assert found.inputs["values"]["autoscalingGroups"] == told
        assert found.inputs["values"]["autoDiscovery"]["clusterName"] == "c"

    @pytest.mark.parametrize(("grace", "limit"), [(None, 3600), (600, 3600), (7225, 7225)])
    def test_the_autoscaler_waits_as_long_as_the_pods_need(self, grace: int | None, limit: int) -> None:
        args: ClusterAutoscalerArgs = {"cluster_name": "c", "region": "us-east-1"}
        if grace is not None:
            args["longest_grace"] = grace
        (found,) = made(lambda o: aws_charts.ClusterAutoscaler("x", args, o)).of(RELEASE)
        assert found.inputs["values"]["extraArgs"]["max-graceful-termination-sec"] == limit

    @pytest.mark.parametrize("known_later", [False, True])
    def test_the_autoscaler_tries_groups_in_the_order_that_it_is_told(self, known_later: bool) -> None:
        told = [
            {"name": "asg-1", "minSize": 0, "maxSize": 4, "priority": 20},
            {"name": "s", "minSize": 1, "maxSize": 2},
        ]

        def make(opts: pulumi.ResourceOptions) -> ChartComponent:
            bounds: Any = pulumi.Output.from_input(told) if known_later else told
            given: Any = {"cluster_name": "c", "region": "us-east-1", "bounds": bounds, "bounded_only": True}
            return aws_charts.ClusterAutoscaler("x", given, opts)

        (found,) = made(make).of(RELEASE)
        given = found.inputs["values"]
        assert [each["name"] for each in given["autoscalingGroups"]] == ["asg-1", "s"]
        assert all(each.keys() == {"name", "minSize", "maxSize"} for each in given["autoscalingGroups"])
        assert given["extraArgs"]["expander"] == "priority,least-waste"
        assert yaml.safe_load(given["expanderPriorities"]) == {1: [".*"], 20: ["^asg-1$"]}
        assert "autoDiscovery" not in given

    @pytest.mark.parametrize(
        ("args", "expected"),
        [
            ({"bounds": [{"name": "a", "maxSize": 1}]}, "bounds[0]: must have name, minSize and maxSize"),
            ({"bounds": ["1:4:a"]}, "found '1:4:a'"),
            ({"bounded_only": True}, "bounded_only: leaves no node groups to scale without bounds"),
        ],
        ids=str,
    )
    def test_bounds_that_the_autoscaler_cannot_keep(self, args: Any, expected: str) -> None:
        given: Any = {"cluster_name": "c", "region": "us-east-1", **args}
        with pytest.raises(pulumi.RunError, match=re.escape(expected)):
            made(lambda o: aws_charts.ClusterAutoscaler("x", given, o))

    def test_dcgm_tolerates_gpu_nodes_and_keeps_the_pods_names(self) -> None:
        found = values("dcgm-exporter")
        assert found["serviceMonitor"] == {"enabled": True, "honorLabels": True}
        assert tolerated(found["tolerations"])

    def test_the_gpu_operator_leaves_driver_and_toolkit_to_the_image(self) -> None:
        found = values("gpu-operator")
        assert (found["driver"], found["toolkit"]) == ({"enabled": False}, {"enabled": False})
        assert accelerators.gpu_operator_values({"device_plugin": False})["devicePlugin"] == {"enabled": False}

    def test_efa_is_offered_on_gpu_and_neuron_nodes(self) -> None:
        assert tolerated(values("efa-device-plugin")["tolerations"])
        assert tolerated(values("neuron-device-plugin")["devicePlugin"]["tolerations"])
        assert tolerated(values("gpu-operator")["daemonsets"]["tolerations"])

    def test_service_accounts_are_those_that_have_identities(self) -> None:
        from components.clouds.aws.facts.iam import controllers

        names = {name: controller.service_account for name, controller in controllers().items()}
        assert values("cluster-autoscaler")["rbac"]["serviceAccount"]["name"] == names["cluster-autoscaler"]
        assert values("karpenter")["serviceAccount"]["name"] == names["karpenter"]
        assert values("load-balancer-controller")["serviceAccount"]["name"] == names["load-balancer-controller"]

    def test_the_load_balancer_controller_asks_no_metadata_and_stops_nobody(self) -> None:
        found = values("load-balancer-controller")
        assert (found["region"], found["vpcId"], found["enableServiceMutatorWebhook"]) == (
            "us-east-1",
            "vpc-1",
            False,
        )

    def test_karpenter_reads_the_queue(self) -> None:
        assert values("karpenter")["settings"] == {"clusterName": "c", "interruptionQueue": "q"}

    def test_the_gateway_asks_the_ai_gateway(self) -> None:
        extension = values("envoy-gateway")["config"]["envoyGateway"]
        assert extension["extensionApis"]["enableBackend"] is True
        address = extension["extensionManager"]["service"]["fqdn"]
        assert address == {
            "hostname": "ai-gateway-controller.envoy-ai-gateway-system.svc.cluster.local",
            "port": 1063,
        }
        hooks = extension["extensionManager"]["hooks"]["xdsTranslator"]
        assert hooks["post"] == ["Translation", "Cluster", "Route"]
        assert set(hooks["translation"]) == {"listener", "route", "cluster", "secret"}

    @pytest.mark.parametrize(
        ("redis", "asked"),
        [
            ("redis.redis.svc:6379", {"url": "redis.redis.svc:6379"}),
            ("rediss://redis.example.com:6379", {"url": "redis.example.com:6379", "tls": {}}),
        ],
    )
    def test_the_gateway_counts_in_a_redis_where_it_is_told_one(self, redis: str, asked: dict[str, Any]) -> None:
        """``EnvoyGateway.rateLimit`` of gateway.envoyproxy.io/v1alpha1; without it, global limits are refused."""
        (release,) = made(lambda o: networking.EnvoyGateway("x", {"redis": redis}, o)).of(RELEASE)
        told = release.inputs["values"]["config"]["envoyGateway"]
        assert told["rateLimit"] == {"backend": {"type": "Redis", "redis": asked}}
        plain = values("envoy-gateway")["config"]["envoyGateway"]
        assert {**told, "rateLimit": None} == {**plain, "rateLimit": None}
        assert "rateLimit" not in plain

    def test_llmaz_brings_nothing_but_itself(self) -> None:
        assert all(part == {"enabled": False} for part in values("llmaz").values())
        assert "leaderWorkerSet" in values("llmaz")

    @pytest.mark.parametrize(
        ("version", "switch", "parts"),
        [
            ("0.0.6", "install", {"leaderWorkerSet"}),
            ("0.0.7", "install", {"leaderWorkerSet"}),
            ("0.0.8", "enable", {"leaderWorkerSet", "prometheus"}),
            (
                "0.0.9",
                "enabled",
                {"leaderWorkerSet", "prometheus", "envoy-gateway", "envoy-ai-gateway", "open-webui"},
            ),
        ],
    )
    def test_earlier_charts_of_llmaz_have_other_switches(self, version: str, switch: str, parts: set[str]) -> None:
        """Source: InftyAI/llmaz, chart/values.global.yaml at each tag."""
        made = operators.llmaz_values(version)
        sidecar = made.pop("controllerManager", None)
        assert made == {name: {switch: False} for name in parts}
        assert (sidecar is not None) is (switch == "install")

    def test_kthenas_parts_are_never_in_two_releases(self) -> None:
        """A part that is on in both would be an object of two releases, which Helm refuses."""
        parts = ("workload", "networking")
        on = {
            name: {part for part in parts if values(name).get(part, {}).get("enabled", True)}
            for name in ("kthena", "kthena-router")
        }
        assert on == {"kthena": {"workload"}, "kthena-router": {"networking"}}

    def test_volcano_heeds_the_network_and_keeps_the_charts_plugins(self) -> None:
        """Those of config/volcano-scheduler.conf in the chart at v1.15.0."""
        config = yaml.safe_load(values("volcano")["custom"]["scheduler_config_override"])
        plugins = [plugin["name"] for tier in config["tiers"] for plugin in tier["plugins"]]
        assert plugins == [
            *("priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion", "nodeorder"),
            *("binpack", "network-topology-aware"),
        ]
        assert config["actions"] == "enqueue, allocate, backfill"


class TestKthenasRouter:
    def patch(self) -> Entry:
        (found,) = made(COMPONENTS["kthena-router"]).of("kubernetes:core/v1:ServicePatch")
        return found

    def test_its_service_is_one_of_the_cluster(self) -> None:
        """The chart has no value for it: templates/kthena-router/component/service.yaml says LoadBalancer."""
        found = self.patch().inputs
        assert found["spec"] == {"type": "ClusterIP"}
        named = (found["metadata"]["name"], found["metadata"]["namespace"])
        assert named == ("networking-kthena-router", charts()["kthena-router"].namespace)

    def test_it_is_closed_by_force_and_after_the_release(self) -> None:
        found = self.patch()
        assert found.inputs["metadata"]["annotations"]["pulumi.com/patchForce"] == "true"
        assert found.provider == "pulumi:providers:kubernetes::p"
        assert any("Release" in each for each in (found.parent, *found.dependencies))

    def test_no_other_chart_is_patched(self) -> None:
        patched = [name for name, make in COMPONENTS.items() if made(make).of("kubernetes:core/v1:ServicePatch")]
        assert patched == ["kthena-router"]


class TestKthenasRights:
    """What the controllers do at v0.1.0, and the chart's ClusterRole does not let them."""

    def objects(self) -> dict[str, Any]:
        found = made(COMPONENTS["kthena"])
        kind = "kubernetes:rbac.authorization.k8s.io/v1:"
        (role,), (bound,) = found.of(f"{kind}ClusterRole"), found.of(f"{kind}ClusterRoleBinding")
        return {"role": role.inputs, "bound": bound.inputs}

    def test_they_get_these_verbs_and_no_others(self) -> None:
        rules = self.objects()["role"]["rules"]
        assert {(kind, verb) for rule in rules for kind in rule["resources"] for verb in rule["verbs"]} == {
            ("autoscalingpolicies", "create"),
            ("autoscalingpolicies", "update"),
            ("autoscalingpolicybindings", "create"),
            ("autoscalingpolicybindings", "update"),
            ("modelservings", "delete"),
            ("modelservers", "delete"),
            ("podgroups", "update"),
            ("podgroups", "delete"),
        }
        assert "*" not in str(rules)

    def test_it_is_their_account_that_gets_them(self) -> None:
        found = self.objects()
        assert found["bound"]["roleRef"]["name"] == found["role"]["metadata"]["name"]
        (subject,) = found["bound"]["subjects"]
        assert (subject["name"], subject["namespace"]) == ("workload-kthena-controller-manager", "kthena-system")
