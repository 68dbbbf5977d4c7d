"""The upstream operators, for resources in realization ``operator``."""

from typing import Any

from .chart import FixedChart


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


class KthenaOperator(FixedChart):
    """Runs Kthena with certificates from cert-manager, which must be installed first.

    Its router is a Service of type LoadBalancer, which the chart does not allow to change: on a cluster without load
    balancers the installation times out.
    """

    _chart = "kthena"

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"global": {"certManager": {"enabled": True}}}
