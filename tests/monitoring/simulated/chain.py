"""The whole metric chain: pods, exporter, Prometheus, adapter, autoscaler, and pods again.

What is real: the API server, the controllers with the horizontal pod autoscaler and that of LeaderWorkerSets, the
scheduler, Prometheus and prometheus-adapter. What is pretended: that the pods' containers run, and what their
``/metrics`` say.

    chain = Chain(kube, prometheus, exporter, adapter(rules))
    load = SharedLoad(VLLM, VLLM.queue)
    assert chain.scale(deployment, hpa, load, [0, 15, 5]) == [1, 3, 1]

The rules are given to the adapter, so whoever has rules and an autoscaler of his own (the project's rendered ones)
puts them in and reads the replicas that come out. With a PodMonitor, too, the pods are found and labelled as it says.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from livefleet.loop.monitors import targets_of
from tests.group_pods import KIND
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.monitors import exporter_job
from tests.monitoring.programs.prometheus import Prometheus, watching
from tests.monitoring.simulated.engines import Engine
from tests.monitoring.simulated.exporter import Exporter, PretendedPod
from tests.monitoring.simulated.workload import MANAGER, fitting_node, running_pods
from toolkit.kube import Kube

Json = dict[str, Any]
SECONDS = 90.0
"""Far more rounds of the autoscaler than it needs, for a machine that is busy."""
_PAUSE = 0.5
"""The adapter asks the API server five times a second at most, for everybody together."""
_AT_REST = 5.0
"""More than twice as long as the autoscaler waits between two looks (``looking.LOOK``)."""
_TARGETS = "pods.json"
_SUFFIXES = {"m": Decimal("0.001"), "k": Decimal(1000), "": Decimal(1)}


class Load(Protocol):
    """What the test moves."""

    @property
    def engine(self) -> Engine:
        """What the pods of the Deployment export."""

    def apply(self, value: float, pods: Sequence[PretendedPod]) -> None:
        """Make the value visible in what is scraped."""

    def seen(self, value: float, replicas: int) -> float:
        """What an autoscaler with an AverageValue target reads at this number of replicas."""


@dataclass(frozen=True, slots=True)
class SharedLoad:
    """A total that the pods share evenly, such as requests that wait: more pods, less for each."""

    engine: Engine
    series: str

    def apply(self, value: float, pods: Sequence[PretendedPod]) -> None:
        for pod in pods:
            pod.set(self.series, value / len(pods))

    def seen(self, value: float, replicas: int) -> float:
        return value / replicas


@dataclass(frozen=True, slots=True)
class LevelOfEach:
    """A level that every pod has, however many there are, such as the use of a cache."""

    engine: Engine
    series: str

    def apply(self, value: float, pods: Sequence[PretendedPod]) -> None:
        for pod in pods:
            pod.set(self.series, value)

    def seen(self, value: float, replicas: int) -> float:
        return value


@dataclass(frozen=True, slots=True)
class Reported:
    """A number that another pod exports about the Deployment, such as the replicas that a controller wants."""

    engine: Engine
    reporter: PretendedPod
    series: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def apply(self, value: float, pods: Sequence[PretendedPod]) -> None:
        self.reporter.set(self.series, value, **self.labels)

    def seen(self, value: float, replicas: int) -> float:
        return value / replicas


class Chain:
    """The parts, joined. Each must be running; the chain adds a node, a workload and an autoscaler."""

    def __init__(
        self,
        kube: Kube,
        prometheus: Prometheus,
        exporter: Exporter,
        adapter: Adapter,
        monitor: Mapping[str, Any] | None = None,
    ) -> None:
        self.kube = kube
        self.prometheus = prometheus
        self.exporter = exporter
        self.adapter = adapter
        self.monitor = monitor
        self._targets: list[Json] = []

    def scale(
        self,
        deployment: Mapping[str, Any],
        hpa: Mapping[str, Any],
        load: Load,
        values: Sequence[float],
        metric: int = 0,
    ) -> list[int]:
        """Return the number of replicas at which the autoscaler comes to rest, for one value after the other.

        At rest means: what the autoscaler says it read of its metric is what the pods of this moment export, and it
        wants as many replicas as there are. That holds inside a stabilization window, too: take the windows away
        (``workload.without_waiting``) where the number after it is of interest.

        Args:
            deployment: a Deployment or LeaderWorkerSet, applied first, with a node that it fits on; in a namespace
                that exists. Without replicas.
            hpa: applied when the metric's first value can be read.
            load: what to move; its values are those of ``values``.
            values: one after the other.
            metric: the metric of the autoscaler that follows the load, as an index into ``spec.metrics``.

        Raises:
            AssertionError: a value did not arrive, or the autoscaler did not come to rest; holds its conditions.
        """
        wanted = hpa["spec"]["metrics"][metric]
        self.prometheus.configure(self._job(), {_TARGETS: []})
        self.kube.apply(fitting_node(deployment), manager=MANAGER)
        self.kube.apply(deployment, manager=MANAGER)
        eventually(lambda: self.look(deployment, load, values[0]), "the first pod", pause=_PAUSE)
        eventually(lambda: self._readable(wanted, hpa["metadata"]["namespace"]), f"a value of {wanted}", pause=_PAUSE)
        self.kube.apply(hpa, manager=MANAGER)
        return [self._settle(deployment, hpa, load, value, metric) for value in values]

    def look(self, deployment: Mapping[str, Any], load: Load, value: float) -> int:
        """Let the exporter and the targets follow the pods of this moment, and return how many there are."""
        namespace = deployment["metadata"]["namespace"]
        real = {pod["metadata"]["name"]: pod for pod in running_pods(self.kube, deployment)}
        pretended = {pod.name: pod for pod in self._pods_of(deployment)}
        for gone in pretended.keys() - real.keys():
            self.exporter.remove(pretended[gone])
        for new in real.keys() - pretended.keys():
            container = real[new]["spec"]["containers"][0]["name"]
            self.exporter.pod(load.engine, namespace, new, container=container, address=real[new]["status"]["podIP"])
        load.apply(value, self._pods_of(deployment))
        targets = self._found(real.values())
        if targets != self._targets:  # each write makes Prometheus read the file
            self.prometheus.write_file(_TARGETS, targets)
            self._targets = targets
        return len(real)

    def _job(self) -> Json:
        if self.monitor is None:
            return watching(_TARGETS)
        return {"scrape_configs": [exporter_job(self.monitor, _TARGETS, self.exporter.address)]}

    def _found(self, pods: Iterable[Mapping[str, Any]]) -> list[Json]:
        if self.monitor is None:
            return self.exporter.targets()
        return [target for pod in pods for target in targets_of(pod)]

    def _pods_of(self, deployment: Mapping[str, Any]) -> list[PretendedPod]:
        """Pods of a workload are named after it; the exporter may hold others (controllers)."""
        name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
        added = 1 if deployment["kind"] == KIND else 2
        return [
            pod for pod in self.exporter.pods if pod.namespace == namespace and pod.name.rsplit("-", added)[0] == name
        ]

    def _settle(
        self, deployment: Mapping[str, Any], hpa: Mapping[str, Any], load: Load, value: float, metric: int
    ) -> int:
        held, since = 0, 0.0

        def rests() -> int:
            """Return the pods once they have been at rest for two looks: one may have missed the metric of a pod."""
            nonlocal held, since
            pods = resting()
            if pods != held:
                held, since = pods, time.monotonic()
            return pods if time.monotonic() - since >= _AT_REST else 0

        def resting() -> int:
            pods = self.look(deployment, load, value)
            status = self._status(hpa)
            counts = {pods, status.get("currentReplicas"), status.get("desiredReplicas"), self._replicas(deployment)}
            read = _read(status, metric)
            if counts != {pods} or not pods or read is None:
                return 0
            # The autoscaler counts in thousandths.
            return pods if abs(read - Decimal(str(load.seen(value, pods)))) <= _SUFFIXES["m"] else 0

        try:
            return int(eventually(rests, f"the autoscaler at rest at {value}", SECONDS, _PAUSE))
        except AssertionError as error:
            raise AssertionError(f"{error}: {self._status(hpa)}") from None

    def _readable(self, metric: Mapping[str, Any], namespace: str) -> bool:
        """Whether the metrics API has a value, so that the autoscaler's first look is not in vain."""
        kind = metric["type"].lower()
        spec = metric[kind]["metric"]
        if kind == "pods":
            return bool(self.adapter.pods(namespace, spec["name"]))
        return bool(self.adapter.external(namespace, spec["name"], **spec.get("selector", {}).get("matchLabels", {})))

    def _status(self, hpa: Mapping[str, Any]) -> Json:
        metadata = hpa["metadata"]
        found = self.kube.get(hpa["apiVersion"], hpa["kind"], metadata["name"], metadata["namespace"])
        status: Json = found.get("status", {})
        return status

    def _replicas(self, deployment: Mapping[str, Any]) -> int:
        metadata = deployment["metadata"]
        found = self.kube.get(deployment["apiVersion"], deployment["kind"], metadata["name"], metadata["namespace"])
        return int(found["spec"].get("replicas", 1))


def _read(status: Mapping[str, Any], metric: int) -> Decimal | None:
    """The average that the autoscaler says it read; None while it has read nothing."""
    current = status.get("currentMetrics") or []
    # An autoscaler that could not read a metric writes an entry without a type.
    if len(current) <= metric or not current[metric].get("type"):
        return None
    entry = current[metric]
    average = entry[entry["type"].lower()]["current"].get("averageValue")
    return None if average is None else quantity(average)


def quantity(text: str) -> Decimal:
    """A quantity as the metrics APIs write it: plain, in thousandths or in thousands."""
    digits = text.rstrip("mk")
    return Decimal(digits) * _SUFFIXES[text[len(digits) :]]
