"""Lets an engine export its metrics where somebody reads them."""

from collections.abc import Iterable

from ..catalog.metrics import PROMETHEUS, find_anywhere
from .findings import Findings
from .metric_pods import Serving, serving_of
from .options import Options
from .types import Object

_ARGS = "spec.backendRuntimeConfig.args"


def turn_on_metrics(template: Object, metrics: Iterable[Object] | None, options: Options, findings: Findings) -> None:
    """Add the engine's flag to the pods that take requests, if an autoscaler or the environment reads its metrics.

    What is written by hand, runs in a shell or is left to an operator is not changed: a missing flag is an error.

    Args:
        template: ``leaderWorkerTemplate`` in wire form; changed in place.
        metrics: What the autoscaler of the workload scales on.
        options: How to render.
        findings: Where to report.
    """
    part = "leaderTemplate" if template.get("leaderTemplate") else "workerTemplate"
    serving = serving_of(template[part]["spec"], findings.source)
    facts = serving.facts
    scales = any(map(reads_engine, metrics or ()))
    if facts is None or facts.exports != PROMETHEUS or serving.is_on or not (scales or options.monitoring):
        return
    playground = findings.source.resource.kind == "Playground"
    by_hand = f"spec.workloadTemplate.{part}.spec.containers[{serving.position}].args"
    path = _ARGS if playground else by_hand
    if serving.is_off:
        _report_off(serving, path, findings, scales=scales)
    elif not playground or options.realization != "native" or serving.is_script:
        findings.error(path, _missing(serving, options, playground=playground))
    else:
        serving.container["args"] = [*(serving.container.get("args") or []), facts.flag]


def reads_engine(metric: Object) -> bool:
    """Tell whether an autoscaler's metric comes from an engine: any of pods, external ones by their name."""
    if metric.get("type") == "External":
        return find_anywhere(metric["external"]["metric"]["name"]) is not None
    return metric.get("type") == "Pods"


def _report_off(serving: Serving, path: str, findings: Findings, *, scales: bool) -> None:
    off = serving.facts.off if serving.facts else ""
    if scales:
        findings.error(path, f"{off} turns the metrics off that the autoscaler reads; remove {off}")
    else:
        findings.warn(path, f"{off} turns the metrics off: nothing will be seen of this model; remove {off}")


def _missing(serving: Serving, options: Options, *, playground: bool) -> str:
    facts = serving.facts
    assert facts is not None  # noqa: S101  the caller returned where nothing is known of the engine
    what = f"{facts.engine} exports metrics only with {facts.flag}, which is not among its arguments"
    if serving.is_script:
        return f"{what}, and a shell runs it: write {facts.flag} into the script"
    reason = "the llmaz operator adds nothing" if playground and options.realization != "native" else "found none"
    return f"{what} ({reason}); add {facts.flag}"
