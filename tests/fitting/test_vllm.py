"""Results of ``vllm bench serve --save-result``."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fitting.reading import DATA, read, refused
from workbench.fitting.measurements import Benchmarks, ConcurrencySource, Latency

RUN: dict[str, Any] = json.loads((DATA / "vllm-concurrency16.json").read_text())


def result(tmp_path: Path, *without: str, **changes: object) -> Path:
    """A file of one run, without some keys and with others."""
    path = tmp_path / "result.json"
    path.write_text(json.dumps({key: value for key, value in {**RUN, **changes}.items() if key not in without}))
    return path


def only(found: Benchmarks) -> tuple[Any, Any, ConcurrencySource]:
    (one,) = found.measurements
    return one.concurrency, one.itl_ms, one.counted


def test_one_file_a_run() -> None:
    found = read(*(DATA / f"vllm-concurrency{n}.json" for n in (1, 16, 64)))
    assert [(each.concurrency, each.itl_ms) for each in found.measurements] == [(1, 7.0), (16, 7.4), (64, 8.7)]
    assert {each.counted for each in found.measurements} == {ConcurrencySource.CONFIGURED}
    assert found.notes == []


def test_appended_runs_are_read_from_one_file() -> None:
    path = DATA / "vllm-appended.json"
    found = read(path).measurements
    assert [(each.concurrency, each.itl_ms) for each in found] == [(1, 7.0), (16, 7.4), (64, 8.7)]
    assert [each.place for each in found] == [str(path), f"{path}: run 2", f"{path}: run 3"]


def test_a_list_of_runs_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([RUN, {**RUN, "max_concurrency": 32}], indent=2))
    assert [each.concurrency for each in read(path).measurements] == [16, 32]


class TestConcurrency:
    def test_the_mean_over_the_run_counts_where_latencies_of_requests_are_known(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, duration=10.0, latencies=[1.5] * 100 + [0.0]))
        assert only(found) == (pytest.approx(15.0), 7.4, ConcurrencySource.MEASURED)

    def test_so_it_does_by_their_mean(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, request_throughput=12.5, mean_e2el_ms=1200.0))
        assert only(found) == (pytest.approx(15.0), 7.4, ConcurrencySource.MEASURED)

    def test_so_it_does_by_detailed_results(self, tmp_path: Path) -> None:
        detailed = {"ttfts": [0.1, 0.1], "itls": [[0.2, 0.2], [0.5]]}
        found = read(result(tmp_path, "max_concurrency", duration=0.5, **detailed))
        assert only(found) == (pytest.approx(1.1 / 0.5), 7.4, ConcurrencySource.MEASURED)

    @pytest.mark.parametrize("rate", [10.0, "inf"])
    def test_without_a_bound_it_follows_from_littles_law(self, tmp_path: Path, rate: object) -> None:
        changes = {
            "request_throughput": 10.0,
            "mean_ttft_ms": 30.0,
            "mean_tpot_ms": 7.5,
            "total_output_tokens": 16_000,
        }
        found = read(result(tmp_path, request_rate=rate, max_concurrency=None, **changes))
        # 10 requests a second, of 30 ms and 99 tokens of 7.5 ms.
        assert only(found) == (pytest.approx(10 * (0.030 + 99 * 0.0075)), 7.4, ConcurrencySource.LITTLE)
        assert "its concurrency by Little's law is 7.725" in found.notes[0]

    def test_where_nothing_tells_the_run_is_refused(self, tmp_path: Path) -> None:
        message = refused(result(tmp_path, "max_concurrency", "mean_ttft_ms", request_rate=10.0))
        assert "max_concurrency: is not set" in message
        assert "--max-concurrency" in message
        assert "e2el" in message

    @pytest.mark.parametrize("wrong", [0, -1, "many", [], {}, True, float("nan"), 1e9, 10**400])
    def test_a_bound_that_is_none_does_not_count(self, tmp_path: Path, wrong: object) -> None:
        assert "max_concurrency: is not set" in refused(result(tmp_path, "mean_ttft_ms", max_concurrency=wrong))

    def test_a_short_run_is_said(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, request_throughput=10.0, mean_e2el_ms=1000.0))
        assert "the mean concurrency is 10, well below the configured 16" in found.notes[0]

    def test_less_than_one_at_once_is_one_while_it_is_worked_on(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, "max_concurrency", request_throughput=0.5, mean_e2el_ms=900.0))
        assert only(found) == (1.0, 7.4, ConcurrencySource.MEASURED)


class TestLatency:
    def test_tpot_where_it_is_asked_for(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, mean_tpot_ms=7.1), latency=Latency.TPOT)
        assert only(found) == (16.0, 7.1, ConcurrencySource.CONFIGURED)

    def test_tpot_where_tokens_are_drafted(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, mean_itl_ms=14.0, mean_tpot_ms=7.1, spec_decode_num_drafts=500))
        assert only(found)[1] == 7.1
        assert "used speculative decoding" in found.notes[0]

    def test_tpot_where_there_is_no_itl(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, "mean_itl_ms", mean_tpot_ms=7.1))
        assert only(found)[1] == 7.1
        assert "has no mean_itl_ms" in found.notes[0]

    def test_detailed_results_have_the_gaps(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, "mean_itl_ms", itls=[[0.006, 0.008], [], [0.0085]]))
        assert only(found)[1] == pytest.approx(7.5)

    def test_where_the_two_are_apart_tokens_came_several_at_a_time(self, tmp_path: Path) -> None:
        found = read(result(tmp_path, mean_itl_ms=14.0, mean_tpot_ms=7.1))
        assert only(found)[1] == 14.0
        assert "tokens arrived several at a time" in found.notes[0]
        assert "--latency tpot" in found.notes[0]

    @pytest.mark.parametrize(
        "wrong", [0, 0.0, -7.4, float("nan"), float("inf"), "fast", None, True, [], 1e12, 10**400]
    )
    def test_what_is_no_latency_is_refused(self, tmp_path: Path, wrong: object) -> None:
        message = refused(result(tmp_path, "mean_tpot_ms", mean_itl_ms=wrong))
        assert "mean_itl_ms: must be a number from 1e-06" in message
        assert "responses must be streamed" in message


def test_a_run_without_an_answer_is_refused(tmp_path: Path) -> None:
    assert "completed: no request succeeded" in refused(result(tmp_path, completed=0, mean_itl_ms=0.0))


def test_failed_requests_are_said(tmp_path: Path) -> None:
    assert "20 requests failed and 160 succeeded" in read(result(tmp_path, failed=20)).notes[0]
    assert read(result(tmp_path, failed=1)).notes == []
