"""Enable the metrics of engines that export them only on request."""

from collections.abc import Iterable
from dataclasses import replace

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...engines.exporters import exporter_of
from ...engines.metrics import PROMETHEUS, find_anywhere
from ...fleet.autoscalers import is_well_formed
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.workloads import Server


def turn_on_metrics(
    template: Object, server: Server, metrics: Iterable[Object] | None, options: Options, findings: Findings
) -> Server:
    """Add the engine's metrics flag to the pods that take requests, if an autoscaler or monitoring needs it.

    Hand-written pods, shell scripts and pods of an operator are not changed: there a missing flag is an error.
    Returns the server with its resulting command line.

    Args:
        template: The pods that take requests; changed in place.
        server: The container that serves.
        metrics: Metrics of the workload's autoscaler.
        options: Rendering options.
        findings: Receives the problems.
    """
    container = template["spec"]["containers"][server.position]
    exporter = exporter_of(container, server.line)
    facts = exporter.facts
    scales = any(map(reads_engine, metrics or ()))
    if facts is None or facts.exports != PROMETHEUS or exporter.is_on or not (scales or options.monitoring):
        return server
    playground = findings.source.resource.kind == "Playground"
    path = server.args.path
    operated = not options.realization.is_native
    if exporter.is_off and scales:
        reason = f"{facts.off} turns off the metrics that the autoscaler reads; remove {facts.off}"
        findings.error(path, reason, RuleId.METRICS_OFF)
    elif exporter.is_off:
        reason = f"{facts.off} turns off the metrics, so this model cannot be monitored; remove {facts.off}"
        findings.warn(path, reason, RuleId.METRICS_OFF)
    elif not playground or operated or server.line.is_script:
        reason = f"{facts.engine} exports metrics only with {facts.flag}, which is not among its arguments"
        if exporter.line.is_script:
            reason += f", and it is started by a shell script; add {facts.flag} to the script"
        else:
            cause = "the llmaz operator does not add it" if playground and operated else "not found"
            reason += f" ({cause}); add {facts.flag}"
        findings.error(path, reason, RuleId.METRICS_OFF)
    elif facts.flag:
        line = server.line.followed_by(server.line.continued((facts.flag,)))
        container["args"] = list(line.args)
        return replace(server, line=line)
    return server


def reads_engine(metric: Object) -> bool:
    """Whether an autoscaler's metric comes from an engine: all of type Pods, external ones by name."""
    if not is_well_formed(metric):
        return False
    if metric["type"] == "External":
        return find_anywhere(metric["external"]["metric"]["name"]) is not None
    return bool(metric["type"] == "Pods")
