"""Results of ``vllm bench serve --save-result``: one JSON object per run.

Read at vllm-project/vllm 009e6d4, vllm/benchmarks/serve.py, where ``mean_itl_ms`` is the mean over all gaps between
chunks of all requests, and ``mean_tpot_ms`` the mean over requests of (latency - TTFT) / (tokens - 1). Files of its
predecessor (benchmarks/benchmark_serving.py) have the same keys.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .figures import MAX_CONCURRENCY, FigureError, latency, positive
from .measurements import Benchmarks, ConcurrencySource, Latency, Measurement

MARKS = ("mean_itl_ms", "mean_tpot_ms", "median_itl_ms", "median_tpot_ms", "mean_ttft_ms", "itls")
"""Keys by which a result is recognized; it has at least one of them."""
_SPECULATIVE = ("spec_decode_num_drafts", "spec_decode_acceptance_length")
_APART = 1.1
"""Ratio of ITL to TPOT above which tokens arrive several at a time."""
_SHORT = 0.8


def read_run(run: Mapping[str, Any], place: str, benchmarks: Benchmarks) -> None:
    """Add the measurement of a run, or its problem."""
    if run.get("completed") == 0:
        benchmarks.add_problem(place, 0, "completed", "no request succeeded; see the errors of the benchmark")
        return
    try:
        key, value = _latency(run, place, benchmarks)
        itl = latency(value)
    except FigureError as error:
        benchmarks.add_problem(place, 0, key, f"{error}; responses must be streamed and have at least two tokens")
        return
    concurrency, source = _concurrency(run)
    if concurrency is None:
        benchmarks.add_problem(
            place,
            0,
            "max_concurrency",
            "is not set, and the concurrency cannot be derived from other figures; run the benchmark with "
            "--max-concurrency, or with --percentile-metrics ttft,tpot,itl,e2el",
        )
        return
    configured = positive(run.get("max_concurrency"))
    if source is ConcurrencySource.MEASURED and configured and concurrency < _SHORT * configured:
        benchmarks.notes.append(
            f"{place}: the mean concurrency is {concurrency:.4g}, well below the configured {configured:g}; send "
            "more requests, so that ramp-up and ramp-down have less weight"
        )
    if source is ConcurrencySource.LITTLE:
        benchmarks.notes.append(
            f"{place}: has no max_concurrency; its concurrency by Little's law is {concurrency:.4g}"
        )
    benchmarks.note_failures(place, positive(run.get("failed")), positive(run.get("completed")))
    benchmarks.measurements.append(Measurement(max(concurrency, 1.0), itl, place, source))


def _latency(run: Mapping[str, Any], place: str, benchmarks: Benchmarks) -> tuple[str, object]:
    """Return key and value of the latency to use."""
    # ``--save-detailed`` writes the gaps of every request, in seconds.
    gaps = [gap for gap in _flat(run.get("itls")) if gap]
    mean = run.get("mean_itl_ms", 1000 * math.fsum(gaps) / len(gaps) if gaps else None)
    itl, tpot = positive(mean), positive(run.get("mean_tpot_ms"))
    if benchmarks.latency is Latency.TPOT:
        return "mean_tpot_ms", run.get("mean_tpot_ms")
    if tpot and any(run.get(key) for key in _SPECULATIVE):
        benchmarks.notes.append(f"{place}: used speculative decoding; the time per output token is used")
        return "mean_tpot_ms", tpot
    if mean is None and tpot:
        benchmarks.notes.append(f"{place}: has no mean_itl_ms; the time per output token is used")
        return "mean_tpot_ms", tpot
    if itl and tpot and itl > _APART * tpot:
        benchmarks.notes.append(
            f"{place}: mean_itl_ms is {itl:g} and mean_tpot_ms {tpot:g}: tokens arrived several at a time, so the "
            "gaps are not between single tokens; try --latency tpot"
        )
    return "mean_itl_ms", mean


def _flat(values: object) -> Iterator[float | None]:
    for value in values if isinstance(values, list) else ():
        yield from map(positive, value) if isinstance(value, list) else (positive(value),)


def _concurrency(run: Mapping[str, Any]) -> tuple[float | None, ConcurrencySource]:
    """Return the mean concurrency and its source; None if it is unknown.

    A measured value is best: the total time of all requests over the duration of the run, or throughput times
    latency. Little's law on the mean times of the parts of a request comes last.
    """

    def plausible(concurrency: float) -> float | None:
        return concurrency if 0 < concurrency <= MAX_CONCURRENCY else None

    def total(*keys: str) -> float:  # failed requests have no times
        return math.fsum(time for key in keys for time in _flat(run.get(key)) if time)

    duration, rate = positive(run.get("duration")), positive(run.get("request_throughput"))
    seconds = total("latencies") or (total("ttfts", "itls") if "itls" in run else 0)
    end_to_end = positive(run.get("mean_e2el_ms"))
    measured = None
    if duration and seconds:
        measured = plausible(seconds / duration)
    elif rate and end_to_end:
        measured = plausible(rate * end_to_end / 1000)
    if measured:
        return measured, ConcurrencySource.MEASURED
    configured = positive(run.get("max_concurrency"))
    if configured and configured <= MAX_CONCURRENCY:
        return configured, ConcurrencySource.CONFIGURED
    completed, tokens = positive(run.get("completed")), positive(run.get("total_output_tokens"))
    first, later = positive(run.get("mean_ttft_ms")), positive(run.get("mean_tpot_ms"))
    if not (rate and completed and first and later and tokens):
        return None, ConcurrencySource.LITTLE
    request_ms = first + later * max(tokens / completed - 1, 0)
    return plausible(rate * request_ms / 1000), ConcurrencySource.LITTLE
