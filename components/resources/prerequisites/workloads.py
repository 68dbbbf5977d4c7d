"""Controllers that the models' workloads require."""

from typing import Any

from .chart import FixedChart

_SCHEDULER = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
  - name: network-topology-aware
"""
"""The chart's default plugins and network-topology-aware, without which the network topology of a group is ignored
(volcano-sh/volcano v1.15.0, HyperNodeGradientForJobFn in pkg/scheduler/framework/session_plugins.go).
"""


class LeaderWorkerSetController(FixedChart):
    """Installs the LeaderWorkerSet controller, for replicas that span several pods."""

    _chart = "leader-worker-set"

    @staticmethod
    def _values() -> dict[str, Any]:
        # No pod of a group starts while the webhook is unavailable (lws-hpa 1.10).
        return {"replicaCount": 2, "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}


class Volcano(FixedChart):
    """Schedules the pods of a group all together or not at all.

    Groups with a network topology stay Pending until HyperNodes describe the network; create these yourself.
    """

    _chart = "volcano"

    @staticmethod
    def _values() -> dict[str, Any]:
        small = {"requests": {"cpu": "100m", "memory": "256Mi"}}
        return {
            "basic": {"image_pull_policy": "IfNotPresent"},
            "custom": {
                "scheduler_config_override": _SCHEDULER,
                **{f"{part}_resources": small for part in ("scheduler", "controller", "admission")},
            },
        }


class CertManager(FixedChart):
    """Issues certificates for webhooks and the gateway."""

    _chart = "cert-manager"

    @staticmethod
    def _values() -> dict[str, Any]:
        return {"crds": {"enabled": True}}
