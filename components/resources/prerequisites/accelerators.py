"""NVIDIA GPUs: device plugin, operator and metrics."""

from typing import Any

import pulumi

from ...clouds.aws.names import ACCELERATOR_LABEL
from ..serving.arguments import checked_args
from .args import GpuOperatorArgs
from .chart import ChartComponent, FixedChart

EVERYTHING = {"operator": "Exists"}
"""Toleration of agents that must run on all nodes with accelerators."""


def _on_gpu_nodes() -> dict[str, Any]:
    """Return affinity to accelerator nodes, by a label that they have at launch, before feature discovery."""
    term = {"matchExpressions": [{"key": ACCELERATOR_LABEL, "operator": "Exists"}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


class NvidiaDevicePlugin(FixedChart):
    """Makes GPUs available to pods, and labels nodes with what they have (GPU feature discovery).

    Do not combine it with Bottlerocket's NVIDIA AMIs, which include a device plugin, or with the GPU operator.
    """

    _chart = "nvidia-device-plugin"

    @staticmethod
    def _values() -> dict[str, Any]:
        # The workers of node feature discovery do not tolerate the taints by default (lws-hpa spec 2.2).
        return {
            "gfd": {"enabled": True},
            "affinity": _on_gpu_nodes(),
            "tolerations": [EVERYTHING],
            "nfd": {"worker": {"tolerations": [EVERYTHING]}},
        }


class GpuOperator(ChartComponent):
    """Installs device plugin, feature discovery and DCGM exporter; the EKS images include the driver."""

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, GpuOperatorArgs)
        self.install("gpu-operator", name, gpu_operator_values(args), args, opts)


def gpu_operator_values(args: GpuOperatorArgs) -> dict[str, Any]:
    """Return the chart's values. As in DcgmExporter, its series keep the names of pods (honorLabels)."""
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": args.get("device_plugin", True)},
        "dcgmExporter": {"serviceMonitor": {"enabled": True, "honorLabels": True}},
        "daemonsets": {"tolerations": [EVERYTHING]},
    }


class DcgmExporter(FixedChart):
    """Exports GPU metrics, labeled with the pods that use the GPUs."""

    _chart = "dcgm-exporter"

    @staticmethod
    def _values() -> dict[str, Any]:
        # By default the chart neither selects GPU nodes nor tolerates their taints.
        return {
            "serviceMonitor": {"enabled": True, "honorLabels": True},
            "tolerations": [EVERYTHING],
            "affinity": _on_gpu_nodes(),
        }
