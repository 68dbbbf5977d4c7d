"""Passes of HorizontalPodAutoscalers over the replicas in virtual time."""

from fractions import Fraction

from components.performance.simulation.hpa.controller import HpaController
from components.performance.simulation.hpa.spec import read_spec
from components.performance.simulation.trace import TargetReading

from .fleet import VirtualScaler
from .serving import ReplicaStage, RunningWorkload

SYNC = 15.0
"""Seconds between two passes (``--horizontal-pod-autoscaler-sync-period``)."""


class ScalerPasses:
    """The autoscaler of one workload.

    Raises:
        HpaError: it reads metrics that are not simulated; ``virtual_fleet`` does not return such a workload.
    """

    def __init__(self, workload: RunningWorkload, scaler: VirtualScaler) -> None:
        self._workload, self._names = workload, tuple(scaler.gauges)
        self._zeros = frozenset(scaler.zeros)
        self._controller = HpaController(read_spec(scaler.spec, {}))
        self._external = any(metric["type"] == "External" for metric in scaler.spec["metrics"])

    def step(self, now: float) -> int:
        """Return the replicas that a pass sets, from the metrics of the last scrapes."""
        workload = self._workload
        sampled = [replica.sample for replica in workload.replicas if replica.sample is not None]
        pending = sum(replica.stage is ReplicaStage.PENDING for replica in workload.replicas)
        totals = {name: sum((Fraction(sample[name]) for sample in sampled), Fraction(0)) for name in self._names}
        if not sampled:
            totals = {name: total for name, total in totals.items() if name in self._zeros}
        if self._external:
            # One value for all pods: which pods it comes from does not matter, and a target per replica counts all.
            ready = len(workload.ready)
            reading = TargetReading(totals, ready, starting=len(workload.replicas) - ready)
        else:
            reading = TargetReading(
                totals,
                ready=len(sampled),
                starting=pending,
                silent=len(workload.replicas) - len(sampled) - pending,
            )
        return self._controller.step(round(now * 1000), workload.wanted, reading).replicas
