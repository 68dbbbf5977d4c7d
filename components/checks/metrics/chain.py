"""The metric chain of an autoscaler: scraping, adapter rules or ScaledObjects, and checks of each link."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import by_set
from .checks import check_first_requests, check_scaler
from .monitors import pod_monitor, unmonitored, unscrapable, unscraped_target
from .rules import adapter_rules
from .uses import Scaler, ScrapeTarget, scalers_of, scrape_targets
from .words import Adapter, Scrape

PROMETHEUS = "prometheus"
_INTERVAL = re.compile(r"([1-9][0-9]*)s")
_LONGEST_INTERVAL = 60
"""The adapter lists the series every minute; those scraped less often would appear and disappear."""


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """How metrics are collected and served to autoscalers.

    Attributes:
        adapter: Server of the metrics APIs.
        prometheus: URL of Prometheus; the default is that of the chart kube-prometheus-stack.
        interval: Scrape interval in seconds, such as ``15s``.
        monitor_labels: Labels by which Prometheus selects PodMonitors, such as ``release``.
        scrape: Which workloads are scraped.
    """

    adapter: Adapter = Adapter.PROMETHEUS_ADAPTER
    prometheus: str = "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"
    interval: str = "15s"
    monitor_labels: Mapping[str, str] = field(default_factory=dict)
    scrape: Scrape = Scrape.ALL

    def __post_init__(self) -> None:
        """Reject an invalid interval or URL."""
        match = _INTERVAL.fullmatch(self.interval)
        if match is None or int(match[1]) > _LONGEST_INTERVAL:
            raise ValueError(f"interval must be between 1s and {_LONGEST_INTERVAL}s, found {self.interval!r}")
        if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", self.prometheus):
            raise ValueError(
                f"prometheus must be a URL such as http://prometheus.monitoring.svc:9090, found {self.prometheus!r}"
            )

    @property
    def window(self) -> str:
        """Range of ``rate()`` over counters: at least four scrapes."""
        return f"{max(120, 4 * int(self.interval.removesuffix('s')))}s"


DEFAULTS = MetricSettings()


class MetricChain(NamedTuple):
    """The objects that let the autoscalers of a fleet read their metrics.

    Attributes:
        monitors: PodMonitors, one per set of pods.
        adapter_rules: Value ``rules`` of the chart prometheus-adapter.
        scaled_objects: KEDA's replacements of autoscalers; see :func:`with_scaled_objects`.
        needs: Required charts besides those of the metrics APIs, each with the resources that require it.
        left_out: Notes on workloads without known metrics, which are not scraped; relevant if models are monitored.
    """

    monitors: tuple[Object, ...]
    adapter_rules: Mapping[str, Any]
    scaled_objects: tuple[Object, ...]
    problems: tuple[Problem, ...]
    needs: Mapping[str, tuple[str, ...]]
    left_out: tuple[Problem, ...] = ()


def metric_chain(fleet: Fleet, settings: MetricSettings = DEFAULTS, passed: tuple[Rendered, ...] = ()) -> MetricChain:
    """Build and check the metric chain of a fleet's autoscalers.

    Args:
        fleet: The models and their autoscalers.
        settings: How metrics are collected and served.
        passed: Workloads that are created unchanged and not scraped, which autoscalers of the fleet may scale.
    """
    targets = scrape_targets(fleet)
    unscraped = scrape_targets(Fleet(passed, ()))
    scalers = scalers_of(fleet, (*targets, *unscraped))
    with_prometheus = _readers_of_prometheus(scalers)
    read = {id(scaler.target.workload) for scaler in with_prometheus}
    monitors, problems, notes = _monitors(targets, read, settings)

    # KEDA creates autoscalers itself, from ScaledObjects; the adapter serves metrics to those that exist.
    # A HorizontalPodAutoscaler that is written by hand stays one.
    keda = settings.adapter == Adapter.KEDA
    scaled = [scaler for scaler in with_prometheus if keda and not scaler.autoscaler.is_written]
    uses = [] if keda else [use for scaler in scalers for use in scaler.uses]

    for scaler in scalers:
        problems += check_scaler(scaler, (*targets, *unscraped), settings.adapter)
    scaled_objects, unscalable = _scaled_objects(scaled, settings)
    problems += unscalable
    problems += [unscraped_target(scaler) for scaler in with_prometheus if scaler.target in unscraped]
    # Last, because it leaves out autoscalers that can never scale up again, which are reported already.
    problems += check_first_requests(fleet, problems, scalers)

    # A field that disables metrics may have a problem with the same remedy already.
    known = {(problem.owner, problem.path) for problem in fleet.problems if problem.rule == RuleId.METRICS_OFF}
    return MetricChain(
        monitors=tuple(monitors),
        adapter_rules=adapter_rules(uses, settings.window),
        scaled_objects=scaled_objects,
        problems=tuple(sorted(problems, key=lambda problem: problem.sort_key)),
        needs={PROMETHEUS: tuple(dict.fromkeys(scaler.item.title for scaler in with_prometheus))},
        left_out=tuple(note for note in notes if (note.owner, note.path) not in known),
    )


def _readers_of_prometheus(scalers: Sequence[Scaler]) -> list[Scaler]:
    if not scalers:
        return []
    from .keda import reads_prometheus

    return [scaler for scaler in scalers if reads_prometheus(scaler)]


def _scaled_objects(scaled: Sequence[Scaler], settings: MetricSettings) -> tuple[tuple[Object, ...], list[Problem]]:
    """Return the ScaledObjects in place of autoscalers, and what these cannot express."""
    if not scaled:
        return (), []
    from .keda import check_triggers, scaled_object

    objects = tuple(scaled_object(scaler, settings.prometheus, settings.window) for scaler in scaled)
    return objects, [problem for scaler in scaled for problem in check_triggers(scaler)]


def with_scaled_objects(fleet: Fleet, chain: MetricChain) -> Fleet:
    """Replace the autoscalers of a fleet by their ScaledObjects; both at once would conflict."""
    by_name = {(b["metadata"]["namespace"], b["metadata"]["name"]): b for b in chain.scaled_objects}
    if not by_name:
        return fleet

    def swapped(item: Rendered) -> Rendered:
        scalers = (
            s if s.is_written else replace(s, replacement=by_name.get((s.target[1], s.name)))
            for s in item.autoscalers
        )
        return replace(item, autoscalers=tuple(scalers))

    return replace(fleet, rendered=tuple(map(swapped, fleet.rendered)))


def _monitors(
    targets: tuple[ScrapeTarget, ...], read: set[int], settings: MetricSettings
) -> tuple[list[Object], list[Problem], list[Problem]]:
    """Return the PodMonitors, problems of workloads that cannot be scraped, and notes on those without known metrics.

    Each set of pods is scraped once. Workloads that an autoscaler reads are scraped even without known metrics.
    """
    monitors, problems, notes = list[Object](), list[Problem](), list[Problem]()
    sets = by_set(target.workload for target in targets)
    firsts = {id(parts[0]) for parts in sets.values()}
    used = {key for key, parts in sets.items() if any(id(part) in read for part in parts)}
    for target in (target for target in targets if id(target.workload) in firsts):
        has_no_metrics = target.exporter.is_known and not target.exporter.metrics
        is_read = (target.namespace, target.name) in used and not has_no_metrics
        if not is_read and settings.scrape == Scrape.USED:
            continue
        if not is_read and not target.exporter.is_on:
            notes.append(unmonitored(target))
            continue
        monitor = pod_monitor(target, settings.interval, settings.monitor_labels)
        if monitor is None:
            problems.append(unscrapable(target))
        else:
            monitors.append(monitor)
    return monitors, problems, notes
