"""What makes accelerators and EFA usable in pods, and seen."""

from typing import Any, TypedDict

import pulumi

from ..aws.names import ACCELERATOR_LABEL, NEURON_RESOURCE
from ..nodes.instances import instances
from .chart import ChartComponent

_GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_NEURON = {"key": NEURON_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}
_CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}


def _on_gpu_nodes() -> dict[str, Any]:
    """Affinity to the nodes of our groups: by a label that they have from birth, not by one discovered later."""
    term = {"matchExpressions": [{"key": ACCELERATOR_LABEL, "operator": "Exists"}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


class NvidiaDevicePlugin(ChartComponent):
    """Offers GPUs to pods, and labels nodes with what they have (GPU feature discovery).

    Not for Bottlerocket's NVIDIA images, which bring one, and never beside the GPU operator.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("nvidia-device-plugin", name, device_plugin_values(), opts)


def device_plugin_values() -> dict[str, Any]:
    """Return the chart's values: by default its discovery workers do not tolerate our taint (lws-hpa spec 2.2)."""
    return {
        "gfd": {"enabled": True},
        "affinity": _on_gpu_nodes(),
        "tolerations": [_CRITICAL, _GPU],
        "nfd": {"worker": {"tolerations": [_GPU]}},
    }


class GpuOperatorArgs(TypedDict, total=False):
    """Arguments of GpuOperator."""

    device_plugin: bool
    """Whether it brings the device plugin; false on Bottlerocket, whose images have one. Default: true."""


class GpuOperator(ChartComponent):
    """Brings device plugin, feature discovery and DCGM exporter in one; the EKS images bring driver and toolkit."""

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("gpu-operator", name, gpu_operator_values(args), opts)


def gpu_operator_values(args: GpuOperatorArgs) -> dict[str, Any]:
    """Return the chart's values. Its series keep the pods' own names too, as those of DcgmExporter do."""
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": args.get("device_plugin", True)},
        "dcgmExporter": {"serviceMonitor": {"enabled": True, "honorLabels": True}},
        "daemonsets": {"tolerations": [_GPU]},
    }


class DcgmExporter(ChartComponent):
    """Measures GPUs. Its series keep the pods' own names, so that they can be joined with the engines'."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("dcgm-exporter", name, dcgm_values(), opts)


def dcgm_values() -> dict[str, Any]:
    """Return the chart's values: by default it tolerates no GPU node and selects none."""
    return {
        "serviceMonitor": {"enabled": True, "honorLabels": True},
        "tolerations": [_GPU],
        "affinity": _on_gpu_nodes(),
    }


class NeuronDevicePlugin(ChartComponent):
    """Offers Inferentia and Trainium devices to pods. Does not install Neuron's scheduler extension."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("neuron-device-plugin", name, neuron_values(), opts)


def neuron_values() -> dict[str, Any]:
    """Return the chart's values: the types that it goes to by default are those of 2024, without Trainium 2."""
    types = sorted(node.name for node in instances().values() if node.accelerator_resource == NEURON_RESOURCE)
    return {
        "neuronInstances": types,
        "npd": {"enabled": False},
        "devicePlugin": {"tolerations": [_CRITICAL, _NEURON]},
    }


class EfaDevicePlugin(ChartComponent):
    """Offers EFA interfaces to pods, on nodes with GPUs and with Neuron devices."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        self.install("efa-device-plugin", name, efa_values(), opts)


def efa_values() -> dict[str, Any]:
    """Return the chart's values; the toleration of critical add-ons it adds itself."""
    return {"tolerations": [_GPU, _NEURON]}
