"""The upstream operators, for resources with realization ``operator``."""

from typing import Any

import pulumi

from ...plan.prerequisites.charts import charts
from ...plan.timeouts.objects import lone_timeouts
from ..serving.arguments import checked_args
from ..serving.objects import PACKAGE, kubernetes_object, provider_version
from ..serving.waiting import custom_timeouts
from .args import ChartArgs
from .chart import NOTHING, ChartComponent, FixedChart

ROUTER_SERVICE = "networking-kthena-router"
"""Service of Kthena's router in the pinned chart; its name does not depend on the release of the chart."""
KTHENA_ACCOUNT = "workload-kthena-controller-manager"
"""ServiceAccount of Kthena's controllers in the pinned chart."""


def _named(name: str, version: str) -> str:
    """Return the name of an object in a version of Kthena's chart; since v0.2.0, names lack that of the subchart."""
    return name if version == charts()["kthena"].version else name.partition("-")[2]


class LlmazOperator(ChartComponent):
    """Installs only llmaz's controller. The other parts of its chart have components of their own, or are omitted."""

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, ChartArgs)
        version = args.get("version") or charts()["llmaz"].version
        self.install("llmaz", name, llmaz_values(version), args, opts)


# InftyAI/llmaz, chart/values.global.yaml at v0.1.0, v0.1.1 and v0.1.2.
_LLMAZ_SWITCHES = {"0.0.6": "install", "0.0.7": "install", "0.0.8": "enable"}
_LLMAZ_PARTS = {
    "0.0.6": ("leaderWorkerSet",),
    "0.0.7": ("leaderWorkerSet",),
    "0.0.8": ("leaderWorkerSet", "prometheus"),
}


def llmaz_values(version: str) -> dict[str, Any]:
    """Return the values of a version of llmaz's chart."""
    every = ("leaderWorkerSet", "envoy-gateway", "envoy-ai-gateway", "open-webui", "prometheus")
    values: dict[str, Any] = {
        name: {_LLMAZ_SWITCHES.get(version, "enabled"): False} for name in _LLMAZ_PARTS.get(version, every)
    }
    if _LLMAZ_SWITCHES.get(version) == "install":
        # The sidecar of these charts is in a registry that was shut down in 2025 (kubernetes-sigs/kubebuilder,
        # discussion 3907); its project publishes the same tags.
        image = {"repository": "quay.io/brancz/kube-rbac-proxy"}
        values["controllerManager"] = {"kubeRbacProxy": {"image": image}}
    return values


class LlmkubeOperator(FixedChart):
    """Installs LLMKube, including a PodMonitor for its pods."""

    _chart = "llmkube"

    @staticmethod
    def _values() -> dict[str, Any]:
        # The PodMonitor is off by default, so that nothing would scrape its pods (llmkube spec 6).
        return {"prometheus": {"inferencePodMonitor": {"enabled": True}}, "modelCache": {"size": "100Gi"}}


class KthenaRouter(FixedChart):
    """Runs only Kthena's router, reachable inside the cluster at port 80 of ``networking-kthena-router``.

    Since v0.2.0 the name is ``kthena-router``. The chart always creates a Service of type LoadBalancer, without
    authentication. The component patches it to ClusterIP, and does not wait for the load balancer, which many
    clusters never provide. Access from outside requires a gateway of your own.
    """

    _chart = "kthena-router"
    _awaited = False

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        body = self._closed(_named(ROUTER_SERVICE, args.get("version") or charts()[self._chart].version))
        patch = pulumi.ResourceOptions(
            parent=self.release,
            depends_on=[self.release],
            version=provider_version(),
            # The provider waits for a patched Service as for its own.
            custom_timeouts=custom_timeouts(lone_timeouts(body)),
        )
        pulumi.CustomResource("kubernetes:core/v1:ServicePatch", name, body, patch)

    def _closed(self, service: str) -> dict[str, Any]:
        # Each revision of the release resets the Service, so that the patch must be applied again.
        revision = self.release.status.apply(lambda status: str((status or {}).get("revision", "")))
        annotations = {"pulumi.com/patchForce": "true", f"{PACKAGE}/closed-at-revision": revision}
        metadata = {"name": service, "namespace": self.namespace, "annotations": annotations}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"type": "ClusterIP"}}

    @staticmethod
    def _values() -> dict[str, Any]:
        # Without the controllers, and without webhooks that are never called (kthena spec 1.4).
        return {
            "workload": {"enabled": False},
            "networking": {"kthenaRouter": {"webhook": {"enabled": False}}},
        }


class KthenaOperator(FixedChart):
    """Runs Kthena's controllers. Requires KthenaRouter, and CertManager for a certificate that their pod mounts.

    Adds permissions that the chart's ClusterRole lacks, without which the controllers cannot update their own
    objects.
    """

    _chart = "kthena"

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        for body in kthena_rights(args.get("version") or charts()[self._chart].version):
            kind = body["kind"].lower()
            kubernetes_object(body, f"{name}-{kind}", pulumi.ResourceOptions(parent=self, depends_on=[self.release]))

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"networking": {"enabled": False}, "global": {"certManager": {"enabled": True}}}


def kthena_rights(version: str) -> tuple[dict[str, Any], ...]:
    """Return a ClusterRole with the verbs that the controllers use and the chart omits, and its binding.

    Sources in volcano-sh/kthena at v0.1.0: pkg/model-booster-controller/controller, pkg/model-serving-controller/
    gangscheduling/manager.go, and templates/kthena-controller-manager/rbac of the chart. Later charts have some of
    them.

    Args:
        version: The version of the chart.
    """
    serving, networking = (f"{group}.serving.volcano.sh" for group in ("workload", "networking"))
    missing = (
        (serving, ["autoscalingpolicies", "autoscalingpolicybindings"], ["create", "update"]),
        (serving, ["modelservings"], ["delete"]),
        (networking, ["modelservers"], ["delete"]),
        ("scheduling.volcano.sh", ["podgroups"], ["update", "delete"]),
    )
    api, metadata = "rbac.authorization.k8s.io", {"name": f"{PACKAGE}-kthena-controller-manager"}
    account = {
        "kind": "ServiceAccount",
        "name": _named(KTHENA_ACCOUNT, version),
        "namespace": charts()["kthena"].namespace,
    }
    rules = [{"apiGroups": [group], "resources": kinds, "verbs": verbs} for group, kinds, verbs in missing]
    role = {"apiGroup": api, "kind": "ClusterRole", "name": metadata["name"]}
    return (
        {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": role,
            "subjects": [account],
        },
    )
