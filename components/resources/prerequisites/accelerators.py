"""What makes NVIDIA's GPUs usable in pods, and seen."""

from typing import Any

import pulumi

from ...clouds.aws.names import ACCELERATOR_LABEL
from ..serving.arguments import checked_args
from .args import GpuOperatorArgs
from .chart import ChartComponent, FixedChart

EVERYTHING = {"operator": "Exists"}
"""What agents tolerate that nodes with accelerators need whatever else their taints are."""


def _on_gpu_nodes() -> dict[str, Any]:
    """Affinity to the nodes of our groups: by a label that they have from birth, not by one discovered later."""
    term = {"matchExpressions": [{"key": ACCELERATOR_LABEL, "operator": "Exists"}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


class NvidiaDevicePlugin(FixedChart):
    """Makes GPUs available to pods, and labels nodes with what they have (GPU feature discovery).

    Not for Bottlerocket's NVIDIA images, which include one, and never together with the GPU operator.
    """

    _chart = "nvidia-device-plugin"

    @staticmethod
    def _values() -> dict[str, Any]:
        """Let its discovery workers tolerate our taints, which they do not by default (lws-hpa spec 2.2)."""
        return {
            "gfd": {"enabled": True},
            "affinity": _on_gpu_nodes(),
            "tolerations": [EVERYTHING],
            "nfd": {"worker": {"tolerations": [EVERYTHING]}},
        }


class GpuOperator(ChartComponent):
    """Installs device plugin, feature discovery and DCGM exporter; the EKS images include the driver."""

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        args = checked_args(name, args, GpuOperatorArgs)
        self.install("gpu-operator", name, gpu_operator_values(args), args, opts)


def gpu_operator_values(args: GpuOperatorArgs) -> dict[str, Any]:
    """Return the chart's values. Its series keep the pods' own names too, as those of DcgmExporter do."""
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": args.get("device_plugin", True)},
        "dcgmExporter": {"serviceMonitor": {"enabled": True, "honorLabels": True}},
        "daemonsets": {"tolerations": [EVERYTHING]},
    }


class DcgmExporter(FixedChart):
    """Measures GPUs. Its series carry the names of the pods, to be joined with those of the engines."""

    _chart = "dcgm-exporter"

    @staticmethod
    def _values() -> dict[str, Any]:
        """Select GPU nodes and tolerate their taints; by default it does neither."""
        return {
            "serviceMonitor": {"enabled": True, "honorLabels": True},
            "tolerations": [EVERYTHING],
            "affinity": _on_gpu_nodes(),
        }
