"""Reports of guidellm: a list of benchmarks, each with distributions of its metrics.

Read at vllm-project/guidellm v0.2.1, v0.3.1, v0.4.0, v0.5.3 and v0.7.3 (benchmark/benchmark.py and output.py; from
v0.4.0 on benchmark/schemas and benchmark/outputs). The names used here are the same in all of them. Its time per
output token is not used: from v0.4.0 on it includes the first token, and before it divides by one token too many.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .figures import MAX_CONCURRENCY, FigureError, latency, positive
from .measurements import Benchmarks, ConcurrencySource, Latency, Measurement


def read_report(report: Mapping[str, Any], file: str, benchmarks: Benchmarks) -> None:
    """Add the measurements of a report, or its problems."""
    runs = report["benchmarks"]
    if not isinstance(runs, Sequence) or isinstance(runs, str) or not runs:
        benchmarks.add_problem(file, 1, "benchmarks", "has no benchmark; see the output of guidellm for the reason")
        return
    if benchmarks.latency is not Latency.ITL:
        reject_latency(file, benchmarks)
        return
    for index, run in enumerate(runs):
        _read_run(run, file, f"benchmarks[{index}]", benchmarks)


def reject_latency(file: str, benchmarks: Benchmarks) -> None:
    """Add a problem for ``--latency``: only one latency of guidellm can be used."""
    benchmarks.add_problem(
        file,
        1,
        "",
        "guidellm's time per output token includes the first token, and thus the prompt; omit --latency",
    )


def _read_run(run: object, file: str, path: str, benchmarks: Benchmarks) -> None:
    try:
        field = f"{path}.metrics.inter_token_latency_ms.successful.mean"
        itl = latency(_get(run, "metrics", "inter_token_latency_ms", "successful", "mean"))
    except FigureError as error:
        benchmarks.add_problem(file, 1, field, f"{error}; responses must be streamed and have at least two tokens")
        return
    concurrency = _concurrency(run)
    if concurrency is None:
        benchmarks.add_problem(
            file, 1, f"{path}.metrics.request_concurrency", "is missing; write the report with guidellm again"
        )
        return
    value, source = concurrency
    totals = _get(run, "metrics", "request_totals") or _get(run, "request_totals")
    benchmarks.note_failures(
        f"{file}: {path}", positive(_get(totals, "errored")), positive(_get(totals, "successful"))
    )
    benchmarks.measurements.append(Measurement(max(value, 1.0), itl, f"{file}: {path}", source))


def _concurrency(run: object) -> tuple[float, ConcurrencySource] | None:
    for status in ("total", "successful"):  # failed requests keep the engine busy as well
        measured = positive(_get(run, "metrics", "request_concurrency", status, "mean"))
        if measured and measured <= MAX_CONCURRENCY:
            return measured, ConcurrencySource.MEASURED
    for holder in ("config", "args"):
        strategy = _get(run, holder, "strategy")
        if _get(strategy, "type_") == "synchronous":
            return 1.0, ConcurrencySource.CONFIGURED
        configured = positive(_get(strategy, "streams"))
        if configured and configured <= MAX_CONCURRENCY:
            return configured, ConcurrencySource.CONFIGURED
    return None


def _get(value: object, *keys: str) -> Any:  # noqa: ANN401
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
