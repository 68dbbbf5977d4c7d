"""How requests come in: load balancers, and one gateway for all models."""

from typing import Any, Required, TypedDict

import pulumi

from .chart import ChartComponent

_AI_HOST = "ai-gateway-controller.envoy-ai-gateway-system.svc.cluster.local"
_AI_PORT = 1063


class LoadBalancerControllerArgs(TypedDict, total=False):
    """Arguments of LoadBalancerController."""

    cluster_name: Required[str]
    """Name of the EKS cluster."""
    region: Required[str]
    """AWS region; pods cannot ask the instance metadata for it."""
    vpc_id: Required[pulumi.Input[str]]
    """The cluster's VPC; likewise."""


class LoadBalancerController(ChartComponent):
    """Makes AWS load balancers for Services. Its rights come with its Pod Identity (see Identities)."""

    def __init__(
        self, name: str, args: LoadBalancerControllerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Install it."""
        self.install("load-balancer-controller", name, load_balancer_values(args), opts)


def load_balancer_values(args: LoadBalancerControllerArgs) -> dict[str, Any]:
    """Return the chart's values.

    Its webhook would otherwise see every new Service, and refuse all while its pods start (lws-hpa spec 2.2); our
    Services name their class themselves.
    """
    return {
        "clusterName": args["cluster_name"],
        "region": args["region"],
        "vpcId": args["vpc_id"],
        "serviceAccount": {"name": "aws-load-balancer-controller"},
        "enableServiceMutatorWebhook": False,
        "replicaCount": 2,
    }


class EnvoyGateway(ChartComponent):
    """Installs Envoy Gateway, open to the AI gateway's extension."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("envoy-gateway", name, envoy_gateway_values(), opts)


def envoy_gateway_values() -> dict[str, Any]:
    """Return the chart's values: the extension that the AI gateway serves (lws-hpa spec 2.2)."""
    everything = {"includeAll": True}
    hooks = {
        "xdsTranslator": {
            "translation": dict.fromkeys(("listener", "route", "cluster", "secret"), everything),
            "post": ["Translation", "Cluster", "Route"],
        }
    }
    return {
        "config": {
            "envoyGateway": {
                "extensionApis": {"enableBackend": True, "enableEnvoyPatchPolicy": True},
                "extensionManager": {
                    "hooks": hooks,
                    "service": {"fqdn": {"hostname": _AI_HOST, "port": _AI_PORT}},
                },
            }
        }
    }


class AiGatewayKinds(ChartComponent):
    """Teaches the API server the AI gateway's kinds."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install them."""
        self.install("ai-gateway-crds", name, {}, opts)


class AiGateway(ChartComponent):
    """Routes requests by the model that they name. Needs EnvoyGateway and AiGatewayKinds before it."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("ai-gateway", name, {}, opts)
