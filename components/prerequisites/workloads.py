"""Controllers of the kinds that models become, and what these rely on."""

from typing import Any

from .chart import FixedChart


class LeaderWorkerSetController(FixedChart):
    """Installs the LeaderWorkerSet controller, for replicas that span several pods."""

    _chart = "leader-worker-set"

    @staticmethod
    def _values() -> dict[str, Any]:
        """Two replicas, for no group's pod starts while its webhook is away (lws-hpa 1.10)."""
        return {"replicaCount": 2, "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}


class Volcano(FixedChart):
    """Schedules groups of pods together or not at all."""

    _chart = "volcano"


class CertManager(FixedChart):
    """Issues certificates for webhooks and the gateway."""

    _chart = "cert-manager"

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"crds": {"enabled": True}}
