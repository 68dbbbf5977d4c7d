"""The controller as objects: WVA spec 6, and what the controller's own code asks of them (at c0f645c)."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.families import operator_objects
from components.families.family import OperatorSite
from components.fleet.levels import ServiceLevels, VariantController
from components.fleet.objects import key_of
from tests.families.llmd.operated.support import HOME, Object

URL = "https://prometheus.observability.svc:9090"
NAME = "inferno-autoscaler-controller-manager"
OWN = "inferno-autoscaler-variantautoscaling-config"


def installed(controller: VariantController | None = None, **site: Any) -> dict[str, Object]:
    """The objects by kind and name."""
    levels = ServiceLevels(controller=controller or VariantController(URL))
    found = operator_objects("wva", OperatorSite(levels, **{"scraper": "monitoring", "account": "prom", **site}))
    by_name = {f"{kind}/{name}": body for body in found for kind, _, name in [key_of(body)]}
    assert len(by_name) == len(found)
    return by_name


def pod(**controller: Any) -> Object:
    body = installed(VariantController(URL, **controller))[f"Deployment/{NAME}"]
    spec: Object = body["spec"]["template"]["spec"]
    return spec


def container(**controller: Any) -> Object:
    (found,) = pod(**controller)["containers"]
    return dict(found)


def variables(**controller: Any) -> Object:
    return {each["name"]: each for each in container(**controller)["env"]}


class TestObjects:
    def test_they_are_what_upstreams_overlay_makes(self) -> None:
        """Spec 6, with a budget for drains, and without roles for people."""
        assert list(installed()) == [
            f"Namespace/{HOME}",
            "CustomResourceDefinition/variantautoscalings.llmd.ai",
            f"ServiceAccount/{NAME}",
            "ClusterRole/inferno-autoscaler-manager",
            "ClusterRoleBinding/inferno-autoscaler-manager",
            "Role/inferno-autoscaler-leader-election",
            "RoleBinding/inferno-autoscaler-leader-election",
            "ClusterRole/inferno-autoscaler-metrics-reader",
            "ClusterRoleBinding/inferno-autoscaler-metrics-reader",
            f"ConfigMap/{OWN}",
            f"Service/{NAME}-metrics-service",
            f"Deployment/{NAME}",
            f"PodDisruptionBudget/{NAME}",
            f"ServiceMonitor/{NAME}-metrics-monitor",
        ]

    def test_each_is_what_kubernetes_takes(self) -> None:
        for name, body in installed(guarded=True).items():
            if not name.startswith("ServiceMonitor/"):
                kubernetes_validate.validate(body, "1.36", strict=True)

    def test_what_is_namespaced_is_in_the_namespace_that_the_controller_has_compiled_in(self) -> None:
        cluster_wide = ("Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding")
        for body in installed(guarded=True).values():
            assert body["metadata"].get("namespace", HOME) == HOME
            assert ("namespace" in body["metadata"]) is (body["kind"] not in cluster_wide)

    def test_the_namespace_takes_restricted_pods_alone(self) -> None:
        labels = installed()[f"Namespace/{HOME}"]["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"

    def test_everything_finds_the_pods(self) -> None:
        found = installed(guarded=True)
        labels = found[f"Deployment/{NAME}"]["spec"]["template"]["metadata"]["labels"]
        selectors = [
            found[f"Deployment/{NAME}"]["spec"]["selector"]["matchLabels"],
            found[f"Service/{NAME}-metrics-service"]["spec"]["selector"],
            found[f"PodDisruptionBudget/{NAME}"]["spec"]["selector"]["matchLabels"],
            found["NetworkPolicy/inferno-autoscaler-metrics"]["spec"]["podSelector"]["matchLabels"],
        ]
        assert all(selector and selector.items() <= labels.items() for selector in selectors)
        monitor = found[f"ServiceMonitor/{NAME}-metrics-monitor"]["spec"]["selector"]["matchLabels"]
        assert monitor.items() <= found[f"Service/{NAME}-metrics-service"]["metadata"]["labels"].items()


class TestPods:
    def test_two_of_which_one_decides(self) -> None:
        assert installed()[f"Deployment/{NAME}"]["spec"]["replicas"] == 2
        assert container()["args"] == [
            "--metrics-bind-address=:8443",
            "--metrics-secure=true",
            "--leader-elect=true",
            "--health-probe-bind-address=:8081",
        ]

    def test_they_are_as_upstream_runs_them(self) -> None:
        found = container()
        assert found["image"] == "quay.io/infernoautoscaler/inferno-controller:0.0.1-multi-arch"
        assert found["resources"] == {
            "requests": {"cpu": "10m", "memory": "64Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        }
        assert found["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": 8081}
        assert found["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 8081}

    def test_they_have_time_to_find_prometheus(self) -> None:
        """Six tries, the waits from 5 s doubling (internal/utils: PrometheusBackoff): nothing answers before."""
        waits = sum(5 * 2**each for each in range(6))
        probe = container()["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] > waits

    def test_they_meet_the_restricted_profile(self) -> None:
        spec, found = pod(), container()["securityContext"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert found == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }

    def test_another_image(self) -> None:
        assert container(image="registry.example.com/wva@sha256:0")["image"] == "registry.example.com/wva@sha256:0"

    def test_variables_are_those_of_the_settings(self) -> None:
        found, data = variables(), installed()[f"ConfigMap/{OWN}"]["data"]
        for key in ("PROMETHEUS_BASE_URL", "PROMETHEUS_TLS_INSECURE_SKIP_VERIFY", "WVA_SCALE_TO_ZERO"):
            assert found[key]["valueFrom"] == {"configMapKeyRef": {"name": OWN, "key": key}}
            assert key in data
        token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
        assert found["PROMETHEUS_TOKEN_PATH"]["value"] == token
        assert pod()["automountServiceAccountToken"] is True
        assert "PROMETHEUS_CA_CERT_PATH" not in found

    def test_an_authority_of_ones_own_is_a_variable(self) -> None:
        """The same key in the ConfigMap is ignored once the address is a variable (spec 4)."""
        path = variables(ca_secret="prometheus-ca")["PROMETHEUS_CA_CERT_PATH"]["value"]
        (volume,) = pod(ca_secret="prometheus-ca")["volumes"]
        (mount,) = container(ca_secret="prometheus-ca")["volumeMounts"]
        assert volume["secret"]["secretName"] == "prometheus-ca"
        (file,) = volume["secret"]["items"]
        assert path == f"{mount['mountPath']}/{file['path']}"
        assert (file["key"], mount["name"], mount["readOnly"]) == ("ca.crt", volume["name"], True)
        assert "volumes" not in pod()

    @pytest.mark.parametrize(
        ("change", "again"),
        [({"scale_to_zero": True}, True), ({"skip_verify": True}, True), ({"interval": "30s"}, False)],
    )
    def test_they_start_again_when_what_they_read_at_start_changes(self, change: Object, again: bool) -> None:
        """GLOBAL_OPT_INTERVAL is read in each round."""

        def template(**controller: Any) -> Any:
            return installed(VariantController(URL, **controller))[f"Deployment/{NAME}"]["spec"]["template"]

        assert (template() != template(**change)) is again


class TestRights:
    """What is listed in rights.py; test_on_cluster asks an API server the same."""

    def rules(self, kind: str, name: str) -> set[tuple[str, str, str]]:
        found: list[Object] = installed()[f"{kind}/{name}"]["rules"]
        return {
            (group, resource, verb)
            for rule in found
            for group in rule.get("apiGroups", [""])
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

    def test_in_the_cluster(self) -> None:
        read = [("", "configmaps"), ("", "nodes"), ("apps", "deployments"), ("llmd.ai", "variantautoscalings")]
        assert self.rules("ClusterRole", "inferno-autoscaler-manager") == {
            *((group, resource, verb) for group, resource in read for verb in ("list", "watch")),
            ("llmd.ai", "variantautoscalings", "patch"),
            ("llmd.ai", "variantautoscalings/status", "update"),
            ("authentication.k8s.io", "tokenreviews", "create"),
            ("authorization.k8s.io", "subjectaccessreviews", "create"),
        }

    def test_in_its_namespace(self) -> None:
        leases, events = ("coordination.k8s.io", "leases"), ("", "events")
        assert self.rules("Role", "inferno-autoscaler-leader-election") == {
            *((*leases, verb) for verb in ("create", "get", "update")),
            *((*events, verb) for verb in ("create", "patch")),
        }
        by_name = [r for r in installed()["Role/inferno-autoscaler-leader-election"]["rules"] if "get" in r["verbs"]]
        assert [rule["resourceNames"] for rule in by_name] == [["72dd1cf1.llm-d.ai"]]

    @pytest.mark.parametrize("kind", ["ClusterRoleBinding", "RoleBinding"])
    def test_they_are_the_controllers(self, kind: str) -> None:
        bindings = [body for body in installed(scraper="").values() if body["kind"] == kind]
        for body in bindings:
            assert body["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": HOME}]
            assert body["roleRef"]["kind"] == kind.removesuffix("Binding")
        assert bindings

    def test_prometheus_may_read_the_metrics_and_nothing_else(self) -> None:
        found = installed()
        role = found["ClusterRole/inferno-autoscaler-metrics-reader"]
        assert role["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
        (subject,) = found["ClusterRoleBinding/inferno-autoscaler-metrics-reader"]["subjects"]
        assert subject == {"kind": "ServiceAccount", "name": "prom", "namespace": "monitoring"}

    def test_where_its_account_is_not_known_any_of_its_namespace_may(self) -> None:
        (subject,) = installed(account="")["ClusterRoleBinding/inferno-autoscaler-metrics-reader"]["subjects"]
        assert (subject["kind"], subject["name"]) == ("Group", "system:serviceaccounts:monitoring")
        assert "ClusterRoleBinding/inferno-autoscaler-metrics-reader" not in installed(scraper="")

    def test_nobody_may_everything(self) -> None:
        for body in installed().values():
            for rule in body.get("rules", []):
                assert "*" not in [*rule["verbs"], *rule.get("resources", []), *rule.get("apiGroups", [])]


class TestMetrics:
    def test_prometheus_scrapes_them_over_https_with_its_token(self) -> None:
        """Spec 6, 9: without honorLabels, so that the variant's namespace is ``exported_namespace``."""
        body = installed(interval="20s", monitor_labels={"team": "ml"})[f"ServiceMonitor/{NAME}-metrics-monitor"]
        (endpoint,) = body["spec"]["endpoints"]
        assert endpoint == {
            "port": "https",
            "path": "/metrics",
            "scheme": "https",
            "interval": "20s",
            "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "tlsConfig": {"insecureSkipVerify": True},
        }
        assert body["metadata"]["labels"].items() >= {"release": "kube-prometheus-stack", "team": "ml"}.items()
        (port,) = installed()[f"Service/{NAME}-metrics-service"]["spec"]["ports"]
        assert (port["name"], port["port"], port["targetPort"]) == ("https", 8443, 8443)

    def test_with_network_policies_nobody_else_gets_to_them(self) -> None:
        spec = installed(guarded=True)["NetworkPolicy/inferno-autoscaler-metrics"]["spec"]
        (rule,) = spec["ingress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": 8443}]
        (peer,) = rule["from"]
        assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}
        assert spec["policyTypes"] == ["Ingress"]
        nobody = installed(guarded=True, scraper="")["NetworkPolicy/inferno-autoscaler-metrics"]["spec"]
        assert nobody["ingress"] == []
        assert not any(name.startswith("NetworkPolicy/") for name in installed())
