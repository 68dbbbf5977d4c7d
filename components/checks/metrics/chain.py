"""The chain behind an autoscaler on a serving metric: scraped, adapted, named right, and checked beforehand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered
from ...fleet.workloads import by_set
from .checks import check_first_requests, check_scaler
from .keda import check_triggers, reads_prometheus, scaled_object
from .monitors import left_out, pod_monitor, unscrapable
from .rules import adapter_rules
from .uses import Scraped, scalers_of, scraped
from .words import Adapter, Scrape

PROMETHEUS = "prometheus"
_INTERVAL = re.compile(r"([1-9][0-9]*)s")
_LONGEST_INTERVAL = 60
"""The adapter lists the series anew every minute; what is scraped less often comes and goes."""


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """How metrics are collected and handed to autoscalers.

    Attributes:
        adapter: Who serves metrics to autoscalers.
        prometheus: Address of Prometheus; the default is that of the chart kube-prometheus-stack.
        interval: How often pods are scraped, in seconds, such as ``15s``.
        monitor_labels: Labels by which Prometheus finds its PodMonitors, such as ``release``.
        scrape: Which workloads are scraped.
    """

    adapter: Adapter = Adapter.PROMETHEUS_ADAPTER
    prometheus: str = "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"
    interval: str = "15s"
    monitor_labels: Mapping[str, str] = field(default_factory=dict)
    scrape: Scrape = Scrape.ALL

    def __post_init__(self) -> None:
        """Refuse an interval and an address that Prometheus cannot be asked with."""
        match = _INTERVAL.fullmatch(self.interval)
        if match is None or int(match[1]) > _LONGEST_INTERVAL:
            raise ValueError(f"interval must be between 1s and {_LONGEST_INTERVAL}s, found {self.interval!r}")
        if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", self.prometheus):
            raise ValueError(
                f"prometheus must be a URL such as http://prometheus.monitoring.svc:9090, found {self.prometheus!r}"
            )

    @property
    def window(self) -> str:
        """Over how long the rate of a counter is taken: four scrapes at least."""
        return f"{max(120, 4 * int(self.interval.removesuffix('s')))}s"


DEFAULTS = MetricSettings()


@dataclass(frozen=True, slots=True)
class MetricChain:
    """What stands behind the autoscalers of a fleet.

    Attributes:
        monitors: PodMonitors, one per set of pods.
        adapter_rules: Value ``rules`` of the chart prometheus-adapter.
        scaled_objects: What takes the place of autoscalers with KEDA; see :func:`with_scaled_objects`.
        needs: Charts that are needed beside those of the metrics APIs, each with the resources that need it.
        left_out: Notes on what is not scraped because it exports no metrics that are known; they matter where models
            are monitored.
    """

    monitors: tuple[Object, ...]
    adapter_rules: Mapping[str, Any]
    scaled_objects: tuple[Object, ...]
    problems: tuple[Problem, ...]
    needs: Mapping[str, tuple[str, ...]]
    left_out: tuple[Problem, ...] = ()


def metric_chain(fleet: Fleet, settings: MetricSettings = DEFAULTS) -> MetricChain:
    """Return what the autoscalers of a fleet need to read their metrics, and what would keep them from it."""
    targets = scraped(fleet)
    scalers = scalers_of(fleet, targets)
    keda = settings.adapter == Adapter.KEDA
    scaled = [scaler for scaler in scalers if keda and reads_prometheus(scaler)]
    kept = [scaler for scaler in scalers if not (keda and reads_prometheus(scaler))]
    read = {id(scaler.target.workload) for scaler in scalers if reads_prometheus(scaler)}
    monitors, problems, silent = _monitors(targets, read, settings)
    # What turns metrics off may be reported at the same field already, with the same remedy.
    known = {(each.owner, each.path) for each in fleet.problems if each.rule == RuleId.METRICS_OFF}
    problems += [p for s in scalers for p in check_scaler(s, targets, settings.adapter)]
    problems += [p for s in scaled for p in check_triggers(s)]
    problems += check_first_requests(fleet, problems)
    uses = [use for scaler in kept for use in scaler.uses]
    rules = adapter_rules([] if keda else uses, settings.window)
    return MetricChain(
        monitors=tuple(monitors),
        adapter_rules=rules,
        scaled_objects=tuple(scaled_object(s, settings.prometheus, settings.window) for s in scaled),
        problems=tuple(sorted(problems, key=lambda p: p.sort_key)),
        needs={PROMETHEUS: tuple(dict.fromkeys(s.item.title for s in scalers if reads_prometheus(s)))},
        left_out=tuple(each for each in silent if (each.owner, each.path) not in known),
    )


def with_scaled_objects(fleet: Fleet, chain: MetricChain) -> Fleet:
    """Return the fleet with ScaledObjects in the place of the autoscalers that they stand for: never both."""
    by_name = {(b["metadata"]["namespace"], b["metadata"]["name"]): b for b in chain.scaled_objects}
    if not by_name:
        return fleet

    def swapped(item: Rendered) -> Rendered:
        scalers = (replace(s, replacement=by_name.get((s.target[1], s.name))) for s in item.autoscalers)
        return replace(item, autoscalers=tuple(scalers))

    return replace(fleet, rendered=tuple(map(swapped, fleet.rendered)))


def _monitors(
    targets: tuple[Scraped, ...], read: set[int], settings: MetricSettings
) -> tuple[list[Object], list[Problem], list[Problem]]:
    """Scrape what exports metrics, and what an autoscaler takes to export them: each set of pods once.

    Returns the PodMonitors, what cannot be scraped, and notes on what exports no metrics that are known.
    """
    monitors, problems, silent = list[Object](), list[Problem](), list[Problem]()
    sets = by_set(target.workload for target in targets)
    firsts = {id(parts[0]) for parts in sets.values()}
    used = {key for key, parts in sets.items() if any(id(part) in read for part in parts)}
    for target in (target for target in targets if id(target.workload) in firsts):
        is_read = (target.namespace, target.name) in used and not _exports_none(target)
        if not is_read and settings.scrape == Scrape.USED:
            continue
        if not is_read and not target.exporter.is_on:
            silent.append(left_out(target))
            continue
        monitor = pod_monitor(target, settings.interval, settings.monitor_labels)
        if monitor is None:
            problems.append(unscrapable(target))
        else:
            monitors.append(monitor)
    return monitors, problems, silent


def _exports_none(target: Scraped) -> bool:
    return target.exporter.is_known and not target.exporter.metrics
