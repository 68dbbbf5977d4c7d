"""Tables: those of one's own, and those of guidellm."""

import math
from pathlib import Path

import pytest

from tests.fitting.reading import DATA, read, refused
from workbench.fitting.measurements import ConcurrencySource, Latency, Measurement


def table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "runs.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_two_columns_are_enough(tmp_path: Path) -> None:
    path = table(tmp_path, "concurrency,itl_ms\n1,7.0\n64,8.7\n")
    assert read(path).measurements == [
        Measurement(1.0, 7.0, f"{path}:2", ConcurrencySource.GIVEN),
        Measurement(64.0, 8.7, f"{path}:3", ConcurrencySource.GIVEN),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffconcurrency,itl_ms\r\n1,7.0\r\n\r\n64,8.7\r\n",
        "ITL_MS, Concurrency\n 7.0 , 1\n8.7,64",
        '"concurrency","itl_ms"\n"1","7.0"\n6.4e1,87e-1\n',
        "\n\nitl_ms,concurrency\n,\n+7.0,1.\n8.70,64\n",
    ],
)
def test_how_it_is_written_does_not_matter(tmp_path: Path, text: str) -> None:
    found = read(table(tmp_path, text)).measurements
    assert [(each.concurrency, each.itl_ms) for each in found] == [(1, 7), (64, 8.7)]


def test_standard_errors_follow_from_deviation_and_samples(tmp_path: Path) -> None:
    text = "concurrency,itl_ms,stddev,samples\n1,7,0.4,100\n8,7.2,0.4,\n64,8.7,,\n"
    errors = [each.error_ms for each in read(table(tmp_path, text)).measurements]
    assert errors == [pytest.approx(0.4 / math.sqrt(100)), 0.4, None]


def test_other_columns_are_named_as_not_used(tmp_path: Path) -> None:
    found = read(table(tmp_path, "concurrency,itl_ms,gpu\n1,7,H100\n"))
    assert ["gpu" in note and "ignored columns" in note for note in found.notes] == [True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ":1: is empty; write the header concurrency,itl_ms"),
        (" \n\t\n", ":1: is empty"),
        ("concurrency,itl_ms\n", ":1: has a header but no rows"),
        ("concurency,itl_ms\n1,7\n", ":1: the header has no column concurrency, found 'concurency, itl_ms'; did you"),
        ("concurrency;itl_ms\n1;7\n", ":1: the header has no column itl_ms"),
        ("1,7.0\n64,8.7\n", ":1: the header has no column concurrency"),
        ("concurrency,itl_ms,itl_ms\n1,7,8\n", ":1: itl_ms: is in the header twice"),
        ("concurrency,itl_ms\n1,7\n64\n", ":3: has 1 columns, but the header has 2"),
        ("concurrency,itl_ms\n1,7\n64,8,7\n", ":3: has 3 columns, but the header has 2"),
        ("concurrency,itl_ms\n1,\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found ''"),
        ("concurrency,itl_ms\n1,0\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '0'"),
        ("concurrency,itl_ms\n1,-7\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '-7'"),
        ("concurrency,itl_ms\n1,NaN\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found 'NaN'"),
        ("concurrency,itl_ms\n1,inf\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found 'inf'"),
        ("concurrency,itl_ms\n1,7ms\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '7ms'"),
        ("concurrency,itl_ms\n1,1e300\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '1e300'"),
        ("concurrency,itl_ms\n1,1e-999\n", ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '1e-999'"),
        ("concurrency,itl_ms\n1,\u0667\n", ":2: itl_ms: must be a number from 1e-06"),
        ("concurrency,itl_ms\n0.5,7\n", ":2: concurrency: must be a number from 1 to 1e+06, found '0.5'"),
        ("concurrency,itl_ms\n2e6,7\n", ":2: concurrency: must be a number from 1 to 1e+06, found '2e6'"),
        ("concurrency,itl_ms,stddev\n1,7,-1\n", ":2: stddev: must be a number from 1e-06"),
        ("concurrency,itl_ms,samples\n1,7,0\n", ":2: samples: must be a number from 1"),
        (f"concurrency,itl_ms\n1,{'9' * 100_000}\n", ":2: itl_ms: must be a number from 1e-06"),
        (f"concurrency,itl_ms\n1,{'9' * 200_000}\n", "is not valid CSV: field larger than field limit"),
        ('concurrency,itl_ms\n1,"7\n', "is not valid CSV: unexpected end of data"),
        (
            "concurrency,itl_ms\n1,${HOME}\n",
            ":2: itl_ms: must be a number from 1e-06 to 1e+07, found '${HOME}'",
        ),
        ("concurrency,itl_ms\n1,\x1b[2J\n", "found '\\x1b[2J'"),
        ("concurrency\x00,itl_ms\n1,7\n", ":1: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    path = table(tmp_path, text)
    message = refused(path)
    assert message.startswith(str(path))
    assert expected in message
    assert "\x1b" not in message


def test_everything_that_is_wrong_is_listed(tmp_path: Path) -> None:
    message = refused(table(tmp_path, "concurrency,itl_ms\n0,7\n1,x\n8,7\n64,-1\n"))
    assert [line.split(":")[1] for line in message.splitlines()] == ["2", "3", "5"]


def test_of_very_much_that_is_wrong_the_rest_is_counted(tmp_path: Path) -> None:
    message = refused(table(tmp_path, "concurrency,itl_ms\n" + "0,0\n" * 1000))
    assert message.splitlines()[-1] == "and 900 more"


@pytest.mark.parametrize("name", ["guidellm-0.2.1.csv", "guidellm-0.4.0.csv"])
class TestGuidellm:
    def test_its_tables_are_read(self, name: str) -> None:
        found = read(DATA / name).measurements
        assert [(each.concurrency, each.itl_ms) for each in found] == [(1, 7), (63.94, 8.7)]
        assert {each.counted for each in found} == {ConcurrencySource.MEASURED}

    def test_its_other_latency_is_refused(self, name: str) -> None:
        assert "includes the first token" in refused(DATA / name, latency=Latency.TPOT)

    def test_rows_that_do_not_fit_their_header_are_refused(self, name: str, tmp_path: Path) -> None:
        """Until v0.5 a benchmark without a status has fewer columns than the first one."""
        shorter = (DATA / name).read_text().rstrip().rpartition(",")[0]
        assert "columns, but the header has" in refused(table(tmp_path, shorter))

    def test_a_benchmark_without_answers_is_refused(self, name: str, tmp_path: Path) -> None:
        without = (DATA / name).read_text().replace(",8.7,", ",0.0,")
        assert "must be a number from 1e-06" in refused(table(tmp_path, without))
