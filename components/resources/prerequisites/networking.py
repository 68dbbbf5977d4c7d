"""How requests come in: one gateway for all models."""

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
    """Installs Envoy Gateway, configured for the AI gateway's extension."""

    def __init__(
        self, name: str, args: EnvoyGatewayArgs = _NOTHING, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Install it."""
        args = checked_args(name, args, EnvoyGatewayArgs)
        redis = args.get("redis")
        further = {"rateLimit": _rate_limit(redis)} if redis else {}
        values = {"config": {"envoyGateway": {**self._extension(), **further}}}
        self.install("envoy-gateway", name, values, args, opts)

    @staticmethod
    def _extension() -> dict[str, Any]:
        """Name the extension that the AI gateway serves (lws-hpa spec 2.2)."""
        everything = {"includeAll": True}
        hooks = {
            "xdsTranslator": {
                "translation": dict.fromkeys(("listener", "route", "cluster", "secret"), everything),
                "post": ["Translation", "Cluster", "Route"],
            }
        }
        return {
            "extensionApis": {"enableBackend": True, "enableEnvoyPatchPolicy": True},
            "extensionManager": {
                "hooks": hooks,
                "service": {"fqdn": {"hostname": _AI_HOST, "port": _AI_PORT}},
            },
        }


def _rate_limit(redis: str) -> dict[str, Any]:
    """Return where Envoy Gateway's service counts, which it runs only if told so."""
    tls: dict[str, Any] = {"tls": {}} if redis.startswith(SECURE) else {}
    return {"backend": {"type": "Redis", "redis": {"url": redis.removeprefix(SECURE), **tls}}}


class AiGatewayKinds(FixedChart):
    """Installs the CustomResourceDefinitions of the AI gateway."""

    _chart = "ai-gateway-crds"


class AiGateway(FixedChart):
    """Routes requests by the model that they name. Requires EnvoyGateway and AiGatewayKinds."""

    _chart = "ai-gateway"
