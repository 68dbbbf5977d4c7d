"""Checks of what watches the GPUs and the nodes: DCGM, and the agent that node repair listens to."""

import tomllib
from collections.abc import Collection, Iterable, Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from .nodes.plan import NodeEnvironment, NodeGroupPlan
from .words import NodeImage

CLOUDWATCH, AGENT = "amazon-cloudwatch-observability", "eks-node-monitoring-agent"
"""EKS add-ons: Container Insights, which runs DCGM on nodes with NVIDIA GPUs, and the node monitoring agent."""
_EXPORTERS = ("dcgm-exporter", "gpu-operator")
"""Charts that run DCGM."""
_RUNTIME, _VISIBLE = "nvidia-container-runtime", "visible-devices-envvar-when-unprivileged"
_NVIDIA = "nvidia.com/gpu"


def check_monitoring(
    groups: Iterable[NodeGroupPlan],
    environment: NodeEnvironment,
    addons: Collection[str],
    charts: Collection[str],
    file: str,
) -> Iterator[Problem]:
    """Report exporters that see no GPU, or that share GPUs with another one.

    Args:
        groups: The node groups.
        environment: Node settings.
        addons: Names of the EKS add-ons.
        charts: Names of the installed charts.
        file: File of the settings, for messages.
    """
    has_gpus = any(group.node.accelerator_resource == _NVIDIA for group in groups)
    exporters = [*(f"chart {name}" for name in _EXPORTERS if name in charts)]
    exporters += [f"add-on {CLOUDWATCH}"] if CLOUDWATCH in addons else []
    if not has_gpus or not exporters:
        return
    if len(exporters) > 1:
        # NVIDIA DCGM user guide, "Profiling metrics": one process at a time may collect them on a GPU.
        reason = (
            f"{' and '.join(exporters)} each run DCGM on every node with GPUs, but only one can collect profiling "
            "metrics of a GPU, and the other fails or reports none; remove the add-on, or list dcgm-exporter in "
            "prerequisites.present"
        )
        yield Problem(
            file=file, path="cluster.addons", reason=reason, severity=Severity.WARNING, rule=RuleId.MONITORING_TWICE
        )
    if environment.image == NodeImage.BOTTLEROCKET and not _shows_devices(environment.boot.user_data):
        # bottlerocket-os/bottlerocket issue 3992, NVIDIA/dcgm-exporter issue 279: an exporter requests no GPU and
        # names all of them in NVIDIA_VISIBLE_DEVICES, which Bottlerocket ignores in unprivileged containers.
        reason = (
            f"{' and '.join(exporters)} cannot see the GPUs of Bottlerocket nodes, so there are no GPU metrics: set "
            f"{environment.place.path('image')}: al2023, or allow it with {environment.place.path('userData')}: "
            f"[settings.{_RUNTIME}] {_VISIBLE} = true, with which any pod can see them"
        )
        yield environment.place.problem(("image",), reason, Severity.WARNING, rule=RuleId.MONITORING_BLIND)


def _shows_devices(user_data: str) -> bool:
    try:
        settings = tomllib.loads(user_data).get("settings", {})
    except tomllib.TOMLDecodeError:
        return False
    runtime = settings.get(_RUNTIME, {}) if isinstance(settings, dict) else {}
    return isinstance(runtime, dict) and runtime.get(_VISIBLE) is True


def check_repair(environment: NodeEnvironment, addons: Collection[str]) -> Iterator[Problem]:
    """Warn about node repair without the agent that reports faults of GPUs, kernel, storage and network.

    Without it, repair acts only on nodes that kubelet reports as not ready (EKS user guide, "Detect node health
    issues and enable automatic node repair").
    """
    if environment.node_repair and AGENT not in addons:
        reason = (
            "replaces only nodes whose kubelet fails: faults of GPUs, kernel, storage and network are reported by "
            f'the add-on {AGENT}, which is not installed; add {AGENT}: "" to cluster.addons'
        )
        yield environment.place.problem(("nodeRepair",), reason, Severity.WARNING, rule=RuleId.NODES_REPAIR_PARTIAL)
