"""How requests come in: one gateway for all models."""

from typing import Any

from .chart import FixedChart

_AI_HOST = "ai-gateway-controller.envoy-ai-gateway-system.svc.cluster.local"
_AI_PORT = 1063


class EnvoyGateway(FixedChart):
    """Installs Envoy Gateway, configured for the AI gateway's extension."""

    _chart = "envoy-gateway"

    @staticmethod
    def _values() -> dict[str, Any]:
        """Name the extension that the AI gateway serves (lws-hpa spec 2.2)."""
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


class AiGatewayKinds(FixedChart):
    """Installs the CustomResourceDefinitions of the AI gateway."""

    _chart = "ai-gateway-crds"


class AiGateway(FixedChart):
    """Routes requests by the model that they name. Requires EnvoyGateway and AiGatewayKinds."""

    _chart = "ai-gateway"
