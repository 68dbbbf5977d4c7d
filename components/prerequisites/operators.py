"""The upstream operators, for resources in realization ``operator``."""

from typing import Any

from .chart import FixedChart


class LlmazOperator(FixedChart):
    """Runs llmaz alone: what else its chart brings is installed here by its own component, or not at all."""

    _chart = "llmaz"

    @staticmethod
    def _values() -> dict[str, Any]:
        names = ("leaderWorkerSet", "envoy-gateway", "envoy-ai-gateway", "open-webui", "prometheus")
        return {name: {"enabled": False} for name in names}


class LlmkubeOperator(FixedChart):
    """Runs LLMKube; its pods are scraped by its own monitor."""

    _chart = "llmkube"

    @staticmethod
    def _values() -> dict[str, Any]:
        """By default nothing scrapes the pods that it makes (llmkube spec 6)."""
        return {"prometheus": {"inferencePodMonitor": {"enabled": True}}, "modelCache": {"size": "100Gi"}}


class KthenaOperator(FixedChart):
    """Runs Kthena with certificates from cert-manager, which must be there before.

    Its router is a Service of type LoadBalancer, and the chart lets nobody change that: where nothing makes load
    balancers the installation waits in vain.
    """

    _chart = "kthena"

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"global": {"certManager": {"enabled": True}}}
