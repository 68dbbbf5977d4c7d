"""``/metrics``: a page in Prometheus' text format, version 0.0.4."""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from aiohttp import web

from .bodies import ApiError
from .pages import Labels, MetricsPage, PageMetric, page_of
from .values import HTTP_KINDS, http_series, samples

if TYPE_CHECKING:
    from ..pods.pod import LivePod

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_response(pod: "LivePod") -> web.Response | None:
    """Return the page of a pod as of now; None where the engine, as it is started, has no such path.

    Raises:
        ApiError: its metrics are not turned on, and it says so.
    """
    page = _page(pod)
    if not pod.workload.exports and not page.kept:
        if pod.workload.metrics_refusal:
            raise ApiError(501, pod.workload.metrics_refusal, kind="off")
        return None
    return web.Response(body=metrics_page(pod).encode(), headers={"Content-Type": CONTENT_TYPE})


def metrics_page(pod: "LivePod") -> str:
    """Return the page of a pod as of now."""
    page = _page(pod)
    model = ((page.model, pod.workload.models[0]),) if page.model else ()
    shared = (*model, *page.labels)
    idle = page.idle or bool(pod.meter.counts["arrived"])
    exported = [metric for metric in page.metrics if pod.workload.exports or metric.name in page.kept]
    shown = [metric for metric in exported if idle or metric.type == "gauge"]
    return "".join(line for metric in shown for line in _lines(pod, metric, shared))


def _page(pod: "LivePod") -> MetricsPage:
    workload = pod.workload
    return page_of(workload.played, workload.version, workload.context)


def _lines(pod: "LivePod", metric: PageMetric, shared: Labels) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help} (simulated)\n# TYPE {metric.name} {metric.type}\n"
    for more, value in metric.parts:
        own = (*(() if metric.alone else shared), *more)
        if value in HTTP_KINDS:
            for end, labels, found in http_series(pod, value):
                yield f"{metric.name}{end}{_braces(labels)} {_number(found)}\n"
        elif metric.type in ("histogram", "summary"):
            yield from _observed(pod, metric, value, own)
        else:
            for labels, found in samples(pod, value):
                yield f"{metric.name}{_braces((*own, *labels))} {_number(found)}\n"


def _observed(pod: "LivePod", metric: PageMetric, value: str, labels: Labels) -> Iterator[str]:
    """Yield the series of a histogram, or of a summary, whose quantiles are left out."""
    histogram = pod.meter.histograms[value]
    total = sum(histogram.counts)
    if metric.type == "histogram":
        ends = [*(_number(bound) for bound in histogram.bounds), "+Inf"]
        for end, below in zip(ends, accumulate(histogram.counts), strict=True):
            yield f"{metric.name}_bucket{_braces((*labels, ('le', end)))} {below}\n"
    yield f"{metric.name}_sum{_braces(labels)} {_number(histogram.sum)}\n"
    yield f"{metric.name}_count{_braces(labels)} {total}\n"


def _braces(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels) + "}" if labels else ""


def _number(value: float) -> str:
    return repr(round(float(value), 9))
