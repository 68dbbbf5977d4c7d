"""Files of all kinds: what is in them tells what they are, and nothing ends in a traceback."""

import json
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fitting.reading import DATA, read, refused
from tests.tries import tries
from workbench.errors import WorkbenchError
from workbench.fitting import files

DEEP = 200_000


def test_files_of_several_kinds_are_read_together() -> None:
    found = read(DATA / "guidellm-0.4.0.yaml", DATA / "vllm-concurrency16.json", DATA / "guidellm-0.2.1.csv")
    assert [each.concurrency for each in found.measurements] == [1, 63.94, 16, 1, 63.94]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir()))
def test_the_name_of_a_file_does_not_matter(name: str, tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_bytes((DATA / name).read_bytes())
    assert len(read(path).measurements) == len(read(DATA / name).measurements) > 0


def test_the_same_file_counts_once(tmp_path: Path) -> None:
    copied = tmp_path / "copy.json"
    copied.write_bytes((DATA / "vllm-concurrency16.json").read_bytes())
    message = refused(DATA / "vllm-concurrency16.json", copied)
    assert message == f"{copied}: is identical to {DATA / 'vllm-concurrency16.json'}; pass each run once"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00c", "not UTF-8 text"),
        ("concurrency,itl_ms\n1,7\n".encode("utf-16"), "not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not UTF-8 text"),
        (b"\x00" * 1000, "the header has no column concurrency"),
        (b"{", "is not valid JSON"),
        (b'{"mean_itl_ms": 7,}', "is not valid JSON"),
        (
            b"{}",
            "or benchmarks with metrics, found ''",
        ),
        (
            b'{"name": "x", "metric": 7}',
            "nor a report of guidellm: expected mean_itl_ms, or benchmarks with metrics, found 'name, metric'",
        ),
        (b"[]", "is neither a result"),
        (b"[1, 2]", "is neither a result"),
        (b"[[[]]]", "is neither a result"),
        (
            b'[{"benchmark": {"name": "vLLM benchmark"}, "model": {}, "metric": {}}]',
            "found 'benchmark, model, metric'",
        ),
        (b"[" * DEEP, "is nested too deeply"),
        (b'{"benchmarks":' * DEEP, "is nested too deeply"),
        (b'{"mean_itl_ms": ' + b"9" * 10_000 + b"}", "is not valid JSON"),
        (b"benchmarks:\n" + b"".join(b" " * n + b"a:\n" for n in range(1, 300)), "nested too deeply"),
        (b"benchmarks: [\n", "not valid YAML"),
        (b"benchmarks: *missing\n", "not valid YAML"),
        (b"concurrency: 1\nitl_ms: 7\n", "found 'concurrency, itl_ms'"),
        (b"benchmarks: &a\n- *a\n", ""),
    ],
)
def test_what_cannot_be_read_is_said(content: bytes, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    message = refused(path)
    assert message.startswith(str(path))
    assert expected in message
    assert len(message) < 1000


def test_aliases_do_not_make_much_of_little(tmp_path: Path) -> None:
    path = tmp_path / "laughs.yaml"
    lines = ["benchmarks:", "  - &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    path.write_text("\n".join(lines))
    assert "too many values" in refused(path)


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    path = tmp_path / "large.csv"
    path.write_text("concurrency,itl_ms\n" + "1,7\n" * 1000)
    assert "is larger than" in refused(path)


def test_a_file_without_an_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1_000_000)
    assert "is larger than" in refused(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Path("missing.csv"), "cannot be read: No such file or directory"),
        (DATA, "cannot be read: Is a directory"),
        (Path("a\0b"), "is not a valid file name"),
        (Path("x" * 5000), "cannot be read: File name too long"),
    ],
)
def test_what_is_no_file_is_said(path: Path, expected: str) -> None:
    assert expected in refused(path)


def test_a_file_that_must_not_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read: Permission denied" in refused(Path("secret.csv"))


WORDS = """benchmarks metrics inter_token_latency_ms request_concurrency successful total mean config args strategy
streams type_ mean_itl_ms mean_tpot_ms itls ttfts latencies duration request_throughput mean_e2el_ms max_concurrency
completed failed request_totals errored"""
KEYS = st.sampled_from(WORDS.split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


@given(st.dictionaries(KEYS, VALUES, max_size=8))
@settings(max_examples=tries(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_json_has_is_measurements_or_a_message(tmp_path: Path, value: object) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(value))
    try:
        found, message = read(path).measurements, str(path)
    except WorkbenchError as error:
        found, message = [], str(error)
    assert message.startswith(str(path))
    assert all(1 <= each.concurrency <= 1e6 and 0 < each.itl_ms <= 1e7 for each in found)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(max_examples=tries(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_file_has_is_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert refused(path).startswith(str(path))
