"""``/metrics``: a page in Prometheus' text format, version 0.0.4."""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from aiohttp import web

from .pages import PageMetric, page_of
from .values import WITHOUT_SHARED, Labels, samples

if TYPE_CHECKING:
    from ..pods.pod import LivePod

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_response(pod: "LivePod") -> web.Response:
    """Return the page of a pod as of now."""
    return web.Response(body=metrics_page(pod).encode(), headers={"Content-Type": CONTENT_TYPE})


def metrics_page(pod: "LivePod") -> str:
    """Return the page of a pod as of now."""
    workload = pod.workload
    page = page_of(workload.engine, workload.version, workload.context)
    model = ((page.model, workload.models[0]),) if page.model else ()
    shared = (*model, *page.labels)
    idle = page.idle or bool(pod.meter.counts["arrived"])
    shown = [metric for metric in page.metrics if idle or metric.type == "gauge"]
    return "".join(line for metric in shown for line in _lines(pod, metric, shared))


def _lines(pod: "LivePod", metric: PageMetric, shared: Labels) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help} (simulated)\n# TYPE {metric.name} {metric.type}\n"
    if metric.type == "histogram":
        yield from _buckets(pod, metric, shared)
        return
    own = () if metric.value in WITHOUT_SHARED else shared
    for labels, value in samples(pod, metric.value):
        yield f"{metric.name}{_braces((*own, *labels))} {_number(value)}\n"


def _buckets(pod: "LivePod", metric: PageMetric, shared: Labels) -> Iterator[str]:
    histogram = pod.meter.histograms[metric.value]
    ends = [*(_number(bound) for bound in histogram.bounds), "+Inf"]
    total = 0
    for end, total in zip(ends, accumulate(histogram.counts), strict=True):
        yield f"{metric.name}_bucket{_braces((*shared, ('le', end)))} {total}\n"
    yield f"{metric.name}_sum{_braces(shared)} {_number(histogram.sum)}\n"
    yield f"{metric.name}_count{_braces(shared)} {total}\n"


def _braces(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels) + "}" if labels else ""


def _number(value: float) -> str:
    return repr(round(float(value), 9))
