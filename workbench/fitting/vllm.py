"""Results of ``vllm bench serve --save-result``: one JSON object a run.

Read at vllm-project/vllm 009e6d4, vllm/benchmarks/serve.py, where ``mean_itl_ms`` is the mean over all gaps between
chunks of all requests, and ``mean_tpot_ms`` the mean over requests of (latency - TTFT) / (tokens - 1). Files of the
script that it was before (benchmarks/benchmark_serving.py) have the same names.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .figures import MOST_AT_ONCE, FigureError, latency, possible
from .measurements import Benchmarks, Counting, Latency, Measurement

MARKS = ("mean_itl_ms", "mean_tpot_ms", "median_itl_ms", "median_tpot_ms", "mean_ttft_ms", "itls")
"""Keys that such a result has, some of them at least."""
_SPECULATIVE = ("spec_decode_num_drafts", "spec_decode_acceptance_length")
_APART = 1.1
"""ITL over TPOT from which they measure different things."""
_FEW_FAILED = 0.01
_SHORT = 0.8


def read_run(run: Mapping[str, Any], place: str, found: Benchmarks) -> None:
    """Take a run, or what is wrong with it."""
    if run.get("completed") == 0:
        found.wrong(place, 0, "completed", "no request was answered; look at the errors of the benchmark")
        return
    try:
        key, value = _latency(run, place, found)
        itl = latency(value)
    except FigureError as error:
        found.wrong(place, 0, key, f"{error}; the endpoint must stream tokens, and answers have two or more")
        return
    counted = _concurrency(run)
    if counted is None:
        found.wrong(
            place,
            0,
            "max_concurrency",
            "is not set, and nothing tells how many requests were worked on at once; run the benchmark with "
            "--max-concurrency, or let it report --percentile-metrics ttft,tpot,itl,e2el",
        )
        return
    concurrency, how = counted
    _remark(run, place, concurrency, how, found)
    found.measurements.append(Measurement(max(concurrency, 1.0), itl, place, how))


def _latency(run: Mapping[str, Any], place: str, found: Benchmarks) -> tuple[str, object]:
    """Return key and value of the latency to use."""
    mean = run.get("mean_itl_ms", _mean_gap(run.get("itls")))
    itl, tpot = possible(mean), possible(run.get("mean_tpot_ms"))
    if found.latency is Latency.TPOT:
        return "mean_tpot_ms", run.get("mean_tpot_ms")
    if tpot and any(run.get(key) for key in _SPECULATIVE):
        found.notes.append(f"{place}: drafts of tokens were accepted together: the time per output token counts")
        return "mean_tpot_ms", tpot
    if mean is None and tpot:
        found.notes.append(f"{place}: has no mean_itl_ms: the time per output token counts, the mean over requests")
        return "mean_tpot_ms", tpot
    if itl and tpot and itl > _APART * tpot:
        found.notes.append(
            f"{place}: mean_itl_ms is {itl:g} and mean_tpot_ms {tpot:g}: tokens came several at a time, so that the "
            "gaps are not between tokens; try --latency tpot"
        )
    return "mean_itl_ms", mean


def _mean_gap(gaps: object) -> float | None:
    """Return the mean milliseconds of all gaps of all requests, which ``--save-detailed`` leaves in the file."""
    found = [gap for gap in _flat(gaps) if gap]
    return 1000 * math.fsum(found) / len(found) if found else None


def _flat(values: object) -> Iterator[float | None]:
    for each in values if isinstance(values, list) else ():
        yield from map(possible, each) if isinstance(each, list) else (possible(each),)


def _concurrency(run: Mapping[str, Any]) -> tuple[float, Counting] | None:
    """Return how many requests were worked on at once, and how that is known; None where nothing tells."""
    measured = _measured(run)
    if measured:
        return measured, Counting.MEASURED
    configured = possible(run.get("max_concurrency"))
    if configured and configured <= MOST_AT_ONCE:
        return configured, Counting.CONFIGURED
    estimated = _estimated(run)
    return (estimated, Counting.LITTLE) if estimated else None


def _measured(run: Mapping[str, Any]) -> float | None:
    """Return the mean over the run: the time that all requests took together, over that of the run."""
    duration = possible(run.get("duration"))
    taken = _seconds(run, "latencies") or (_seconds(run, "ttfts", "itls") if "itls" in run else 0)
    if duration and taken:
        return _usable(taken / duration)
    rate, latency = possible(run.get("request_throughput")), possible(run.get("mean_e2el_ms"))
    return _usable(rate * latency / 1000) if rate and latency else None


def _estimated(run: Mapping[str, Any]) -> float | None:
    """Return the same where the file has no latency of whole requests, but its parts."""
    rate, completed = possible(run.get("request_throughput")), possible(run.get("completed"))
    first, each = possible(run.get("mean_ttft_ms")), possible(run.get("mean_tpot_ms"))
    tokens = possible(run.get("total_output_tokens"))
    if not (rate and completed and first and each and tokens):
        return None
    return _usable(rate * (first + each * max(tokens / completed - 1, 0)) / 1000)


def _usable(concurrency: float) -> float | None:
    return concurrency if 0 < concurrency <= MOST_AT_ONCE else None


def _seconds(run: Mapping[str, Any], *keys: str) -> float:
    """Return the sum of lists of times; failed requests took none."""
    return math.fsum(time for key in keys for time in _flat(run.get(key)) if time)


def _remark(run: Mapping[str, Any], place: str, concurrency: float, how: Counting, found: Benchmarks) -> None:
    """Note what makes a run less than it seems."""
    configured = possible(run.get("max_concurrency"))
    if how is Counting.MEASURED and configured and concurrency < _SHORT * configured:
        found.notes.append(
            f"{place}: {concurrency:.4g} requests at once in the mean, where {configured:g} were to be kept up; send "
            "more requests, so that the beginning and the end count less"
        )
    if how is Counting.LITTLE:
        found.notes.append(
            f"{place}: has no max_concurrency: by Little's law, {concurrency:.4g} requests were worked on at once"
        )
    failed, completed = possible(run.get("failed")), possible(run.get("completed"))
    if failed and completed and failed > _FEW_FAILED * completed:
        found.notes.append(f"{place}: {failed:g} requests failed beside {completed:g} that were answered")
