"""Reports of guidellm: a list of benchmarks, each with distributions of what it measured.

Read at vllm-project/guidellm v0.2.1, v0.3.1, v0.4.0, v0.5.3 and v0.7.3 (benchmark/benchmark.py and output.py; from
v0.4.0 on benchmark/schemas and benchmark/outputs). The names used here are the same in all of them. Its time per
output token counts the first token as well from v0.4.0 on, and before divides by one token too many: it is not used.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .figures import MOST_AT_ONCE, FigureError, latency, possible
from .measurements import Benchmarks, Counting, Latency, Measurement

_FEW_FAILED = 0.01


def read_report(report: Mapping[str, Any], file: str, found: Benchmarks) -> None:
    """Take all benchmarks of a report, or what is wrong with them."""
    benchmarks = report["benchmarks"]
    if not isinstance(benchmarks, Sequence) or isinstance(benchmarks, str) or not benchmarks:
        found.wrong(file, 1, "benchmarks", "has no benchmark; look at the output of guidellm for why")
        return
    if found.latency is not Latency.ITL:
        refuse_latency(file, found)
        return
    for index, benchmark in enumerate(benchmarks):
        _read(benchmark, file, f"benchmarks[{index}]", found)


def refuse_latency(file: str, found: Benchmarks) -> None:
    """Say why only one latency of guidellm can be used."""
    found.wrong(
        file,
        1,
        "",
        "guidellm's time per output token counts the first token, and so the prompt; leave --latency out",
    )


def _read(benchmark: object, file: str, path: str, found: Benchmarks) -> None:
    metrics = _below(benchmark, "metrics")
    try:
        where = f"{path}.metrics.inter_token_latency_ms.successful.mean"
        itl = latency(_below(metrics, "inter_token_latency_ms", "successful", "mean"))
    except FigureError as error:
        found.wrong(file, 1, where, f"{error}; requests must be answered with two tokens or more, as a stream")
        return
    counted = _concurrency(benchmark)
    if counted is None:
        found.wrong(
            file, 1, f"{path}.metrics.request_concurrency", "is missing; write the report with guidellm again"
        )
        return
    _remark(benchmark, f"{file}: {path}", found)
    found.measurements.append(Measurement(max(counted[0], 1.0), itl, f"{file}: {path}", counted[1]))


def _concurrency(benchmark: object) -> tuple[float, Counting] | None:
    for status in ("total", "successful"):  # requests without an answer keep the engine busy as well
        measured = possible(_below(benchmark, "metrics", "request_concurrency", status, "mean"))
        if measured and measured <= MOST_AT_ONCE:
            return measured, Counting.MEASURED
    for holder in ("config", "args"):
        strategy = _below(benchmark, holder, "strategy")
        if _below(strategy, "type_") == "synchronous":
            return 1.0, Counting.CONFIGURED
        configured = possible(_below(strategy, "streams"))
        if configured and configured <= MOST_AT_ONCE:
            return configured, Counting.CONFIGURED
    return None


def _remark(benchmark: object, place: str, found: Benchmarks) -> None:
    totals = _below(benchmark, "metrics", "request_totals") or _below(benchmark, "request_totals")
    failed, completed = possible(_below(totals, "errored")), possible(_below(totals, "successful"))
    if failed and completed and failed > _FEW_FAILED * completed:
        found.notes.append(f"{place}: {failed:g} requests failed beside {completed:g} that were answered")


def _below(value: object, *keys: str) -> Any:  # noqa: ANN401  whatever the file holds
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
