"""Whatever is written must read back as it was, by YAML 1.1 readers too."""

import math
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.documents.writer import dump_all

SURPRISING = [
    "", " ", "y", "N", "yes", "No", "on", "OFF", "true", "False", "null", "Null", "~", "1", "0", "-1", "+1",
    "1.5", "1e3", "1E3", "12e03", "0x1F", "0o17", "017", "0b11", "1_000", ".5", ".inf", "-.INF", ".NaN",
    "190:20:30", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "=", "<<", "-", "--",
    "---", "...", "?", "- a", "? a", ": a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">", "%a",
    "@a", "`a`", "{a}", "[a]", "'a'", '"a"', " a", "a ", "a\tb", "\u00e9", "\U0001f600", "\x7f", "\x85",
    "\u2028", "\ufeff", "a\x00b", "\\", "{{ .ModelPath }}", "--model", "-c", "8Gi", "500m",
    "nvidia.com/gpu", "vllm/vllm-openai:v0.7.3", "0.0.0.0:8080", "http://a:80/b?c=d", "+ a", ". a", "1 2",
    "on time",
]  # fmt: skip
BLOCKS = [
    "a\n", "a\nb", "a\n\nb\n", "a\n\n\n", "\na", " a\nb", "\ta\nb\n", "a\n  b\n", "a \nb \n", "a\n  \n",
    "a\n  ", "a\r\nb", "# a\nb\n", "- a\n- b\n", "---\na\n", "a\x07\nb", "a\u2028\nb", "\n", "\n\n",
    "a\n \nb", "é\nü\n",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SCRIPT = st.text("ab #-:\n\t'\"|", max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | SCRIPT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | SCRIPT, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("text", [*SURPRISING, *BLOCKS])
@pytest.mark.parametrize("shape", [lambda s: {"k": s}, lambda s: {"k": [s, {"x": s}, [s]]}, lambda s: {s: {"k": s}}])
def test_text_stays_text(text: str, shape: Callable[[str], dict[str, object]]) -> None:
    assert list(yaml.load_all(dump_all([shape(text)]), yaml.CSafeLoader)) == [shape(text)]


@settings(deadline=None)
@given(st.lists(st.dictionaries(TEXT, JSON, max_size=4), max_size=3))
def test_what_is_written_reads_back(objects: list[dict[str, object]]) -> None:
    assert list(yaml.load_all(dump_all(objects), yaml.CSafeLoader)) == objects


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("vllm/vllm-openai:v0.7.3", "vllm/vllm-openai:v0.7.3"),
        ("--served-model-name", "--served-model-name"),
        ("8Gi", "8Gi"),
        ("8080", '"8080"'),
        ("yes", '"yes"'),
        ("2001-12-14", '"2001-12-14"'),
        ("0o17", '"0o17"'),
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (1e100, "1.0e+100"),
        ({}, "{}"),
        ([], "[]"),
        ((), "[]"),
    ],
)
def test_scalars_are_plain_where_no_reader_can_mistake_them(value: object, text: str) -> None:
    assert dump_all([{"k": value}]) == f"k: {text}\n"


def test_numbers_that_json_does_not_have() -> None:
    assert dump_all([{"a": [math.inf, -math.inf, math.nan]}]) == "a:\n- .inf\n- -.inf\n- .nan\n"


def test_documents_keep_their_order_and_keys_theirs() -> None:
    assert dump_all([{"b": 1, "a": {"d": [{"x": 1, "z": 2}], "c": [[1], []]}}, {"z": "t"}]) == (
        "b: 1\na:\n  d:\n  - x: 1\n    z: 2\n  c:\n  - - 1\n  - []\n---\nz: t\n"
    )


def test_a_script_is_a_literal_block() -> None:
    assert dump_all([{"args": ["set -e\nif a; then\n  b\nfi\n"]}]) == (
        "args:\n- |\n  set -e\n  if a; then\n    b\n  fi\n"
    )


def test_a_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        dump_all([{"k": object()}])
