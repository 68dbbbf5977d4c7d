"""The ``/metrics`` page of an engine, in version 0.0.4 of Prometheus' text format.

The column ``value`` of ``pages.yaml`` names the value of each metric.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from aiohttp import web

from .bodies import ApiError
from .meter import HTTP_SECONDS, BucketCounts
from .pages import Labels, MetricsPage, PageMetric, page_of

if TYPE_CHECKING:
    from ..pods.pod import LivePod

Sample = tuple[Labels, float]
_BLOCK = 16
"""Tokens per block of vLLM's cache, by default."""
_UNCOUNTED = ("/health", "/load", "/ping", "/version")
"""Paths that vLLM does not count (``excluded_handlers`` in vllm/entrypoints/openai/api_server.py)."""
_HANDLER_SECONDS = (0.1, 0.5, 1)
"""Bounds of the durations of one handler."""
HTTP_KINDS = ("http_seconds", "http_all_seconds", "http_received", "http_sent")
_FINISHED = ("stop", "length", "abort")


def samples(pod: "LivePod", value: str) -> list[Sample]:
    """Return the series of a gauge or counter, with their labels other than those of the page."""
    several = _SEVERAL.get(value)
    if several is not None:
        return several(pod)
    one = _ONE.get(value)
    return [((), float(one(pod) if one else pod.meter.counts[value]))]


def _cache_size(pod: "LivePod") -> float:
    """Return the capacity of the KV cache in tokens."""
    return float(pod.pace.cache_tokens or (pod.workload.context or 0) * pod.pace.batch)


def _cache_share(pod: "LivePod") -> float:
    size = _cache_size(pod)
    return min(pod.replica.cached / size, 1.0) if size else 0.0


def _speed(tokens: str, seconds: str) -> Callable[["LivePod"], float]:
    def since_the_start(pod: "LivePod") -> float:
        passed = pod.meter.seconds[seconds]
        return pod.meter.counts[tokens] / passed if passed else 0.0

    return since_the_start


def _busy_slots(pod: "LivePod") -> float:
    decodes = pod.meter.decodes
    return pod.meter.counts["generation_tokens"] / decodes if decodes else 0.0


_ONE: Mapping[str, Callable[["LivePod"], float]] = {
    "nothing": lambda _: 0,
    "waiting": lambda pod: pod.replica.waiting,
    "running": lambda pod: pod.replica.running,
    "cached_tokens": lambda pod: pod.replica.cached,
    "cache_share": _cache_share,
    "cache_size": _cache_size,
    "throughput": lambda pod: pod.replica.throughput,
    "busy_slots": _busy_slots,
    "decodes": lambda pod: round(pod.meter.decodes),
    "longest": lambda pod: pod.meter.longest,
    "one": lambda _: 1,
    "preemptions": lambda pod: pod.replica.preemptions,
    "startup": lambda pod: pod.workload.startup.pod,
    "ended": lambda pod: pod.meter.finished.total() - pod.meter.finished["abort"],
    "aborted": lambda pod: pod.meter.finished["abort"],
    "prompt_speed": _speed("prompt_tokens", "prompt"),
    "answer_speed": _speed("generation_tokens", "answer"),
    "prompt_seconds": lambda pod: pod.meter.seconds["prompt"],
    "answer_seconds": lambda pod: pod.meter.seconds["answer"],
}
"""Other names are counters of the meter: ``arrived``, ``prompt_tokens``, ``generation_tokens``, ``prefills``."""


def _finished(pod: "LivePod") -> list[Sample]:
    """Return answers by finish reason (``FinishReason`` of vLLM)."""
    return [((("finished_reason", reason),), pod.meter.finished[reason]) for reason in _FINISHED]


def _failures(pod: "LivePod") -> list[Sample]:
    """Return rejected requests by reason; empty before the first one."""
    return [((("err", why),), number) for why, number in sorted(pod.meter.failures.items())]


def _http_requests(pod: "LivePod") -> list[Sample]:
    """Return requests as prometheus-fastapi-instrumentator counts them: statuses by their first digit."""
    return [
        ((("handler", handler), ("method", method), ("status", status)), number)
        for (handler, method, status), number in sorted(pod.meter.statuses.items())
        if handler not in _UNCOUNTED
    ]


def http_series(pod: "LivePod", kind: str) -> Iterator[tuple[str, Labels, float]]:
    """Yield the series of what prometheus-fastapi-instrumentator counts beside requests, with the end of their names.

    Args:
        pod: The pod.
        kind: ``http_seconds`` by handler and method, ``http_all_seconds`` of all together, or bytes by handler:
            ``http_received`` and ``http_sent``.
    """
    counted = {key: each for key, each in sorted(pod.meter.http.items()) if key[0] not in _UNCOUNTED}
    if kind == "http_all_seconds":
        total = BucketCounts(HTTP_SECONDS)
        for each in counted.values():
            total.add(each.seconds)
        yield from _histogram(total, (), HTTP_SECONDS)
    elif kind == "http_seconds":
        for (handler, method), each in counted.items():
            yield from _histogram(each.seconds, (("handler", handler), ("method", method)), _HANDLER_SECONDS)
    else:
        for handler in dict.fromkeys(handler for handler, _ in counted):
            alike = [each for (name, _), each in counted.items() if name == handler]
            size = sum(each.received if kind == "http_received" else each.sent for each in alike)
            yield "_count", (("handler", handler),), sum(each.number for each in alike)
            yield "_sum", (("handler", handler),), size


def _histogram(found: BucketCounts, labels: Labels, bounds: tuple[float, ...]) -> Iterator[tuple[str, Labels, float]]:
    for bound in bounds:
        yield "_bucket", (*labels, ("le", repr(float(bound)))), found.below(bound)
    total = sum(found.counts)
    yield "_bucket", (*labels, ("le", "+Inf")), total
    yield "_count", labels, total
    yield "_sum", labels, found.sum


def _cache_config(pod: "LivePod") -> list[Sample]:
    blocks = int(_cache_size(pod)) // _BLOCK
    return [((("block_size", str(_BLOCK)), ("engine", "0"), ("num_gpu_blocks", str(blocks))), 1)]


def _adapters(pod: "LivePod") -> list[Sample]:
    """Return which adapters have requests (``vllm:lora_requests_info``); nothing without adapters."""
    names = pod.workload.adapters
    if not names:
        return []
    waiting = {each.model for each in pod.meter.open if each.job.started is None}
    running = {each.model for each in pod.meter.open if each.job.started is not None and not each.over}
    labels = (
        ("max_lora", str(len(names))),
        ("running_lora_adapters", ",".join(name for name in names if name in running)),
        ("waiting_lora_adapters", ",".join(name for name in names if name in waiting)),
    )
    return [(labels, pod.clock())]


_SEVERAL: Mapping[str, Callable[["LivePod"], list[Sample]]] = {
    "finished": _finished,
    "failures": _failures,
    "http_requests": _http_requests,
    "cache_config": _cache_config,
    "adapters": _adapters,
}


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_response(pod: "LivePod") -> web.Response | None:
    """Return the current page of a pod; None if the engine, with its flags, has no such path.

    Raises:
        ApiError: metrics are disabled, and the engine returns an error.
    """
    page = _page(pod)
    if not pod.workload.exports and not page.kept:
        if pod.workload.metrics_refusal:
            raise ApiError(501, pod.workload.metrics_refusal, kind="off")
        return None
    return web.Response(body=metrics_page(pod).encode(), headers={"Content-Type": CONTENT_TYPE})


def metrics_page(pod: "LivePod") -> str:
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
    """Yield the series of a histogram, or of a summary without its quantiles."""
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
