"""The gateway of all models."""

from typing import Any

import pulumi

from ...checks.front_door.limits import SECURE
from ..serving.arguments import checked_args
from .args import EnvoyGatewayArgs
from .chart import ChartComponent, FixedChart

_AI_HOST = "ai-gateway-controller.envoy-ai-gateway-system.svc.cluster.local"
_AI_PORT = 1063


_NOTHING: EnvoyGatewayArgs = {}


class EnvoyGateway(ChartComponent):
    """Installs Envoy Gateway, configured for the extension of the AI gateway."""

    def __init__(
        self, name: str, args: EnvoyGatewayArgs = _NOTHING, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        args = checked_args(name, args, EnvoyGatewayArgs)
        redis = args.get("redis")
        config: dict[str, Any] = {
            "extensionApis": {"enableBackend": True, "enableEnvoyPatchPolicy": True},
            # The extension that the AI gateway serves (lws-hpa spec 2.2).
            "extensionManager": {
                "hooks": {
                    "xdsTranslator": {
                        "translation": {
                            key: {"includeAll": True} for key in ("listener", "route", "cluster", "secret")
                        },
                        "post": ["Translation", "Cluster", "Route"],
                    }
                },
                "service": {"fqdn": {"hostname": _AI_HOST, "port": _AI_PORT}},
            },
        }
        if redis:
            # Envoy Gateway runs its rate limit service only if it has a backend.
            tls: dict[str, Any] = {"tls": {}} if redis.startswith(SECURE) else {}
            backend = {"type": "Redis", "redis": {"url": redis.removeprefix(SECURE), **tls}}
            config["rateLimit"] = {"backend": backend}
        self.install("envoy-gateway", name, {"config": {"envoyGateway": config}}, args, opts)


class AiGatewayKinds(FixedChart):
    """Installs the CustomResourceDefinitions of the AI gateway."""

    _chart = "ai-gateway-crds"


class AiGateway(FixedChart):
    """Routes requests by model name. Requires EnvoyGateway and AiGatewayKinds."""

    _chart = "ai-gateway"
