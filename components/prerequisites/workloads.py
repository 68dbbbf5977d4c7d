"""Controllers of the kinds that models become, and what these rely on."""

from typing import Any

import pulumi

from .chart import ChartComponent


class LeaderWorkerSetController(ChartComponent):
    """Runs LeaderWorkerSets: replicas that span several pods."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("leader-worker-set", name, leader_worker_set_values(), opts)


def leader_worker_set_values() -> dict[str, Any]:
    """Return the chart's values: two replicas, for no group's pod starts while its webhook is away (lws-hpa 1.10)."""
    return {"replicaCount": 2, "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}


class Volcano(ChartComponent):
    """Schedules groups of pods all at once or not at all."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("volcano", name, {}, opts)


class CertManager(ChartComponent):
    """Issues certificates for webhooks and for the gateway."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("cert-manager", name, {"crds": {"enabled": True}}, opts)
