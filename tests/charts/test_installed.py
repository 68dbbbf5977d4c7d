"""Charts of nodes, networks, workloads and operators do what the project relies on."""

import yaml

from components.checks.front_door.settings import ENVOY_NAMESPACE
from components.checks.hardening.network_policies import Allowed
from components.clouds.aws.words import Provisioner
from components.families.kthena import names
from components.fleet.instances import instance
from components.plan.prerequisites.charts import charts
from components.resources.prerequisites.operators import kthena_rights
from tests.charts.nodes import labels, selected
from tests.charts.test_relied_upon import Render, served_at


class TestNodeAutoscalers:
    def test_the_autoscaler_finds_groups_by_the_tags_that_they_get(self, rendered: Render) -> None:
        """Both keys must be there; TestEvery of the stacks has the tags of the groups."""
        (deployment,) = rendered("cluster-autoscaler").of("Deployment")
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        tags = "k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/c"
        assert {
            f"--node-group-auto-discovery=asg:tag={tags}",
            "--cloud-provider=aws",
            "--expander=least-waste",
            "--scale-down-unneeded-time=10m",
            "--max-graceful-termination-sec=3600",
            "--skip-nodes-with-local-storage=false",
        } <= set(container["command"])
        assert {"name": "AWS_REGION", "value": "us-east-1"} in container["env"]

    def test_the_autoscaler_keeps_the_bounds_and_the_order_of_groups(self, rendered: Render) -> None:
        """Without a cluster to discover groups of, there are no groups but those that are named."""
        found = rendered("cluster-autoscaler", "bounds alone, in order")
        (deployment,) = found.of("Deployment")
        flags = deployment["spec"]["template"]["spec"]["containers"][0]["command"]
        assert {"--nodes=1:4:asg-1", "--nodes=0:2:asg-2", "--expander=priority,least-waste"} <= set(flags)
        assert not [flag for flag in flags if flag.startswith("--node-group-auto-discovery")]
        order = found.one("ConfigMap", "cluster-autoscaler-priority-expander")
        assert order["metadata"]["namespace"] == deployment["metadata"]["namespace"]
        assert yaml.safe_load(order["data"]["priorities"]) == {1: [".*"], 20: ["^asg-1$"]}

    def test_the_autoscaler_may_watch_the_order(self, rendered: Render) -> None:
        (role,) = rendered("cluster-autoscaler", "bounds alone, in order").of("Role")
        (named,) = [
            rule for rule in role["rules"] if "cluster-autoscaler-priority-expander" in rule.get("resourceNames", [])
        ]
        assert named["resources"] == ["configmaps"]
        assert {"get", "watch"} <= set(named["verbs"])

    def test_karpenter_knows_cluster_and_queue(self, rendered: Render) -> None:
        environment = {
            each["name"]: each.get("value") for each in rendered("karpenter").container("karpenter")["env"]
        }
        assert (environment["CLUSTER_NAME"], environment["INTERRUPTION_QUEUE"]) == ("c", "q")

    def test_karpenter_does_not_run_on_nodes_of_its_own(self, rendered: Render) -> None:
        pod = rendered("karpenter").one("Deployment", "karpenter")["spec"]["template"]["spec"]
        system = instance("m7i.large")
        assert system
        here = labels(system, Provisioner.MANAGED)
        assert selected(pod, here)
        assert not selected(pod, {**here, "karpenter.sh/nodepool": "any"})


class TestNetworking:
    def test_the_load_balancer_controller_sees_no_service_being_made(self, rendered: Render) -> None:
        hooks = [
            hook for body in rendered("load-balancer-controller").of("MutatingWebhookConfiguration")
            for hook in body["webhooks"]
        ]  # fmt: skip
        assert hooks
        assert not [hook["name"] for hook in hooks for rule in hook["rules"] if "services" in rule["resources"]]

    def test_it_asks_no_metadata(self, rendered: Render) -> None:
        arguments = rendered("load-balancer-controller").container("aws-load-balancer-controller")["args"]
        assert {"--cluster-name=c", "--aws-region=us-east-1", "--aws-vpc-id=vpc-1"} <= set(arguments)

    def test_envoy_gateway_asks_the_ai_gateway_where_it_listens(self, rendered: Render) -> None:
        text = rendered("envoy-gateway").one("ConfigMap", "envoy-gateway-config")["data"]["envoy-gateway.yaml"]
        config = yaml.safe_load(text)
        address = config["extensionManager"]["service"]["fqdn"]
        served_at(rendered("ai-gateway"), f"http://{address['hostname']}:{address['port']}")
        assert config["extensionApis"] == {"enableBackend": True, "enableEnvoyPatchPolicy": True}
        everything = {part: {"includeAll": True} for part in ("listener", "route", "cluster", "secret")}
        assert config["extensionManager"]["hooks"] == {
            "xdsTranslator": {"translation": everything, "post": ["Translation", "Cluster", "Route"]}
        }

    def test_the_chart_keeps_the_controller_that_our_classes_name(self, rendered: Render) -> None:
        text = rendered("envoy-gateway").one("ConfigMap", "envoy-gateway-config")["data"]["envoy-gateway.yaml"]
        controller = yaml.safe_load(text)["gateway"]["controllerName"]
        assert controller == "gateway.envoyproxy.io/gatewayclass-controller"

    def test_the_ai_gateway_looks_where_envoy_gateway_is(self, rendered: Render) -> None:
        arguments = rendered("ai-gateway").container("ai-gateway-controller")["args"]
        assert f"--envoyGatewayNamespace={charts()['envoy-gateway'].namespace}" in arguments

    def test_others_look_for_them_where_they_are(self) -> None:
        assert charts()["envoy-gateway"].namespace == ENVOY_NAMESPACE
        assert charts()["prometheus"].namespace == Allowed().monitoring_namespace


class TestWorkloads:
    def test_leader_worker_sets_can_be_scaled(self, rendered: Render) -> None:
        crd = rendered("leader-worker-set").one(
            "CustomResourceDefinition", "leaderworkersets.leaderworkerset.x-k8s.io"
        )
        (version,) = crd["spec"]["versions"]
        assert version["name"] == "v1"
        assert "scale" in version["subresources"]

    def test_of_its_two_controllers_one_leads(self, rendered: Render) -> None:
        found = rendered("leader-worker-set")
        config = yaml.safe_load(
            found.one("ConfigMap", "lws-manager-config")["data"]["controller_manager_config.yaml"]
        )
        assert found.one("Deployment", "lws-controller-manager")["spec"]["replicas"] == 2
        assert config["leaderElection"]["leaderElect"] is True
        asked = found.container("lws-controller-manager")["resources"]["requests"]
        assert asked == {"cpu": "100m", "memory": "256Mi"}


class TestOperators:
    def test_llmaz_brings_itself_alone(self, rendered: Render) -> None:
        found = rendered("llmaz")
        names = [body["metadata"]["name"] for body in found.objects if "Deployment" in body["kind"]]
        assert names == ["llmaz-controller-manager"]
        kinds = {body["kind"] for body in found.objects}
        assert not kinds & {
            "StatefulSet",
            "DaemonSet",
            "Job",
            "Gateway",
            "GatewayClass",
            "Prometheus",
            "ServiceMonitor",
        }

    def test_llmaz_looks_for_its_settings_where_it_is_installed(self, rendered: Render) -> None:
        arguments = rendered("llmaz").container("llmaz-controller-manager")["args"]
        assert f"--namespace={charts()['llmaz'].namespace}" in arguments

    def test_llmkubes_pods_are_scraped_in_every_namespace(self, rendered: Render) -> None:
        spec = rendered("llmkube").one("PodMonitor", "llmkube-inference")["spec"]
        assert spec["namespaceSelector"] == {"any": True}
        assert spec["selector"] == {
            "matchExpressions": [{"key": "inference.llmkube.dev/service", "operator": "Exists"}]
        }

    def test_llmkube_has_room_for_models(self, rendered: Render) -> None:
        claim = rendered("llmkube").one("PersistentVolumeClaim", "llmkube-model-cache")
        assert claim["spec"]["resources"]["requests"]["storage"] == "100Gi"

    def test_kthenas_controllers_get_the_certificate_that_their_pod_mounts(self, rendered: Render) -> None:
        found = rendered("kthena")
        secrets = {body["spec"]["secretName"] for body in found.of("Certificate")}
        (deployment,) = found.of("Deployment")
        (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
        assert secrets == {volume["secret"]["secretName"]} == {"workload-webhook-certs"}

    def test_kthenas_controllers_lack_the_rights_that_they_get_beside_the_chart(self, rendered: Render) -> None:
        """A right that the chart gives needs nobody else; so it is with the account, which must be the chart's."""
        found = rendered("kthena")
        rules = found.one("ClusterRole", "kthena-controller-manager")["rules"]
        given = {(kind, verb) for rule in rules for kind in rule["resources"] for verb in rule["verbs"]}
        (role, bound) = kthena_rights(charts()["kthena"].version)
        added = {(kind, verb) for rule in role["rules"] for kind in rule["resources"] for verb in rule["verbs"]}
        assert not given & added
        assert found.one("ServiceAccount", bound["subjects"][0]["name"])

    def test_kthenas_router_comes_alone_and_needs_no_certificate(self, rendered: Render) -> None:
        found = rendered("kthena-router")
        assert [body["metadata"]["name"] for body in found.of("Deployment")] == ["kthena-router"]
        kinds = {body["kind"] for body in found.objects}
        assert not {kind for kind in kinds if "Webhook" in kind or kind in ("Certificate", "Issuer")}
        assert found.container("kthena-router")["args"] == ["--port=8080", "--enable-webhook=false"]

    def test_kthenas_two_releases_have_no_object_in_common(self, rendered: Render) -> None:
        def objects(chart: str) -> set[tuple[str, str]]:
            return {(body["kind"], body["metadata"]["name"]) for body in rendered(chart).objects}

        assert objects("kthena")
        assert not objects("kthena") & objects("kthena-router")

    def test_kthenas_router_is_where_endpoints_name_it(self, rendered: Render) -> None:
        service = served_at(rendered("kthena-router"), f"http://{names.ROUTER_HOST}:80")
        assert service["spec"]["type"] == "LoadBalancer", "it need not be closed any more"

    def test_kthena_runs_the_images_of_its_version(self, rendered: Render) -> None:
        """In the packaged chart; in the project's repository the tags are ``latest``."""
        tag = charts()["kthena"].version
        told = rendered("kthena").one("ConfigMap", "model-booster-controller-config")["data"].values()
        run = [rendered("kthena").container("kthena-controller-manager")["image"]]
        run.append(rendered("kthena-router").container("kthena-router")["image"])
        assert {image.rpartition(":")[2] for image in (*told, *run)} == {tag}

    def test_volcanos_scheduler_reads_our_plugins(self, rendered: Render) -> None:
        (text,) = rendered("volcano").one("ConfigMap", "volcano-scheduler-configmap")["data"].values()
        assert "network-topology-aware" in [
            plugin["name"] for tier in yaml.safe_load(text)["tiers"] for plugin in tier["plugins"]
        ]
        for name in ("scheduler", "controllers", "admission"):
            container = rendered("volcano").container(f"volcano-{name}")
            assert container["imagePullPolicy"] == "IfNotPresent"
            assert container["resources"] == {"requests": {"cpu": "100m", "memory": "256Mi"}}
