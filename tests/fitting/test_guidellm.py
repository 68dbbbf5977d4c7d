"""Reports of guidellm, in the forms of several versions."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fitting.reading import DATA, read, refused
from workbench.fitting.measurements import ConcurrencySource, Latency

VERSIONS = ("guidellm-0.2.1.json", "guidellm-0.4.0.yaml", "guidellm-0.7.3.json")
REPORT: dict[str, Any] = json.loads((DATA / "guidellm-0.7.3.json").read_text())


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A report whose second benchmark is another one."""
    report = copy.deepcopy(REPORT)
    change(report["benchmarks"][1])
    path = tmp_path / "benchmarks.json"
    path.write_text(json.dumps(report))
    return path


@pytest.mark.parametrize("name", VERSIONS)
def test_reports_of_each_version_are_read(name: str) -> None:
    found = read(DATA / name)
    pairs = [(each.concurrency, each.itl_ms) for each in found.measurements]
    assert {(1.0, 7.0), (63.94, 8.7)} <= set(pairs)
    assert {each.counted for each in found.measurements} == {ConcurrencySource.MEASURED}
    assert found.measurements[0].place == f"{DATA / name}: benchmarks[0]"
    assert found.notes == []


def test_unanswered_requests_keep_the_engine_busy_too(tmp_path: Path) -> None:
    def change(benchmark: dict[str, Any]) -> None:
        benchmark["metrics"]["request_concurrency"]["successful"]["mean"] = 12.0

    assert read(changed(tmp_path, change)).measurements[1].concurrency == 15.98


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [({"type_": "synchronous"}, 1.0), ({"type_": "concurrent", "streams": 16}, 16.0)],
)
@pytest.mark.parametrize("holder", ["config", "args"])
def test_without_a_measured_one_the_configured_concurrency_counts(
    strategy: dict[str, Any], expected: float, holder: str, tmp_path: Path
) -> None:
    def change(benchmark: dict[str, Any]) -> None:
        del benchmark["metrics"]["request_concurrency"], benchmark["config"]
        benchmark[holder] = {"strategy": strategy}

    one = read(changed(tmp_path, change)).measurements[1]
    assert (one.concurrency, one.counted) == (expected, ConcurrencySource.CONFIGURED)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda each: each.pop("metrics"), "benchmarks[1].metrics.inter_token_latency_ms.successful.mean: must be"),
        (
            lambda each: each.update(metrics=[]),
            "benchmarks[1].metrics.inter_token_latency_ms.successful.mean: must be",
        ),
        (
            lambda each: each["metrics"].update(inter_token_latency_ms=7.0),
            "successful.mean: must be a number from 1e-06",
        ),
        (
            lambda each: each["metrics"]["inter_token_latency_ms"]["successful"].update(mean=0.0),
            "found 0.0; responses must be streamed and have at least two tokens",
        ),
        (
            lambda each: (each["metrics"].pop("request_concurrency"), each["config"].update(strategy={"rate": 3.0})),
            "benchmarks[1].metrics.request_concurrency: is missing",
        ),
    ],
)
def test_what_is_missing_is_said_with_its_path(
    change: Callable[[dict[str, Any]], object], expected: str, tmp_path: Path
) -> None:
    assert expected in refused(changed(tmp_path, change))


@pytest.mark.parametrize("benchmarks", [[], {}, None, "", "text", 7])
def test_a_report_without_benchmarks_is_refused(benchmarks: object, tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_text(json.dumps({"benchmarks": benchmarks}))
    assert "benchmarks: has no benchmark" in refused(path)


@pytest.mark.parametrize("benchmark", [None, 7, "text", [], [[]]])
def test_benchmarks_that_are_none_are_refused(benchmark: object, tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_text(json.dumps({"benchmarks": [benchmark]}))
    assert "benchmarks[0].metrics" in refused(path)


def test_its_time_per_output_token_is_refused() -> None:
    assert "includes the first token" in refused(DATA / VERSIONS[0], latency=Latency.TPOT)


def test_failed_requests_are_said(tmp_path: Path) -> None:
    found = read(changed(tmp_path, lambda each: each["metrics"]["request_totals"].update(errored=5)))
    assert "5 requests failed and 65 succeeded" in found.notes[0]


def test_no_class_that_yaml_names_is_made(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.yaml"
    path.write_text("benchmarks: !!python/object/apply:os.system ['touch made']\n")
    refused(path)
    assert not (tmp_path / "made").exists()
    assert not Path("made").exists()
