"""The ``/metrics`` page of an engine, in version 0.0.4 of Prometheus' text format.

``pages.yaml`` assigns a value to each metric. Values are looked up in ``_SERIES``, ``_GAUGES``, and then among the
counters and histograms of the meter.
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
"""Default block size of vLLM's KV cache, in tokens."""
_UNCOUNTED = ("/health", "/load", "/ping", "/version")
"""Paths that vLLM does not count (``excluded_handlers`` in vllm/entrypoints/openai/api_server.py)."""
_HANDLER_SECONDS = (0.1, 0.5, 1)
"""Bounds of prometheus-fastapi-instrumentator 7 for single handlers."""
HTTP_KINDS = ("http_seconds", "http_all_seconds", "http_received", "http_sent")
_FINISHED = ("stop", "length", "abort")


def samples(pod: "LivePod", value: str) -> list[Sample]:
    """Return the series of a gauge or counter, with their labels other than those of the page."""
    series = _SERIES.get(value)
    if series is not None:
        return series(pod)
    gauge = _GAUGES.get(value)
    return [((), float(gauge(pod) if gauge else pod.meter.counts[value]))]


def _cache_size(pod: "LivePod") -> float:
    """Return the capacity of the KV cache in tokens."""
    return float(pod.pace.cache_tokens or (pod.workload.context or 0) * pod.pace.batch)


def _cache_share(pod: "LivePod") -> float:
    size = _cache_size(pod)
    return min(pod.replica.cached / size, 1.0) if size else 0.0


def _speed(tokens: str, seconds: str) -> Callable[["LivePod"], float]:
    """Return a function that returns tokens per second since the engine's start."""

    def speed(pod: "LivePod") -> float:
        elapsed = pod.meter.seconds[seconds]
        return pod.meter.counts[tokens] / elapsed if elapsed else 0.0

    return speed


def _busy_slots(pod: "LivePod") -> float:
    decodes = pod.meter.decodes
    return pod.meter.counts["generation_tokens"] / decodes if decodes else 0.0


_GAUGES: Mapping[str, Callable[["LivePod"], float]] = {
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
"""Values of metrics with one series. Others are counters of the meter, such as ``arrived`` and ``prompt_tokens``."""


def _finished(pod: "LivePod") -> list[Sample]:
    """Return answers by finish reason (``FinishReason`` of vLLM)."""
    return [((("finished_reason", reason),), pod.meter.finished[reason]) for reason in _FINISHED]


def _failures(pod: "LivePod") -> list[Sample]:
    """Return rejected requests by reason; empty before the first one."""
    return [((("err", reason),), number) for reason, number in sorted(pod.meter.failures.items())]


def _http_requests(pod: "LivePod") -> list[Sample]:
    """Return requests as prometheus-fastapi-instrumentator counts them: statuses by their first digit."""
    return [
        ((("handler", handler), ("method", method), ("status", status)), number)
        for (handler, method, status), number in sorted(pod.meter.statuses.items())
        if handler not in _UNCOUNTED
    ]


def http_series(pod: "LivePod", kind: str) -> Iterator[tuple[str, Labels, float]]:
    """Yield the series of a histogram or summary of prometheus-fastapi-instrumentator, with the suffix of the name.

    Args:
        pod: The pod.
        kind: ``http_seconds`` by handler and method, ``http_all_seconds`` of all handlers, or bytes by handler:
            ``http_received`` and ``http_sent``.
    """
    http = {key: counts for key, counts in sorted(pod.meter.http.items()) if key[0] not in _UNCOUNTED}
    if kind == "http_all_seconds":
        total = BucketCounts(HTTP_SECONDS)
        for counts in http.values():
            total.add(counts.seconds)
        yield from _histogram(total, (), HTTP_SECONDS)
    elif kind == "http_seconds":
        for (handler, method), counts in http.items():
            yield from _histogram(counts.seconds, (("handler", handler), ("method", method)), _HANDLER_SECONDS)
    else:
        for handler in dict.fromkeys(handler for handler, _ in http):
            by_method = [counts for (name, _), counts in http.items() if name == handler]
            size = sum(counts.received if kind == "http_received" else counts.sent for counts in by_method)
            yield "_count", (("handler", handler),), sum(counts.number for counts in by_method)
            yield "_sum", (("handler", handler),), size


def _histogram(
    buckets: BucketCounts, labels: Labels, bounds: tuple[float, ...]
) -> Iterator[tuple[str, Labels, float]]:
    for bound in bounds:
        yield "_bucket", (*labels, ("le", repr(float(bound)))), buckets.below(bound)
    total = sum(buckets.counts)
    yield "_bucket", (*labels, ("le", "+Inf")), total
    yield "_count", labels, total
    yield "_sum", labels, buckets.sum


def _cache_config(pod: "LivePod") -> list[Sample]:
    blocks = int(_cache_size(pod)) // _BLOCK
    return [((("block_size", str(_BLOCK)), ("engine", "0"), ("num_gpu_blocks", str(blocks))), 1)]


def _adapters(pod: "LivePod") -> list[Sample]:
    """Return which adapters have requests (``vllm:lora_requests_info``); nothing without adapters."""
    names = pod.workload.adapters
    if not names:
        return []
    answers = pod.meter.open
    waiting = {answer.model for answer in answers if answer.job.started is None}
    running = {answer.model for answer in answers if answer.job.started is not None and not answer.over}
    labels = (
        ("max_lora", str(len(names))),
        ("running_lora_adapters", ",".join(name for name in names if name in running)),
        ("waiting_lora_adapters", ",".join(name for name in names if name in waiting)),
    )
    return [(labels, pod.clock())]


_SERIES: Mapping[str, Callable[["LivePod"], list[Sample]]] = {
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
    shared = page.labels
    if page.model:
        shared = ((page.model, pod.workload.models[0]), *shared)
    has_counters = page.idle or bool(pod.meter.counts["arrived"])
    text = ""
    for metric in page.metrics:
        is_exported = pod.workload.exports or metric.name in page.kept
        # Counters and histograms exist from the first request on.
        if is_exported and (has_counters or metric.type == "gauge"):
            text += "".join(_lines(pod, metric, shared))
    return text


def _page(pod: "LivePod") -> MetricsPage:
    workload = pod.workload
    return page_of(workload.simulated_server, workload.version, workload.context)


def _lines(pod: "LivePod", metric: PageMetric, shared: Labels) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help} (simulated)\n# TYPE {metric.name} {metric.type}\n"
    for own_labels, value in metric.parts:
        labels = own_labels if metric.alone else (*shared, *own_labels)
        if value in HTTP_KINDS:
            for suffix, http_labels, number in http_series(pod, value):
                yield f"{metric.name}{suffix}{_braces(http_labels)} {_number(number)}\n"
        elif metric.type in ("histogram", "summary"):
            buckets = pod.meter.histograms[value]
            if metric.type == "histogram":
                bounds = [*map(_number, buckets.bounds), "+Inf"]
                for bound, below in zip(bounds, accumulate(buckets.counts), strict=True):
                    yield f"{metric.name}_bucket{_braces((*labels, ('le', bound)))} {below}\n"
            # The quantiles of a summary are left out: they would need every observation.
            yield f"{metric.name}_sum{_braces(labels)} {_number(buckets.sum)}\n"
            yield f"{metric.name}_count{_braces(labels)} {sum(buckets.counts)}\n"
        else:
            for sample_labels, number in samples(pod, value):
                yield f"{metric.name}{_braces((*labels, *sample_labels))} {_number(number)}\n"


def _braces(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels) + "}" if labels else ""


def _number(value: float) -> str:
    return repr(round(float(value), 9))
