"""Prerequisites of the models in a cluster: charts with the reasons, in the order of installation."""

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...checks.metrics.words import Adapter
from ...contract.clock import OLD_AFTER_MONTHS, months_before
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity, did_you_mean
from ...contract.releases import Release
from ...contract.words import Word
from ...fleet.cloud_providers import node_charts
from ...fleet.instances import instance
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.rendered import Fleet
from ...fleet.words import CUSTOM_METRICS, EXTERNAL_METRICS, LEADER_WORKER_SET, RESOURCE_METRICS
from .charts import EXCLUSIVE, Chart, known, providers_of

_MINOR = re.compile(r"(\d+)\.(\d+)", re.ASCII)
_NVIDIA = "nvidia.com/gpu"


class GpuStack(Word):
    """Software that exposes GPUs to pods."""

    DEVICE_PLUGIN = "device-plugin"
    """NVIDIA's device plugin; drivers come with the nodes."""
    OPERATOR = "operator"
    """NVIDIA's GPU operator, which includes drivers, device plugin and exporter."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Facts about a cluster, and settings of its prerequisites.

    Attributes:
        version: Kubernetes version, such as ``1.35``; empty if unknown.
        node_autoscaler: Chart of the node autoscaler; empty without one.
        on_nodes: Capabilities of the node image, in the terms of charts, such as ``nvidia.com/gpu``.
        adapter: Server of the metrics APIs for autoscalers.
        gpu_stack: Software that exposes GPUs to pods.
        monitoring: Whether models are monitored even if no autoscaler needs it.
        present: Names of charts that the cluster already has, installed manually or as an add-on.
        today: Current date, to detect outdated releases; None to skip the check.
        releases: Release of the API that is installed, by family; the pinned chart for other families.
        file: File of the settings, for messages.
    """

    version: str = ""
    node_autoscaler: str = ""
    on_nodes: frozenset[str] = frozenset()
    adapter: Adapter = Adapter.PROMETHEUS_ADAPTER
    gpu_stack: GpuStack = GpuStack.DEVICE_PLUGIN
    monitoring: bool = False
    present: frozenset[str] = frozenset()
    today: datetime.date | None = None
    releases: Mapping[str, Release] = field(default_factory=dict)
    file: str = "<program>"


class Prerequisite(NamedTuple):
    """A chart to install.

    Attributes:
        reasons: The resources that need it.
        after: Names of the prerequisites that must be installed before.
    """

    chart: Chart
    reasons: tuple[str, ...]
    after: tuple[str, ...] = ()


def prerequisites(
    fleet: Fleet, groups: Iterable[NodeGroupDemand], facts: ClusterFacts, more: Iterable[tuple[str, str]] = ()
) -> tuple[Prerequisite, ...]:
    """Return the charts to install, each after those that it needs; present ones are left out.

    Args:
        fleet: The models.
        groups: Their nodes.
        facts: The cluster.
        more: Names of further charts, each with its reason.
    """
    reasons: dict[str, dict[str, None]] = {}
    for name, reason in (*_required(fleet, groups, facts), *more):
        reasons.setdefault(name, {})[reason] = None
    # Add the dependencies of required charts, unless they are provided already.
    queue = list(reasons)
    while queue:
        chart = known()[queue.pop(0)]
        for capability in chart.needs:
            candidates = providers_of(capability)
            available = {*reasons, *facts.present}
            if not available.intersection(candidates) and capability not in facts.on_nodes:
                reasons[candidates[0]] = {chart.name: None}
                queue.append(candidates[0])
    chosen = [known()[name] for name in reasons if name not in facts.present]
    before = {chart.name: _before(chart, chosen) for chart in chosen}
    return tuple(
        Prerequisite(_of_release(chart, facts), tuple(reasons[chart.name]), before[chart.name])
        for chart in _in_order(before)
    )


def _of_release(chart: Chart, facts: ClusterFacts) -> Chart:
    release = facts.releases.get(chart.family)
    return chart.of(release) if release and release.operator else chart


def _in_order(before: Mapping[str, tuple[str, ...]]) -> Iterator[Chart]:
    """Sort the charts topologically, then by stage and name."""
    pending = {name: set(names) for name, names in before.items()}
    while pending:
        ready = [known()[name] for name, names in pending.items() if not names & pending.keys()]
        first = min(ready, key=lambda chart: (chart.stage, chart.name))
        del pending[first.name]
        yield first


def _required(fleet: Fleet, groups: Iterable[NodeGroupDemand], facts: ClusterFacts) -> Iterator[tuple[str, str]]:
    """Yield the charts that models, nodes and cluster require directly, with the reasons."""
    by_need = {
        LEADER_WORKER_SET: "leader-worker-set",
        RESOURCE_METRICS: "metrics-server",
        CUSTOM_METRICS: facts.adapter,
        EXTERNAL_METRICS: facts.adapter,
    }
    for item in fleet.rendered:
        for need in sorted(item.needs):
            chart = by_need.get(need, need)
            if chart in known():
                yield chart, item.title
    for group in groups:
        node, reason = instance(group.instance_type), f"nodes {group.name}"
        if node and node.accelerator_resource == _NVIDIA:
            # The operator includes a device plugin and an exporter; nodes never get two device plugins (aws-gpu
            # spec 6).
            if facts.gpu_stack == GpuStack.OPERATOR:
                yield "gpu-operator", reason
            elif _NVIDIA not in facts.on_nodes:
                yield "nvidia-device-plugin", reason
            if facts.monitoring and facts.gpu_stack != GpuStack.OPERATOR:
                yield "dcgm-exporter", reason
        yield from node_charts(group)
    if facts.node_autoscaler:
        yield facts.node_autoscaler, "node autoscaling"
    if facts.monitoring:
        yield "prometheus", "monitoring"


def _before(chart: Chart, chosen: list[Chart]) -> tuple[str, ...]:
    """Return the charts that must be installed before another: providers of its needs, and webhooks.

    The webhook of the load balancer controller receives every created Service (lws-hpa spec 2.2).
    """
    return tuple(
        other.name
        for other in chosen
        if other is not chart
        and (set(other.provides) & set(chart.needs) or (other.stage == 1 and other.stage < chart.stage))
    )


def check_prerequisites(needed: Iterable[Prerequisite], facts: ClusterFacts) -> Iterator[Problem]:
    """Reject unknown names, conflicting charts, and Kubernetes versions that are too old."""
    for name in sorted(facts.present - set(known())):
        hint = did_you_mean(name, known())
        yield _problem(facts, "present", f"unknown prerequisite {name!r}{hint or '; known: ' + ', '.join(known())}")
    installed = {*facts.present & set(known()), *(prerequisite.chart.name for prerequisite in needed)}
    reasons = {prerequisite.chart.name: prerequisite.reasons for prerequisite in needed}
    has_keda = facts.adapter == Adapter.KEDA or Adapter.KEDA in facts.present
    for capability in EXCLUSIVE:
        owners = sorted(name for name in installed if capability in known()[name].provides)
        if capability == "external.metrics.k8s.io" and has_keda:
            # Next to KEDA, the Prometheus adapter does not serve external metrics.
            owners = [name for name in owners if name != Adapter.PROMETHEUS_ADAPTER]
        if len(owners) > 1:
            named = (f"{name} (for {', '.join(reasons[name])})" if reasons.get(name) else name for name in owners)
            reason = f"{' and '.join(named)} both provide {capability}; choose one"
            yield _problem(facts, "present", reason, RuleId.PREREQUISITES_CONFLICT)
    for chart in (prerequisite.chart for prerequisite in needed):
        release = facts.releases.get(chart.family)
        if release and not release.operator and chart.chart:
            reason = (
                f"release {release.name} has no chart, so that its operator cannot be installed; choose another "
                f"release, realization 'native', or install it yourself and add {chart.name} to prerequisites.present"
            )
            yield Problem(
                file=facts.file, path=f"releases.{chart.family}", reason=reason, rule=RuleId.PREREQUISITES_MISSING
            )
        # Invalid versions are reported elsewhere.
        actual, required = _numbers(facts.version), _numbers(chart.kubernetes)
        if actual and required and actual < required:
            reason = f"{chart.name} {chart.version} requires Kubernetes {chart.kubernetes} or later"
            yield Problem(
                file=facts.file,
                path="cluster.version",
                reason=f"{reason}, but the cluster runs {facts.version}",
                rule=RuleId.PREREQUISITES_TOO_NEW,
            )


def check_ages(needed: Iterable[Prerequisite], facts: ClusterFacts) -> Iterator[Problem]:
    """Warn about charts whose pinned version is older than six months, in one finding.

    Args:
        needed: The charts to install.
        facts: The cluster; without a date nothing is reported.
    """
    if facts.today is None:
        return
    oldest = months_before(facts.today, OLD_AFTER_MONTHS)
    charts = (prerequisite.chart for prerequisite in needed)
    old = {chart.name: chart for chart in charts if chart.released < oldest}
    if old:
        names = ", ".join(f"{name} {chart.version} ({chart.released})" for name, chart in sorted(old.items()))
        reason = (
            f"installs releases older than six months: {names}; use a newer release of this package, or check "
            "whether these projects have newer releases"
        )
        yield Problem(
            file=facts.file, path="prerequisites", reason=reason, severity=Severity.WARNING, rule=RuleId.RELEASE_OLD
        )


def is_at_least(version: str, least: str) -> bool:
    """Return whether a Kubernetes version is known and not older than another one."""
    numbers = _numbers(version)
    return bool(numbers) and numbers >= _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    match = _MINOR.match(version)
    return tuple(map(int, match.groups())) if match else ()


def _problem(facts: ClusterFacts, key: str, reason: str, rule: RuleId = RuleId.SETTINGS) -> Problem:
    return Problem(file=facts.file, path=f"prerequisites.{key}", reason=reason, rule=rule)
