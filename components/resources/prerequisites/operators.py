"""The upstream operators, for resources in realization ``operator``."""

from typing import Any

import pulumi

from ...plan.prerequisites.charts import charts
from ..serving.objects import PACKAGE, kubernetes_object, provider_version
from .args import ChartArgs
from .chart import NOTHING, FixedChart

ROUTER_SERVICE = "networking-kthena-router"
"""Name that the chart gives to the Service of Kthena's router, whatever the release is called."""
KTHENA_ACCOUNT = "workload-kthena-controller-manager"
"""Name that the chart gives to the ServiceAccount of Kthena's controllers."""


class LlmazOperator(FixedChart):
    """Installs only llmaz's controller; everything else in its chart has its own component here, or is omitted."""

    _chart = "llmaz"

    @staticmethod
    def _values() -> dict[str, Any]:
        names = ("leaderWorkerSet", "envoy-gateway", "envoy-ai-gateway", "open-webui", "prometheus")
        return {name: {"enabled": False} for name in names}


class LlmkubeOperator(FixedChart):
    """Installs LLMKube, including a PodMonitor for its pods."""

    _chart = "llmkube"

    @staticmethod
    def _values() -> dict[str, Any]:
        """By default nothing scrapes the pods that it makes (llmkube spec 6)."""
        return {"prometheus": {"inferencePodMonitor": {"enabled": True}}, "modelCache": {"size": "100Gi"}}


class KthenaRouter(FixedChart):
    """Runs Kthena's router alone, reachable from inside the cluster at port 80 of ``networking-kthena-router``.

    The chart makes its Service a load balancer, which nobody has to authenticate to, and cannot be told otherwise. So
    the Service is made one of the cluster as soon as it is there, and nothing waits for the load balancer, which on
    many clusters would never come. Whoever is to reach the router from outside needs a front of their own for it.
    """

    _chart = "kthena-router"
    _awaited = False

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        super().__init__(name, args, opts)
        patch = pulumi.ResourceOptions(parent=self.release, depends_on=[self.release], version=provider_version())
        pulumi.CustomResource("kubernetes:core/v1:ServicePatch", name, self._closed(), patch)

    def _closed(self) -> dict[str, Any]:
        """Return what closes the Service. Every revision of the release opens it again, so each is closed anew."""
        revision = self.release.status.apply(lambda status: str(getattr(status, "revision", "")))
        annotations = {"pulumi.com/patchForce": "true", f"{PACKAGE}/closed-at-revision": revision}
        metadata = {"name": ROUTER_SERVICE, "namespace": self.namespace, "annotations": annotations}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"type": "ClusterIP"}}

    @staticmethod
    def _values() -> dict[str, Any]:
        """Leave out the controllers, and webhooks that are never called (kthena spec 1.4)."""
        return {
            "workload": {"enabled": False},
            "networking": {"kthenaRouter": {"webhook": {"enabled": False}}},
        }


class KthenaOperator(FixedChart):
    """Runs Kthena's controllers. Requires CertManager, for a certificate that their pod mounts, and KthenaRouter.

    The chart's ClusterRole lacks rights that they need to change what they once made; they get these too.
    """

    _chart = "kthena"

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        super().__init__(name, args, opts)
        for body in kthena_rights():
            kind = body["kind"].lower()
            kubernetes_object(body, f"{name}-{kind}", pulumi.ResourceOptions(parent=self, depends_on=[self.release]))

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"networking": {"enabled": False}, "global": {"certManager": {"enabled": True}}}


def kthena_rights() -> tuple[dict[str, Any], ...]:
    """Return the ClusterRole with the verbs that the controllers use and the chart leaves out, and its binding.

    Read in volcano-sh/kthena at v0.1.0: pkg/model-booster-controller/controller, pkg/model-serving-controller/
    gangscheduling/manager.go, and templates/kthena-controller-manager/rbac of the chart.
    """
    serving, networking = (f"{group}.serving.volcano.sh" for group in ("workload", "networking"))
    lacking = (
        (serving, ["autoscalingpolicies", "autoscalingpolicybindings"], ["create", "update"]),
        (serving, ["modelservings"], ["delete"]),
        (networking, ["modelservers"], ["delete"]),
        ("scheduling.volcano.sh", ["podgroups"], ["update", "delete"]),
    )
    api, metadata = "rbac.authorization.k8s.io", {"name": f"{PACKAGE}-kthena-controller-manager"}
    account = {"kind": "ServiceAccount", "name": KTHENA_ACCOUNT, "namespace": charts()["kthena"].namespace}
    rules = [{"apiGroups": [group], "resources": kinds, "verbs": verbs} for group, kinds, verbs in lacking]
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
