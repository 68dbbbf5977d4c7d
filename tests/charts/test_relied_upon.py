"""What the project relies on elsewhere is really in what the charts become: names, ports, selectors, tolerations."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from components.checks.metrics import dashboard
from components.checks.metrics.chain import MetricSettings
from components.clouds.aws.facts.iam import controllers
from components.fleet.instances import instance, instances
from components.plan.prerequisites.charts import charts
from components.plan.prerequisites.prometheus import PROMETHEUS_PORT, PROMETHEUS_URL
from components.plan.settings import Prerequisites
from tests.charts.nodes import PROVISIONERS, labels, selected, tolerated
from tests.charts.rendering import Helm, Rendered
from tests.charts.variants import USUAL
from tests.resources.prerequisites.test_components import RULES

Render = Callable[..., Rendered]
Object = dict[str, Any]
EXPORTED = yaml.safe_load(files("components.engines").joinpath("gateways.yaml").read_text())["exporters"]
"""The series that dashboards and alerts read besides those of engines, by who exports them."""
NVIDIA, NEURON = "nvidia.com/gpu", "aws.amazon.com/neuron"
NODES = {
    resource: [node for node in instances().values() if node.accelerator_resource == resource]
    for resource in (NVIDIA, NEURON)
}
WITH_EFA = [node for nodes in NODES.values() for node in nodes if node.fabric_interfaces]
ON_NODES = [
    ("nvidia-device-plugin", "nvdp-nvidia-device-plugin", NODES[NVIDIA]),
    ("nvidia-device-plugin", "nvdp-nvidia-device-plugin-gpu-feature-discovery", NODES[NVIDIA]),
    ("nvidia-device-plugin", "nvdp-node-feature-discovery-worker", NODES[NVIDIA]),
    ("gpu-operator", "gpu-operator-node-feature-discovery-worker", NODES[NVIDIA]),
    ("dcgm-exporter", "dcgm-exporter", NODES[NVIDIA]),
    ("neuron-device-plugin", "neuron-device-plugin", NODES[NEURON]),
    ("efa-device-plugin", "efa-device-plugin-aws-efa-k8s-device-plugin", WITH_EFA),
    ("prometheus", "kube-prometheus-stack-prometheus-node-exporter", [*NODES[NVIDIA], *NODES[NEURON]]),
]
"""DaemonSets, and the nodes on which each has to run."""


def served_at(rendered: Rendered, url: str) -> Object:
    """The Service that answers at a cluster address; its port is checked."""
    address = urlsplit(url)
    name, namespace, word = str(address.hostname).split(".")[:3]
    service = rendered.one("Service", name)
    assert (service["metadata"]["namespace"], word) == (namespace, "svc")
    assert address.port in [port["port"] for port in service["spec"]["ports"]]
    return service


class TestPrometheus:
    @pytest.mark.parametrize(
        "url",
        [
            f"{PROMETHEUS_URL}:{PROMETHEUS_PORT}",
            MetricSettings().prometheus,
            f"{Prerequisites().prometheus_url}:{Prerequisites().prometheus_port}",
        ],
        ids=["adapter", "keda", "settings"],
    )
    def test_it_is_where_autoscalers_ask_for_it(self, url: str, rendered: Render) -> None:
        service = served_at(rendered("prometheus"), url)
        assert service["spec"]["selector"]["operator.prometheus.io/name"] == "kube-prometheus-stack-prometheus"

    @pytest.mark.parametrize("kind", ["podMonitor", "serviceMonitor", "rule", "probe", "scrapeConfig"])
    def test_it_takes_every_monitor_and_rule_of_every_namespace(self, kind: str, rendered: Render) -> None:
        """An empty selector takes all; one that is absent takes none."""
        spec = rendered("prometheus").one("Prometheus", "kube-prometheus-stack-prometheus")["spec"]
        assert (spec[f"{kind}Selector"], spec[f"{kind}NamespaceSelector"]) == ({}, {})

    def test_samples_are_kept_as_long_and_where_it_is_said(self, rendered: Render) -> None:
        def spec(choice: str) -> Object:
            found: Object = rendered("prometheus", choice).one("Prometheus", "kube-prometheus-stack-prometheus")[
                "spec"
            ]
            return found

        claim = spec(USUAL)["storage"]["volumeClaimTemplate"]["spec"]
        assert claim == {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "50Gi"}}}
        assert "storage" not in spec("nothing said")
        assert (spec("nothing said")["retention"], spec("without grafana")["retention"]) == ("10d", "30d")

    @pytest.mark.parametrize("part", ["kube-etcd", "kube-scheduler", "kube-controller-manager"])
    def test_it_does_not_ask_a_control_plane_that_does_not_answer(self, part: str, rendered: Render) -> None:
        names = [body["metadata"]["name"] for body in rendered("prometheus").of("ServiceMonitor")]
        assert not [name for name in names if name.endswith(part)]

    def test_nodes_have_the_label_by_which_the_dashboard_tells_costs_apart(self, rendered: Render) -> None:
        settings = dashboard.DashboardSettings(costs={"g5.2xlarge": 1})
        arguments = rendered("prometheus").container("kube-prometheus-stack-kube-state-metrics")["args"]
        assert [f"--metric-labels-allowlist={dashboard.exported_node_labels(settings)[0]}"] == [
            argument for argument in arguments if "allowlist" in argument
        ]

    def test_what_dashboards_and_alerts_read_of_the_cluster_is_exported(self, rendered: Render) -> None:
        (listed,) = [
            argument.removeprefix("--resources=").split(",")
            for argument in rendered("prometheus").container("kube-prometheus-stack-kube-state-metrics")["args"]
            if argument.startswith("--resources=")
        ]
        read = {metric.split("_")[1] for metric in EXPORTED["kube-state-metrics"]}
        assert {f"{kind}s" for kind in read} <= set(listed)

    def test_grafana_reads_our_dashboards_in_every_namespace(self, rendered: Render) -> None:
        grafana = rendered("prometheus").one("Deployment", "kube-prometheus-stack-grafana")
        sidecars = {each["name"]: each for each in grafana["spec"]["template"]["spec"]["containers"]}
        environment = {each["name"]: each.get("value") for each in sidecars["grafana-sc-dashboard"]["env"]}
        assert (environment["LABEL"], environment["LABEL_VALUE"]) == (dashboard.LABEL, "1")
        assert environment["NAMESPACE"] == "ALL"

    def test_without_grafana_there_is_none(self, rendered: Render) -> None:
        names = [body["metadata"]["name"] for body in rendered("prometheus", "without grafana").of("Deployment")]
        assert names
        assert not [name for name in names if "grafana" in name]


class TestAdapter:
    def test_it_asks_our_prometheus(self, rendered: Render) -> None:
        arguments = rendered("prometheus-adapter").container("prometheus-adapter")["args"]
        assert f"--prometheus-url={PROMETHEUS_URL}:{PROMETHEUS_PORT}" in arguments

    def test_or_another(self, rendered: Render) -> None:
        arguments = rendered("prometheus-adapter", "another prometheus").container("prometheus-adapter")["args"]
        assert "--prometheus-url=https://thanos.observability.svc:443" in arguments

    @pytest.mark.parametrize(
        ("choice", "rules", "apis"),
        [
            (USUAL, {"rules": RULES["custom"], "externalRules": RULES["external"]}, {"custom", "external"}),
            ("beside keda", {"rules": RULES["custom"]}, {"custom"}),
            ("no rules", {}, set()),
        ],
    )
    def test_it_serves_exactly_our_rules(self, choice: str, rules: Object, apis: set[str], rendered: Render) -> None:
        found = rendered("prometheus-adapter", choice)
        config = yaml.safe_load(found.one("ConfigMap", "prometheus-adapter")["data"]["config.yaml"]) or {}
        assert {key: value for key, value in config.items() if value} == rules
        groups = {body["spec"]["group"] for body in found.of("APIService")}
        assert groups == {f"{api}.metrics.k8s.io" for api in apis}


class TestKeda:
    def test_its_own_series_are_scraped(self, rendered: Render) -> None:
        found = rendered("keda")
        (monitor,) = found.of("ServiceMonitor")
        service = found.one("Service", "keda-operator")
        wanted = monitor["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= service["metadata"]["labels"].items()
        (endpoint,) = monitor["spec"]["endpoints"]
        assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]


class TestNodes:
    @pytest.mark.parametrize(("chart", "daemon", "nodes"), ON_NODES, ids=[daemon for _, daemon, _ in ON_NODES])
    def test_daemons_run_on_every_node_that_has_what_they_serve(
        self, chart: str, daemon: str, nodes: list[Any], rendered: Render
    ) -> None:
        pod = rendered(chart).daemon_pods()[daemon]
        assert nodes
        assert [node.name for node in nodes if not tolerated(pod, node)] == []
        left_out = [n.name for n in nodes for p in PROVISIONERS if not selected(pod, labels(n, p))]
        assert left_out == []

    @pytest.mark.parametrize(
        ("chart", "daemon"),
        [
            ("nvidia-device-plugin", "nvdp-nvidia-device-plugin"),
            ("dcgm-exporter", "dcgm-exporter"),
            ("neuron-device-plugin", "neuron-device-plugin"),
        ],
    )
    def test_and_on_no_node_without(self, chart: str, daemon: str, rendered: Render) -> None:
        pod, system = rendered(chart).daemon_pods()[daemon], instance("m7i.large")
        assert system
        assert not [p for p in PROVISIONERS if selected(pod, labels(system, p))]

    def test_what_the_gpu_operator_makes_runs_on_gpu_nodes(self, rendered: Render) -> None:
        policy = rendered("gpu-operator").one("ClusterPolicy", "cluster-policy")["spec"]
        assert [node.name for node in NODES[NVIDIA] if not tolerated(policy["daemonsets"], node)] == []

    def test_neurons_plugin_offers_the_resource_that_models_ask_for(self, rendered: Render) -> None:
        """The other plugins have the name in their programs only; this chart's own test asks for it."""
        (pod,) = rendered("neuron-device-plugin").of("Pod")
        assert NEURON in pod["spec"]["containers"][0]["resources"]["limits"]


class TestGpuOperator:
    @pytest.mark.parametrize(("choice", "plugin"), [(USUAL, True), ("bottlerocket", False)])
    def test_what_the_image_brings_is_left_to_it(self, choice: str, plugin: bool, rendered: Render) -> None:
        policy = rendered("gpu-operator", choice).one("ClusterPolicy", "cluster-policy")["spec"]
        parts = {part: policy[part]["enabled"] for part in ("driver", "toolkit", "devicePlugin")}
        assert parts == {"driver": False, "toolkit": False, "devicePlugin": plugin}

    def test_series_keep_the_names_of_the_pods(self, rendered: Render) -> None:
        monitor = rendered("gpu-operator").one("ClusterPolicy", "cluster-policy")["spec"]["dcgmExporter"]
        assert monitor["enabled"] is True
        assert (monitor["serviceMonitor"]["enabled"], monitor["serviceMonitor"]["honorLabels"]) == (True, True)


class TestExistingMonitoring:
    """The charts as others install them, with the facts of ``tests/monitoring/test_existing.py``."""

    def test_prometheus_selects_by_the_label_of_its_release(self, helm: Callable[[str], Helm]) -> None:
        (prometheus,) = helm("prometheus").render({}).of("Prometheus")
        assert prometheus["spec"]["podMonitorSelector"] == {
            "matchLabels": {"release": charts()["prometheus"].release}
        }
        assert prometheus["spec"]["podMonitorNamespaceSelector"] == {}

    def test_the_adapter_reads_the_rules_of_the_existing_config_map(self, helm: Callable[[str], Helm]) -> None:
        rendered = helm("prometheus-adapter").render({"rules": {"existing": "models"}})
        assert rendered.of("ConfigMap") == []
        pod = rendered.one("Deployment", "prometheus-adapter")["spec"]["template"]["spec"]
        (volume,) = [each for each in pod["volumes"] if "configMap" in each]
        (mount,) = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == volume["name"]]
        assert volume["configMap"]["name"] == "models"
        assert f"--config={mount['mountPath'].rstrip('/')}/config.yaml" in pod["containers"][0]["args"]


def test_dcgms_series_keep_the_names_of_the_pods(rendered: Render) -> None:
    found = rendered("dcgm-exporter")
    (endpoint,) = found.one("ServiceMonitor", "dcgm-exporter")["spec"]["endpoints"]
    assert endpoint["honorLabels"] is True
    assert endpoint["port"] in [port["name"] for port in found.one("Service", "dcgm-exporter")["spec"]["ports"]]


def test_what_dashboards_and_alerts_read_of_gpus_is_exported(rendered: Render) -> None:
    counters = rendered("dcgm-exporter").one("ConfigMap", "exporter-metrics-config-map")["data"]["metrics"]
    lines = [line.strip() for line in counters.splitlines()]
    exported = {line.partition(",")[0] for line in lines if line and not line.startswith("#")}
    assert set(EXPORTED["dcgm-exporter"]) <= exported


class TestIdentities:
    @pytest.mark.parametrize("name", sorted(set(controllers()) & set(charts())))
    def test_the_pods_run_as_the_account_that_has_the_role(self, name: str, rendered: Render) -> None:
        wanted = controllers()[name]
        account = rendered(name).one("ServiceAccount", wanted.service_account)
        assert account["metadata"]["namespace"] == wanted.namespace == charts()[name].namespace
        (deployment,) = rendered(name).of("Deployment")
        assert deployment["metadata"]["namespace"] == wanted.namespace
        assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == wanted.service_account

    def test_four_controllers_have_roles(self) -> None:
        names = set(controllers()) & set(charts())
        assert names == {"cert-manager", "cluster-autoscaler", "karpenter", "load-balancer-controller"}
