"""The upstream operators, for resources in realization ``operator``."""

from typing import Any

import pulumi

from .chart import ChartComponent


class LlmazOperator(ChartComponent):
    """Runs llmaz alone: what else its chart brings is installed here by its own component, or not at all."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("llmaz", name, llmaz_values(), opts)


def llmaz_values() -> dict[str, Any]:
    """Return the chart's values."""
    names = ("leaderWorkerSet", "envoy-gateway", "envoy-ai-gateway", "open-webui", "prometheus")
    return {name: {"enabled": False} for name in names}


class LlmkubeOperator(ChartComponent):
    """Runs LLMKube; its pods are scraped by its own monitor."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("llmkube", name, llmkube_values(), opts)


def llmkube_values() -> dict[str, Any]:
    """Return the chart's values: by default nothing scrapes the pods that it makes (llmkube spec 6)."""
    return {"prometheus": {"inferencePodMonitor": {"enabled": True}}, "modelCache": {"size": "100Gi"}}


class KthenaOperator(ChartComponent):
    """Runs Kthena with certificates from cert-manager, which must be there before.

    Its router is a Service of type LoadBalancer, and the chart lets nobody change that: where nothing makes load
    balancers the installation waits in vain.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("kthena", name, {"global": {"certManager": {"enabled": True}}}, opts)
